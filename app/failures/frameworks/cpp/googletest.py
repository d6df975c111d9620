"""GoogleTest: failure blocks, result rows and the final list."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_GTEST = re.compile(
    r"(?:\d+: )?\[  FAILED  \] ([\w/.<>:-]+\.[\w/.-]+?"
    r"|[\w/]+)(?:, where (?:TypeParam|GetParam\(\)) = .*?)?(?: \((\d+) ms\))?\s*$"
)
_GTEST_RUN = re.compile(r"(?:\d+: )?\[ RUN      \] (\S+)")
_GTEST_COUNT = re.compile(r"(?:\d+: )?\[  FAILED  \] (\d+) tests?, listed below:")
_PLACE = re.compile(r"(?:\d+: )?(\S[^:\n]*\.\w+):(\d+): (Failure|error)|(?:\d+: )?(\S[^(\n]*\.\w+)\((\d+)\): error")
_CTEST_OUTPUT = re.compile(r"^\d+: (.*)$")
_FAILURE_LINES = 300


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
