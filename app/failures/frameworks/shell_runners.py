"""automake, HUnit, grunt's QUnit, and plain runners that print one row for each test."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_AUTOMAKE = re.compile(r"(FAIL|ERROR|XPASS): (\S[^:]*?)(?: \(exit status: \d+\))?\s*$")
_AUTOMAKE_SUMMARY = re.compile(r"Testsuite summary for |# (?:FAIL|ERROR|XPASS): +[1-9]|\d+ of \d+ tests? failed")
_HUNIT = re.compile(r"### (Failure|Error) in: (?:(?:\d+:)+)?(\S.*)$")
_GRUNT = re.compile(r">> (\S.* - \S.*)$")
_GRUNT_PART = re.compile(r">> (Message|Actual|Expected|at|Error): ?(.*)$")
_NAME = r"\s{0,4}(\S+(?: \S+){0,6}?)"
_ROWS = (
    (
        re.compile(r"\s{0,4}(?:\[FAIL(?:ED)?\]|FAIL(?:ED)?:|✗|✘) (\S.*)$"),
        re.compile(r"\s{0,4}(?:\[(?:PASS(?:ED)?|OK)\]|PASS(?:ED)?:|OK:|✓|✔) \S"),
    ),
    (
        re.compile(rf"{_NAME}(?:(?: ?\.\.\.|:) FAIL(?:ED)?| ?\.\.\.FAIL(?:ED)?| \[FAIL(?:ED)?\])!?\s*$"),
        re.compile(
            rf"{_NAME}(?:(?: ?\.\.\.|:) (?:PASS(?:ED)?|OK"
            rf"|ok)| ?\.\.\.(?:PASS|OK|ok)| \[ ?(?:PASS(?:ED)?"
            rf"|OK|ok) ?\])\s*$"
        ),
    ),
)
_LOOK = 60


class Automake:
    name: ClassVar[str] = "automake"
    wakes: ClassVar[tuple[str, ...]] = (
        "FAIL: ",
        "ERROR: ",
        "XPASS: ",
        "Testsuite summary for ",
        "# FAIL:  ",
        "# ERROR: ",
        " tests failed",
    )

    def __init__(self) -> None:
        self._rows: dict[str, Found] = {}

    def feed(self, line: Line, out: Sink) -> bool:
        """Rows count once the summary says that they are results."""
        row = _AUTOMAKE.match(line.text)
        if row and line.level is None and len(self._rows) < 5000:
            found = Found(row[2], "error" if row[1] == "ERROR" else "fail", at=line, message=line.text)
            found.kind = "unexpected_success" if row[1] == "XPASS" else found.kind
            self._rows.setdefault(row[2], found)
        elif _AUTOMAKE_SUMMARY.match(line.text) and self._rows:
            out.started()
            for found in self._rows.values():
                out.failure(found)
            self._rows = {}
        return False

    def end(self, out: Sink) -> None:
        self._rows = {}


class HUnit:
    name: ClassVar[str] = "hunit"
    wakes: ClassVar[tuple[str, ...]] = ("### Failure in: ", "### Error in: ")

    def __init__(self) -> None:
        self._found: Found | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        row = _HUNIT.match(line.text)
        if row:
            self.end(out)
            self._found = Found(row[2], "fail" if row[1] == "Failure" else "error", at=line)
            return True
        if self._found is None or not line.text.strip() or len(self._found.detail) > 20:
            self.end(out)
            return False
        place = re.match(r"(\S+\.hs):(\d+)$", line.text)
        if place:
            self._found.file, self._found.line = place[1], int(place[2])
        else:
            self._found.message = self._found.message or line.text.strip()
        self._found.detail = [*self._found.detail, line.text]
        return True

    def end(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is not None:
            out.failure(found)


class GruntQunit:
    name: ClassVar[str] = "qunit"
    wakes: ClassVar[tuple[str, ...]] = (">> Message: ", ">> Actual: ")

    def feed(self, line: Line, out: Sink) -> bool:
        """The row with the name stands directly above `>> Message:`."""
        part = _GRUNT_PART.match(line.text)
        above = [text for text in out.above(6) if text.strip()]
        name = _GRUNT.match(above[0]) if part and above and not _GRUNT_PART.match(above[0]) else None
        if name and part:
            out.failure(Found(name[1], message=part[2], detail=[line.text]))
        return False

    def end(self, out: Sink) -> None:
        pass


class ShellRunner:
    """Rows of an unknown runner: they count where it also prints rows that pass, and nothing else explains the job."""

    name: ClassVar[str] = "custom-shell"
    wakes: ClassVar[tuple[str, ...]] = (
        "[FAIL]",
        "[FAILED]",
        "FAIL: ",
        "FAILED: ",
        "... FAIL",
        "...FAIL",
        "✗ ",
        "✘ ",
        ": FAIL",
    )

    def __init__(self) -> None:
        self._found: list[tuple[int, Found]] = []
        self._passes: set[int] = set()
        self._left = 0

    def feed(self, line: Line, out: Sink) -> bool:
        self._left -= 1
        for at, (fails, passes) in enumerate(_ROWS):
            row = fails.match(line.text)
            if row and line.level is None and len(self._found) < 2000:
                self._found.append((at, Found(row[1].rstrip(" ."), at=line, message=line.text.strip(), wraps=True)))
                if at not in self._passes and any(passes.match(text) for text in out.above(_LOOK)):
                    self._passes.add(at)
                self._left = _LOOK
                break
            if passes.match(line.text):
                self._passes.add(at)
        return self._left > 0

    def end(self, out: Sink) -> None:
        for at, found in self._found:
            if at in self._passes:
                out.failure(found)
