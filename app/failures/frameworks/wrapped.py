"""Digests of failing tests that a wrapper prints: `[Test 1/4] file:line:col`, `Test: name`, `Error: text`."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_PLACE = re.compile(r"\s*\[Test \d+/\d+\] (\S.*?):(\d+)(?::\d+)?\s*$")
_NAME = re.compile(r"\s*Test: (\S.*)$")
_ERROR = re.compile(r"\s*Error: (\S.*)$")


class Wrapped:
    name: ClassVar[str] = "vitest"
    wakes: ClassVar[tuple[str, ...]] = ("[Test ",)

    def __init__(self) -> None:
        self._place: tuple[str, int] | None = None
        self._found: Found | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        place = _PLACE.match(line.text)
        if place:
            self.end(out)
            self._place = (place[1], int(place[2]))
            return True
        name = _NAME.match(line.text)
        if name and self._place:
            self._found = Found(name[1], file=self._place[0], line=self._place[1], at=line, rank=2)
            self._place = None
            return True
        error = _ERROR.match(line.text)
        if error and self._found:
            self._found.message = error[1]
            self._found.detail = [line.text.strip()]
        self.end(out)
        return False

    def end(self, out: Sink) -> None:
        found, self._found, self._place = self._found, None, None
        if found is not None:
            out.failure(found)
