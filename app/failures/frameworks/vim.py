"""Vim's own test runner: `Found errors in Test_name():` below `From file:`."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_FOUND = re.compile(r"\s*Found errors in (\w+)\(\):")
_FROM = re.compile(r"\s*From (\S+\.vim):")
_ENDS = ("Executed ", "From ", "Flaky test failed too", "Passed", "SKIPPED", "TEST FAILURE", "make")


class VimTest:
    name: ClassVar[str] = "vim-test"
    wakes: ClassVar[tuple[str, ...]] = ("Found errors in ", "Caught exception in Test_")

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._flaky = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text.strip()
        head = _FOUND.match(text)
        if head:
            self._store(out)
            file = next((found[1] for found in map(_FROM.match, out.above(80)) if found), None)
            self._found, self._text = Found(head[1], at=line, file=file), Block()
            return True
        if self._found is None:
            return False
        if not text or text.startswith(_ENDS) or len(self._text.lines) > 60:
            self._store(out)
            return False
        self._text.add(text)
        return True

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = [text for text in self._text.lines if not re.match(r"Run \d+:|Flaky test", text)]
        found.detail, found.message = self._text.lines, lines[0] if lines else ""
        out.started()
        out.failure(found)
