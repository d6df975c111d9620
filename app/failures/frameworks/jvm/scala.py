"""ScalaTest, specs2, munit, JUnit under sbt, and partest."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.jvm.stack import put_place

_SBT = re.compile(r"\[(info|error|warn)\] ?")
_FAILED = re.compile(r"(\s*)[-*+] (\S.*?) \*\*\* FAILED \*\*\*(?: \(.*\))?\s*$")
_ABORTED = re.compile(r"(\S.*?) \*\*\* ABORTED \*\*\*\s*$")
_SUITE = re.compile(r"[A-Za-z_][\w.$]*:$")
_PLACE = re.compile(r".* \(?((?:/\S*/)?[\w$-]+\.(?:scala|java|sc)):(\d+)\)?")
_JUNIT = re.compile(r"Test ([\w.$]+(?:[\[(].*)?) failed: ?(.*)$")
_TOOK = re.compile(r", took [\d.]+ ?s(?:ec)?$")
_TOTAL = re.compile(r"Tests: succeeded (\d+), failed (\d+)")
_MUNIT = re.compile(r"==> X (\S.*?)(?: {1,2}\d+(?:\.\d+)?s ?(.*))?$")
_SPECS2 = re.compile(r"(\s*)[x!] (\S.*)$")
_PARTEST = re.compile(r"!! +\d+ - (\S.*?) +\[(.*)\]$|(?:# )?partest .*?((?:test|neg|pos|run)/\S+)$")


class Scala:
    name: ClassVar[str] = "scalatest"
    wakes: ClassVar[tuple[str, ...]] = (
        "*** FAILED ***",
        "*** ABORTED ***",
        " failed: ",
        "Tests: succeeded ",
        ": Total ",
        "==> X ",
        "!! ",
    )
    shapes: ClassVar[tuple[str, ...]] = (
        r"\[(?:\x1b\[[0-9;]*m)*(?:info|error)(?:\x1b\[[0-9;]*m)*\] +(?:\x1b\[[0-9;]*m)*[x!] ",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._suite = ""
        self._indent = 0
        self._lines = 0

    def feed(self, line: Line, out: Sink) -> bool:
        mark = _SBT.match(line.text)
        text = line.text[mark.end() :] if mark else line.text
        nested = mark is not None and _SBT.match(text) is not None
        if nested:
            self._store(out)
            return False
        for read in (self._scalatest, self._junit, self._munit, self._partest, self._specs2):
            found = read(text, mark, out)
            if found is not None:
                self._store(out)
                found.at = line
                self._found, self._text, self._lines = found, Block(), 0
                return True
        if self._found is not None and self._belongs(text, mark):
            self._text.add(text)
            return True
        self._store(out)
        self._total(text, out)
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    def _belongs(self, text: str, mark: re.Match[str] | None) -> bool:
        self._lines += 1
        if self._lines > 200 or not text.strip():
            return False
        return len(text) - len(text.lstrip()) > self._indent or text.startswith(("  ", "\t", "at "))

    def _scalatest(self, text: str, mark: re.Match[str] | None, out: Sink) -> Found | None:
        row = _FAILED.match(text)
        if row is None:
            aborted = _ABORTED.match(text)
            if aborted:
                self._suite, self._indent = aborted[1], 0
                return Found(aborted[1], "suite_error", framework="scalatest")
            return None
        parts, depth = [row[2]], len(row[1])
        for above in out.above(400):
            clean = above[len(mark[0]) :] if mark and above.startswith(mark[0][:3]) else above
            head = _SBT.match(above)
            clean = above[head.end() :] if head else above
            indent = len(clean) - len(clean.lstrip())
            if not clean.strip() or clean.lstrip().startswith(("- ", "+ ", "at ", "*")):
                continue
            if indent == 0 and _SUITE.match(clean.strip()):
                parts.insert(0, clean.strip()[:-1])
                break
            outer = indent < depth or indent == depth == 0
            if outer and "***" not in clean and len(clean) < 300 and not clean.startswith("Run "):
                parts.insert(0, clean.strip())
                depth = indent
        self._suite, self._indent = parts[0], len(row[1])
        return Found(" ".join(parts), framework="scalatest")

    def _junit(self, text: str, mark: re.Match[str] | None, out: Sink) -> Found | None:
        row = _JUNIT.match(text) if mark else None
        if row is None:
            return None
        self._suite, self._indent = row[1].rsplit(".", 1)[0], 0
        return Found(row[1], message=_TOOK.sub("", row[2]), framework="sbt-junit")

    def _munit(self, text: str, mark: re.Match[str] | None, out: Sink) -> Found | None:
        row = _MUNIT.match(text)
        if row is None:
            return None
        self._suite, self._indent = row[1].rsplit(".", 1)[0], 0
        return Found(row[1], message=row[2] or "", framework="munit")

    def _partest(self, text: str, mark: re.Match[str] | None, out: Sink) -> Found | None:
        row = _PARTEST.match(text) if text.startswith("!!") else None
        return (
            Found("test/files/" + row[1] if not row[1].startswith("test") else row[1], framework="partest")
            if row and row[1]
            else None
        )

    def _specs2(self, text: str, mark: re.Match[str] | None, out: Sink) -> Found | None:
        row = _SPECS2.match(text) if mark and text.startswith((" ", "x ", "! ")) else None
        if row is None:
            return None
        parts, depth = [row[2].strip()], len(row[1])
        for above in out.above(200):
            head = _SBT.match(above)
            clean = above[head.end() :] if head else above
            indent = len(clean) - len(clean.lstrip())
            if clean.strip() and indent < depth and not clean.lstrip().startswith(("+ ", "x ", "! ", "o ")):
                parts.insert(0, clean.strip())
                depth = indent
                if depth == 0:
                    break
        self._suite, self._indent = parts[0], len(row[1])
        return Found(" ".join(parts), framework="specs2")

    def _total(self, text: str, out: Sink) -> None:
        total = _TOTAL.match(text)
        if total:
            out.total(int(total[2]), int(total[1]) + int(total[2]))

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        found.message = found.message or self._text.first()
        place = _PLACE.match(found.message)
        if place:
            found.file, found.line = place[1], int(place[2])
        else:
            put_place(found, lines, self._suite)
        out.failure(found)
