"""Dart and Flutter, Zig, Julia, Alcotest: one row for each failing test, its text near it."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_DART = re.compile(r"\d\d:\d\d \+\d+(?: ~\d+)? -\d+: (\S.*?) \[E\]\s*$")
_DART_ROW = re.compile(r"\d\d:\d\d \+\d+")
_DART_PLACE = re.compile(r"\s+(\S+_test\.dart) (\d+):\d+")
_ZIG = re.compile(r"\d+/\d+ (\S.*?)\.\.\. ?FAIL(?: \((\w+)\))?\s*$")
_ZIG_ERROR = re.compile(r"error: '(\S.*?)' failed: (.*)")
_JULIA = re.compile(r"(\S.*?): (?:Test Failed|Error During Test) at (\S+?):(\d+)")
_ALCOTEST = re.compile(r"[>│] ?\s*\[(?:FAIL|ERROR)\]\s+(\S.*?)\s{2,}\d+\s{2,}(\S.*?)\.?\s*│?$")
_ALCOTEST_END = re.compile(r"\s*(?:─{20,}|Full test results|\d+ failures?!)")


class _Below:
    """A row names the test, the lines below it say why."""

    def __init__(self) -> None:
        self._found: Found | None = None
        self._lines: list[str] = []

    def begin(self, found: Found, out: Sink) -> bool:
        self.store(out)
        self._found, self._lines = found, []
        return True

    def add(self, text: str) -> bool:
        if self._found is None or len(self._lines) >= 100:
            return False
        self._lines.append(text)
        return True

    def store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        found.detail = self._lines
        found.message = found.message or next((line.strip() for line in self._lines if line.strip()), "")
        if found.line is None:
            place = choose(places_in(self._lines))
            if place:
                found.file, found.line = place.file, place.line
        out.failure(found)


class Dart:
    name: ClassVar[str] = "dart"
    wakes: ClassVar[tuple[str, ...]] = (" [E]", ": Some tests failed", ": All tests passed")

    def __init__(self) -> None:
        self._below = _Below()

    def feed(self, line: Line, out: Sink) -> bool:
        row = _DART.match(line.text)
        if row:
            return self._below.begin(Found(row[1], at=line), out)
        if _DART_ROW.match(line.text) or line.level is not None:
            self._below.store(out)
            return False
        place = _DART_PLACE.match(line.text)
        if place:
            return self._below.add(f"{place[1]}:{place[2]}")
        return self._below.add(line.text)

    def end(self, out: Sink) -> None:
        self._below.store(out)


class Zig:
    name: ClassVar[str] = "zig-test"
    wakes: ClassVar[tuple[str, ...]] = ("... FAIL", "...FAIL", "' failed: ")

    def __init__(self) -> None:
        self._below = _Below()

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        error = _ZIG_ERROR.match(text)
        row = None if error else _ZIG.match(text)
        if row and "test" in row[1] and not text.startswith(("test ", " ")):
            return self._below.begin(Found(row[1], at=line), out)
        if error and "test" in error[1]:
            return self._below.begin(Found(error[1], message=error[2], at=line), out)
        if re.match(r"\d+/\d+ |\d+ passed; ", text) or line.level is not None:
            self._below.store(out)
            return False
        return self._below.add(text)

    def end(self, out: Sink) -> None:
        self._below.store(out)


class Julia:
    name: ClassVar[str] = "julia-test"
    wakes: ClassVar[tuple[str, ...]] = (": Test Failed at ", ": Error During Test at ", "Test Failed\x1b")

    def __init__(self) -> None:
        self._below = _Below()

    def feed(self, line: Line, out: Sink) -> bool:
        row = _JULIA.match(line.text)
        if row:
            kind = "error" if "Error During" in line.text else "fail"
            found = Found(row[1], file=row[2], line=int(row[3]), at=line)
            found.kind = "error" if kind == "error" else "fail"
            return self._below.begin(found, out)
        if line.text.startswith("Test Summary:") or line.level is not None or not line.text.strip():
            self._below.store(out)
            return False
        return self._below.add(line.text)

    def end(self, out: Sink) -> None:
        self._below.store(out)


class Alcotest:
    name: ClassVar[str] = "alcotest"
    wakes: ClassVar[tuple[str, ...]] = ("[FAIL]  ", "[ERROR]  ", "FAIL\x1b[0m]  ")

    def __init__(self) -> None:
        self._below = _Below()

    def feed(self, line: Line, out: Sink) -> bool:
        row = _ALCOTEST.match(line.text)
        if row:
            return self._below.begin(Found(f"{row[1]} {row[2]}", at=line, rank=1 if "│" in line.text else 0), out)
        if _ALCOTEST_END.match(line.text) or line.level is not None:
            self._below.store(out)
            return False
        if line.text.startswith(("└", "┌", "ASSERT")) or not line.text.strip():
            return True
        return self._below.add(line.text)

    def end(self, out: Sink) -> None:
        self._below.store(out)
