"""Playwright Test: numbered blocks, the lists `N failed` and `N flaky`, rows of the list reporter."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_NAME = r"((?:\[[^\]]{1,80}\] › )?[^›]{1,300}?:\d+:\d+ › \S.*?|(?:\[[^\]]{1,80}\] › )\S.*?)"
_BLOCK = re.compile(rf"  (\d+)\) {_NAME}(?: \(\d+(?:\.\d+)?m?s\))?[ ─━=]*$")
_ROW = re.compile(rf"\s+(?:✘|x|✖|×) +\d+ {_NAME}(?: \(retry #\d+\))?(?: \(\d+(?:\.\d+)?m?s?\))?[ ─━=]*$")
_LISTED = re.compile(rf"    {_NAME}[ ─━=]*$")
_HEAD = re.compile(r"  (\d+) (failed|flaky|interrupted|skipped|did not run|passed|error was not a part of any test)\b")


class Playwright:
    name: ClassVar[str] = "playwright"
    wakes: ClassVar[tuple[str, ...]] = (" › ",)
    shapes: ClassVar[tuple[str, ...]] = (r"  (?:\x1b\[[0-9;]*m)*\d+ (?:passed|failed|flaky|skipped)(?:\x1b| \(|\r?$)",)

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._list = ""
        self._flaky: set[str] = set()
        self._all: list[Found] = []

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        head = _HEAD.match(text)
        if head and line.level in (None, "notice", "error"):
            self._store()
            if head[2] == "passed":
                out.total(None)
            self._list = head[2] if head[2] in ("failed", "flaky", "interrupted") else ""
            return bool(self._list)
        if self._list:
            listed = _LISTED.match(text)
            if listed:
                found = Found(listed[1].strip(), rank=2, at=line, flaky=self._list == "flaky")
                self._all.append(found)
                return True
            self._list = ""
        block = _BLOCK.match(text)
        if block:
            self._store()
            self._found, self._text = Found(block[2].strip(), at=line), Block()
            return True
        row = _ROW.match(text) if "›" in text else None
        if row and re.search(r":\d+:\d+ ›", row[1]):
            self._all.append(Found(row[1].strip(), rank=0, at=line))
            return self._found is not None
        if self._found is None:
            return False
        if line.level in ("error", "group") and not text.startswith("  "):
            self._store()
            return False
        self._text.add(text)
        return True

    def end(self, out: Sink) -> None:
        self._store()
        listed = {found.id: found.flaky for found in self._all if found.rank == 2}
        if self._all:
            out.started()
        for found in self._all:
            if listed:
                if found.id not in listed:
                    continue
                found.flaky = listed[found.id]
            place = re.search(r"(?:^|› )([^›]+?):(\d+):\d+ ›", found.id)
            if place and found.line is None:
                found.file, found.line = place[1], int(place[2])
            out.failure(found)
        self._all = []

    def _store(self) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        found.message = next(
            (
                text.strip()
                for text in lines
                if text.strip() and not text.lstrip().startswith(("Retry #", "Error Context"))
            ),
            "",
        )
        place = choose(places_in(lines))
        if place:
            found.file, found.line = place.file, place.line
        self._all.append(found)
