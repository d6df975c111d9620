"""Catch2, doctest and Boost.Test."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_CTEST_OUTPUT = re.compile(r"^\d+: (.*)$")
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
        for above in out.above(12):
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
        for above in out.above(200):
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
