"""Reporters that print a tree: Pester, tasty, HSpec; the path comes from the indentation."""

import re
from collections.abc import Iterable
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.numbered import NumberedList
from app.failures.places import choose, places_in

_PESTER = re.compile(r"(\s*)\[-\] (\S.*?)(?: \d+(?:\.\d+)?m?s)?(?: \(\d+.*\))?\s*$")
_PESTER_HEAD = re.compile(r"(\s*)(?:Describing|Context|Describe) (\S.*)$")
_PESTER_PLACES = (
    re.compile(r"\s*at line: (?P<line>\d+) in (?P<file>.+)"),
    re.compile(r".*[ ,](?P<file>\S+\.ps1)(?:: line |:)(?P<line>\d+)"),
)
_TASTY = re.compile(r"(\s+)(\S.*?): +FAIL(?: \([\d.]+s\))?\s*$")
_TASTY_TOTAL = re.compile(r"(\d+) out of (\d+) tests failed")
_HSPEC_ITEM = re.compile(r"\s{2}(\d+)\) (\S.*)$")
_HSPEC_PLACE = re.compile(r"\s{2}(\S+\.hs):(\d+):\d+:?\s*$")


class Trees:
    name: ClassVar[str] = "pester"
    wakes: ClassVar[tuple[str, ...]] = ("[-] ", "[-]\x1b", "tests failed (", "Tests Passed: ")
    shapes: ClassVar[tuple[str, ...]] = (r"(?m): +(?:\x1b\[[0-9;]*m)*FAIL(?:\x1b\[[0-9;]*m)*(?: \([0-9.]+s\))?[ \r]*$",)

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._depth = 0

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        pester = _PESTER.match(text) if "[-]" in text else None
        tasty = _TASTY.match(text) if pester is None and "FAIL" in text else None
        if pester or tasty:
            self._store(out)
            row = pester or tasty
            assert row is not None
            parents = self._parents(out.above(400), len(row[1]), pester is not None)
            self._found = Found(
                " ".join([*parents, row[2].strip()]),
                rank=1 if pester else 0,
                at=line,
                framework="" if pester else "tasty",
            )
            self._text, self._depth = Block(), len(row[1])
            return True
        if self._found is not None:
            depth = len(text) - len(text.lstrip())
            inside = (
                line.level is None
                and len(self._text.lines) < 80
                and (not text.strip() or depth > self._depth or text.lstrip().startswith("at "))
            )
            if inside and text.strip():
                self._text.add(text)
                return True
            self._store(out)
        total = _TASTY_TOTAL.match(text)
        if total:
            out.total(int(total[1]), int(total[2]), "tasty")
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    @staticmethod
    def _parents(above: Iterable[str], depth: int, pester: bool) -> list[str]:
        parents: list[str] = []
        for text in above:
            clean = text.rstrip()
            head = _PESTER_HEAD.match(clean) if pester else re.match(r"(\s*)(\S.*)$", clean)
            if head is None or len(head[1]) >= depth:
                continue
            if not pester and (clean.rstrip().endswith((" OK", ":")) or ": " in clean or len(clean) > 200):
                continue
            parents.insert(0, head[2].strip())
            depth = len(head[1])
            if depth == 0:
                break
        return parents

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail, found.message = lines, self._text.first()
        named = next(filter(None, (pattern.match(text) for text in lines for pattern in _PESTER_PLACES)), None)
        place = choose(places_in(lines))
        if named:
            found.file, found.line = named["file"], int(named["line"])
        elif place:
            found.file, found.line = place.file, place.line
        out.failure(found)


def _item(text: str) -> tuple[int, str] | None:
    item = _HSPEC_ITEM.match(text)
    return (int(item[1]), item[2]) if item else None


class Hspec:
    """HSpec's list: `  src/X.hs:12:3: ` above `  1) Module.path, test name`, and `Failure` rows of busted."""

    name: ClassVar[str] = "hspec"
    wakes: ClassVar[tuple[str, ...]] = ("To rerun use: --match",)
    shapes: ClassVar[tuple[str, ...]] = (r"(?m)Failures:[ \r]*(?:\x1b\[[0-9;]*m)*[ \r]*$",)

    def __init__(self) -> None:
        self._list: NumberedList | None = None
        self._haskell = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._list is not None:
            if "To rerun use: --match" in text:
                self._haskell = True
            if self._list.feed(line):
                return True
            self._close(out)
        if text.rstrip() == "Failures:":
            self._list, self._haskell = (
                NumberedList(_item, lambda text: text.startswith(("Randomized with", "Finished in "))),
                False,
            )
            return True
        return False

    def end(self, out: Sink) -> None:
        self._close(out)

    def _close(self, out: Sink) -> None:
        items, lead = (self._list.items, self._list.lead) if self._list else ([], [])
        self._list = None
        for at, item in enumerate(items if self._haskell else []):
            lines = item.text.lines
            found = Found(item.title, message=item.text.first(), detail=lines, at=item.line)
            above = items[at - 1].text.lines if at else lead
            for text in [*reversed(above), *lines]:
                place = _HSPEC_PLACE.match(text)
                if place:
                    found.file, found.line = place[1], int(place[2])
                    break
            out.failure(found)
