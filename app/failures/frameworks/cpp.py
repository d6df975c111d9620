"""GoogleTest, Catch2, doctest, Boost.Test and CTest."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.model import FailureKind

_GTEST = re.compile(
    r"(?:\d+: )?\[  FAILED  \] ([\w/.<>:-]+\.[\w/.-]+?|[\w/]+)(?:, where (?:TypeParam|GetParam\(\)) = .*?)?(?: \((\d+) ms\))?\s*$"
)
_GTEST_RUN = re.compile(r"(?:\d+: )?\[ RUN      \] (\S+)")
_GTEST_TOTAL = re.compile(r"(?:\d+: )?\[==========\] (\d+) tests? from .* ran\.")
_GTEST_COUNT = re.compile(r"(?:\d+: )?\[  FAILED  \] (\d+) tests?, listed below:")
_PLACE = re.compile(r"(?:\d+: )?(\S[^:\n]*\.\w+):(\d+): (Failure|error)|(?:\d+: )?(\S[^(\n]*\.\w+)\((\d+)\): error")
_CTEST_ROW = re.compile(r"\s*\d+/\d+ Test +#\d+: (\S.*?) \.*\s*\*\*\*(\S[^0-9]*)")
_CTEST_LISTED = re.compile(r"\s+\d+ - (\S.*) \(([^()]+)\)(?:\s+\S.*)?$")
_CTEST_TOTAL = re.compile(r"\d+% tests passed, (\d+) tests? failed out of (\d+)")
_CTEST_OUTPUT = re.compile(r"^\d+: (.*)$")
_FAILURE_LINES = 300
_KINDS: dict[str, FailureKind] = {
    "Failed": "fail",
    "Timeout": "timeout",
    "Not Run": "not_run",
    "BAD_COMMAND": "not_run",
}


def ctest_kind(word: str) -> FailureKind:
    word = word.strip()
    return _KINDS.get(word, "crash" if word.isupper() or "Exception" in word or word.startswith("SEGFAULT") else "fail")


class CTest:
    name: ClassVar[str] = "ctest"
    wakes: ClassVar[tuple[str, ...]] = ("tests FAILED:", "tests failed out of", "test failed out of")
    shapes: ClassVar[tuple[str, ...]] = (r"\*\*\*(?:\x1b\[[0-9;]*m)*[A-Z]",)

    def __init__(self) -> None:
        self._listing = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._listing:
            row = _CTEST_LISTED.match(text)
            if row:
                out.failure(Found(row[1], ctest_kind(row[2]), rank=2, message=row[2]))
            self._listing = row is not None
            return self._listing
        if text.startswith("The following tests FAILED:"):
            self._listing = True
            return True
        row = _CTEST_ROW.match(text) if "***" in text else None
        if row:
            out.failure(
                Found(row[1].rstrip(" ."), ctest_kind(row[2]), message=row[2].strip(), detail=self._own_output(out))
            )
        total = _CTEST_TOTAL.match(text)
        if total:
            out.started()
            out.total(int(total[1]), int(total[2]))
        return False

    @staticmethod
    def _own_output(out: Sink) -> list[str]:
        """With `-V` the output stands above the row, else below; both ends are kept by the log's own tail."""
        lines: list[str] = []
        for above in reversed(out.above(60)):
            if above.lstrip().startswith(("Start ", "test ")) or (" Test " in above and "#" in above):
                break
            lines.insert(0, above)
        return lines

    def end(self, out: Sink) -> None:
        self._listing = False


class GoogleTest:
    name: ClassVar[str] = "googletest"
    wakes: ClassVar[tuple[str, ...]] = ("  FAILED  ", ": Failure", "): error: ", "[==========]", "[ RUN      ]")

    def __init__(self) -> None:
        self._listing = False
        self._text = Block()
        self._running = ""
        self._failing = False
        self._started = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        run = _GTEST_RUN.match(text)
        if run:
            self._running, self._text, self._failing = run[1], Block(), False
            return False
        if "[==========]" in text:
            out.started()
            self._started = True
            return False
        count = _GTEST_COUNT.match(text)
        if count:
            out.total(int(count[1]))
            self._listing = True
            return False
        row = _GTEST.match(text) if "  FAILED  " in text else None
        if row:
            return self._row(row, line, out)
        place = _PLACE.match(text)
        if place or self._failing:
            self._failing = True
            self._text.add(_CTEST_OUTPUT.sub(r"\1", text))
            self._failing = line.level is None and len(self._text.lines) < _FAILURE_LINES
            return self._failing and not text.startswith(("[       OK ]", "[==========]", "[----------]"))
        return False

    def _row(self, row: re.Match[str], line: Line, out: Sink) -> bool:
        self._failing = False
        lines = self._text.lines
        if row[2] is None and self._listing:
            out.failure(Found(row[1], rank=1, at=line))
            return False
        if "." not in row[1]:
            return False
        known = row[1] == self._running or not self._running
        found = Found(row[1], rank=1 if known else -1, detail=lines, at=line)
        for at, text in enumerate(lines):
            place = _PLACE.match(text)
            if place:
                found.file, found.line = place[1] or place[4], int(place[2] or place[5])
                found.message = " ".join(text.strip() for text in lines[at + 1 : at + 4] if text.strip()) or text
                break
        out.failure(found)
        self._text = Block()
        return False

    def end(self, out: Sink) -> None:
        self._text = Block()


