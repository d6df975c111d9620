"""Ginkgo: the list `Summarizing N Failures`, and the blocks above it."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_SUMMARY = re.compile(r"Summarizing (\d+) Failures?:")
_ROW = re.compile(r"\s*\[(FAIL|PANICKED!?|TIMEDOUT|INTERRUPTED|Fail|Panic!?)\] (\S.*)$")
_PLACE = re.compile(r"\s*(\S+\.go):(\d+)")
_TOTAL = re.compile(r"Ran (\d+) of \d+ Specs in ")
_MESSAGE = re.compile(r"\s+\[FAILED\] (\S.*)$")


class Ginkgo:
    name: ClassVar[str] = "ginkgo"
    wakes: ClassVar[tuple[str, ...]] = ("Summarizing ",)

    def __init__(self) -> None:
        self._list = False
        self._found: Found | None = None
        self._texts: list[str] = []

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if _SUMMARY.match(text):
            self._list = True
            self._texts = [found[1] for found in map(_MESSAGE.match, [*out.above(400)][::-1]) if found]
            return True
        if not self._list:
            return False
        row = _ROW.match(text)
        place = _PLACE.match(text)
        if row:
            self._store(out)
            kind = row[1].strip("!").upper()
            message = self._texts.pop(0) if self._texts else ""
            self._found = Found(row[2].strip(), message=message, rank=2, at=line)
            self._found.kind = "crash" if kind.startswith("PANIC") else "timeout" if kind == "TIMEDOUT" else "fail"
        elif place and self._found is not None:
            self._found.file, self._found.line = place[1], int(place[2])
        total = _TOTAL.match(text)
        if total:
            self._store(out)
            self._list = False
        return self._list

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is not None:
            out.failure(found)
