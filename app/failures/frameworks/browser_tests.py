"""WebdriverIO's spec reporter, with its browser in front of each line, and TestCafe."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_WDIO = re.compile(r"\[[\w. ()-]{1,80} #\d+-\d+\] ?(.*)$")
_WDIO_ITEM = re.compile(r"(\d+)\) (\S.*)$")
_CAFE_ROW = re.compile(r" ✖ (\S.*?)(?: \(.*\))?$")
_CAFE_ITEM = re.compile(r"   (\d+)\) (\S.*)$")
_CAFE_TOTAL = re.compile(r" (\d+)/(\d+) failed \(")
_CAFE_PLACE = re.compile(r"\s+at .*\((.+?):(\d+):\d+\)")


class WebdriverIo:
    name: ClassVar[str] = "webdriverio"
    wakes: ClassVar[tuple[str, ...]] = (" failing",)
    shapes: ClassVar[tuple[str, ...]] = (r"#\d+-\d+\] \d+\) ",)

    def __init__(self) -> None:
        self._found: Found | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        frame = _WDIO.match(line.text)
        text = frame[1] if frame else ""
        item = _WDIO_ITEM.match(text)
        if item:
            self.end(out)
            self._found = Found(item[2].strip(), at=line)
            return True
        if self._found is None or frame is None or re.match(r"Spec Files: |Running: ", text):
            self.end(out)
            return False
        self._found.message = self._found.message or text.strip()
        self._found.detail = [*self._found.detail, text][:100]
        return True

    def end(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is not None:
            place = choose(places_in(found.detail))
            if place:
                found.file, found.line = place.file, place.line
            out.failure(found)


class TestCafe:
    name: ClassVar[str] = "testcafe"
    wakes: ClassVar[tuple[str, ...]] = ()
    shapes: ClassVar[tuple[str, ...]] = (r"/\d+ failed \(",)

    def feed(self, line: Line, out: Sink) -> bool:
        """Everything stands above the total: fixtures, rows with a cross, numbered errors below each row."""
        if not _CAFE_TOTAL.match(line.text):
            return False
        fixture, found = "", None
        rows: list[Found] = []
        for text in [*out.above(400)][::-1]:
            row, item = _CAFE_ROW.match(text), _CAFE_ITEM.match(text)
            if row:
                found = Found(f"{fixture} {row[1]}".strip(), at=line)
                rows.append(found)
            elif item and found is not None:
                found.message = found.message or item[2]
            elif re.match(r" \S", text) and not re.match(r" [✓✔√✖-] ", text):
                fixture, found = text.strip(), None
            if found is not None:
                found.detail = [*found.detail, text][:100]
        out.started()
        for one in rows:
            place = next(filter(None, map(_CAFE_PLACE.match, one.detail)), None)
            if place:
                one.file, one.line = place[1], int(place[2])
            out.failure(one)
        return False

    def end(self, out: Sink) -> None:
        pass