_RULE = re.compile(r"(?:\d+: )?(?:-{79}|={79}|\.{79}|~{60,})\s*$")
_CATCH_PLACE = re.compile(r"(?:\d+: )?(\S.*?)(?::(\d+)|\((\d+)\)): (FAILED|PASSED|warning|error|ERROR)[:!]?\s*$")
_COMPACT = re.compile(r"(?:\d+: )?(\S+?):(\d+): failed: (.*)$")
_DOCTEST_CASE = re.compile(r"TEST CASE: +(\S.*)$")
_DOCTEST_FAIL = re.compile(r"(\S.*?)(?::(\d+)|\((\d+)\)): ERROR: (.*)$")
_BOOST = re.compile(r"(\S.*?)\((\d+)\): (?:fatal )?error:? in \"([^\"]+)\": (.*)$")
_CATCH_TOTAL = re.compile(r"test cases: +(\d+) \|.*?(\d+) failed")


class Catch2:
    name: ClassVar[str] = "catch2"
    wakes: ClassVar[tuple[str, ...]] = (
        ": FAILED:",
        ": FAILED\n",
        "): FAILED",
        ": failed: ",
        ": ERROR: ",
        'error: in "',
        'error in "',
        "test cases: ",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._lines = 0

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        for read in (self._boost, self._compact, self._doctest, self._console):
            found = read(text, out)
            if found is not None:
                self._store(out)
                found.at = line
                self._found, self._text, self._lines = found, Block(), 0
                return found.rank == 1 and not found.message
        if self._found is not None:
            self._lines += 1
            if (
                self._lines < 60
                and not _RULE.match(text)
                and line.level is None
                and (self._lines == 1 or text.strip() or self._lines < 12)
            ):
                self._text.add(text)
                return True
            self._store(out)
        total = _CATCH_TOTAL.match(text)
        if total:
            out.started()
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    @staticmethod
    def _boost(text: str, out: Sink) -> Found | None:
        row = _BOOST.match(text)
        if row is None:
            return None
        return Found(row[3], file=row[1], line=int(row[2]), message=row[4], framework="boost-test")

    @staticmethod
    def _compact(text: str, out: Sink) -> Found | None:
        row = _COMPACT.match(text)
        return Found(f"{row[1]}:{row[2]}", file=row[1], line=int(row[2]), message=row[3]) if row else None

    @staticmethod
    def _doctest(text: str, out: Sink) -> Found | None:
        row = _DOCTEST_FAIL.match(text)
        if row is None:
            return None
        parts: list[str] = []
        for above in reversed(out.above(12)):
            case = _DOCTEST_CASE.match(above)
            if case:
                parts.insert(0, case[1].strip())
                break
            if above.startswith("  ") and above.strip() and not above.strip().startswith("//"):
                parts.insert(0, above.strip())
            elif above.startswith("===="):
                return None
        else:
            return None
        return Found(" ".join(parts), file=row[1], line=int(row[2] or row[3]), message=row[4], framework="doctest")

    @staticmethod
    def _console(text: str, out: Sink) -> Found | None:
        """Between two rules stand the test case and its sections; the place stands below a rule of dots."""
        row = _CATCH_PLACE.match(text) if "FAILED" in text else None
        if row is None:
            return None
        names: list[str] = []
        dots = False
        for above in reversed(out.above(200)):
            clean = _CTEST_OUTPUT.sub(r"\1", above)
            if re.match(r"\.{60,}", clean):
                dots, names = True, []
            elif dots and re.match(r"[-=~]{60,}", clean):
                if names:
                    break
            elif dots and clean.strip() and not re.match(r"\S.*(?::\d+|\(\d+\))$", clean):
                names.insert(0, clean.strip())
        if not names:
            return Found(f"{row[1]}:{row[2] or row[3]}", file=row[1], line=int(row[2] or row[3]), rank=0)
        return Found(" ".join(names), file=row[1], line=int(row[2] or row[3]))

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        found.message = found.message or " ".join(text.strip() for text in lines[:3] if text.strip())
        out.failure(found)
