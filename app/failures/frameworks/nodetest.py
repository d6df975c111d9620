"""node:test's spec reporter and AVA: rows with a cross, their tree, and the block of failing tests."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_ROW = re.compile(r"(\s*)✖ (\S.*?) \((\d+(?:\.\d+)?)ms\)(?: # (TODO|SKIP).*)?\s*$")
_SUITE = re.compile(r"(\s*)▶ (\S.*?)(?: \(\d+(?:\.\d+)?ms\))?\s*$")
_PASSED = re.compile(r"\s*[✔﹣ℹ] ")
_AT = re.compile(r"test at (.+):(\d+):\d+$")
_AVA = re.compile(r"\s*[✘✖✕] (?:\[fail\]: )(\S.*?)(?: (?:\(\d+(?:\.\d+)?m?s\)|[A-Z]\w*(?: .*)?))?\s*$")
_AVA_OLD_TOTAL = re.compile(r"\s{2}\d+ tests? failed\s*$")
_AVA_PLACE = re.compile(r"\s+(\S+\.[cm]?[jt]sx?):(\d+)$")
_AVA_CODE = re.compile(r"\s*\d+: |\s*[─-]+$")
_TOTAL = re.compile(r"ℹ fail (\d+)")
_AVA_TOTAL = re.compile(r"\s*(\d+) tests? (?:failed|passed)")


class NodeTest:
    name: ClassVar[str] = "node-test"
    wakes: ClassVar[tuple[str, ...]] = ("✖ ", "✘ ", "ℹ fail ", "test at ", " test failed", " tests failed")

    def __init__(self) -> None:
        self._found: list[Found] = []
        self._open: Found | None = None
        self._indent = 0
        self._text = Block()
        self._listing = False
        self._place: tuple[str, int] | None = None
        self._used: set[int] = set()
        self._ava: dict[str, Found] = {}
        self._title = ""
        self._old_ava = 0
        self._last_text = ""

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if text.strip() == "✖ failing tests:":
            self._store()
            self._listing = True
            return True
        if self._old_ava or _AVA_OLD_TOTAL.match(text):
            return self._in_old_ava(text, line, out)
        if self._ava or "[fail]" in text:
            return self._in_ava(text, line, out)
        at = _AT.match(text)
        if at and self._listing:
            self._store()
            self._place = (at[1], int(at[2]))
            return True
        row = _ROW.match(text) if "✖" in text else None
        if row:
            return self._row(row, line, out)
        total = _TOTAL.match(text)
        if total:
            self._store()
            out.started()
            return False
        if self._open is None:
            return self._listing and line.level is None
        depth = len(text) - len(text.lstrip())
        if line.level is not None or (
            text.strip() and depth <= self._indent and (_SUITE.match(text) or _PASSED.match(text))
        ):
            self._store()
            self._listing = self._listing and line.level is None
            return self._listing
        if text.strip() and depth <= self._indent and not self._listing:
            self._store()
            return False
        self._text.add(text)
        return True

    def end(self, out: Sink) -> None:
        self._store()
        names = [found.id for found in self._found]
        for found in self._found:
            found.optional = any(name.startswith(found.id + " ") for name in names) and not found.detail
            out.failure(found)
        self._found = []
        for found in self._ava.values():
            out.failure(found)
        self._ava = {}

    def _in_old_ava(self, text: str, line: Line, out: Sink) -> bool:
        """AVA before 4: below `1 test failed` stand title, place, code and difference of each."""
        self._old_ava += 1
        place = _AVA_PLACE.match(text)
        if place and self._last_text and not self._last_text.startswith("at "):
            found = Found(self._last_text, file=place[1], line=int(place[2]), at=line, framework="ava")
            out.started("ava")
            out.failure(found)
            self._old_ava = 1
        self._last_text = text.strip() or self._last_text
        if line.level is not None or self._old_ava > 200:
            self._old_ava = 0
        return self._old_ava > 0

    def _in_ava(self, text: str, line: Line, out: Sink) -> bool:
        """AVA lists `✘ [fail]: title`, and later prints each title with its place and its difference."""
        row = _AVA.match(text) if "[fail]" in text else None
        if row:
            out.started("ava")
            self._ava.setdefault(row[1], Found(row[1], at=line, framework="ava"))
            return True
        title = text.strip()
        if title in self._ava:
            self._title = title
        elif title and self._title:
            found = self._ava[self._title]
            place = _AVA_PLACE.match(text)
            if place and found.line is None:
                found.file, found.line = place[1], int(place[2])
            elif not found.message and found.line is not None and not _AVA_CODE.match(text):
                found.message = title
            found.detail = [*found.detail, text][:200]
        if _AVA_TOTAL.match(text) or line.level is not None:
            for found in self._ava.values():
                out.failure(found)
            self._ava, self._title = {}, ""
        return bool(self._ava)

    def _row(self, row: re.Match[str], line: Line, out: Sink) -> bool:
        self._store()
        if row[4]:
            return self._listing
        indent = len(row[1])
        name = row[2]
        if self._listing:
            self._open = self._known(name)
            if self._open is None:
                self._open = Found(name, rank=1, at=line)
                self._found.append(self._open)
                self._used.add(len(self._found) - 1)
            if self._place:
                self._open.file, self._open.line = self._place
                self._place = None
        else:
            names, depth = [name], indent
            for above in out.above(400) if indent else ():
                suite = _SUITE.match(above)
                if suite and len(suite[1]) < depth:
                    names.insert(0, suite[2])
                    depth = len(suite[1])
                    if depth == 0:
                        break
            self._open = Found(" ".join(names), rank=1, at=line, scope="")
            self._found.append(self._open)
        self._indent, self._text = indent, Block()
        return True

    def _known(self, leaf: str) -> Found | None:
        """The row of the tree that the block repeats: the first unused one that ends with this name."""
        for at, found in enumerate(self._found):
            if at not in self._used and (found.id == leaf or found.id.endswith(" " + leaf)):
                self._used.add(at)
                return found
        return None

    def _store(self) -> None:
        found, self._open = self._open, None
        if found is None:
            return
        lines = self._text.lines
        if any(text.strip() for text in lines):
            found.detail = lines if not found.detail else found.detail
            found.message = found.message or self._text.first()
            place = choose(places_in(lines))
            if place and place.line:
                found.file, found.line = place.file, place.line
        self._text = Block()
