"""A pytest process that died: faulthandler's stack or pytest-timeout's dump names the running test (OP-3)."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line
from app.failures.places import is_installed, place_of

if TYPE_CHECKING:
    from app.failures.frameworks.pytest.session import Session

_RUNNING = re.compile(r"(\S+\.py::\S.*?) *(?:$|Fatal Python error|\+\+\+)")
_TEST = re.compile(r"(?:[\w.]+\.)?test\w*$|runTest$")
_LIMIT = 3000


class Crash:
    """Collects the stacks until the first line that belongs to none."""

    def __init__(self, head: str, timeout: bool, running: str) -> None:
        self.head = head
        self.timeout = timeout
        self.running = running
        self._text = Block()
        self._strange = 0
        self._lines = 0

    @classmethod
    def begin(cls, text: str, above: Iterable[str]) -> "Crash | None":
        timeout = "+ Timeout +" in text
        running = ""
        for line in (text, *above):
            found = _RUNNING.match(line)
            if found and " PASSED" not in line:
                running = found[1].strip()
                break
        at = text.find("Fatal Python error")
        return cls(text[at:] if at >= 0 else "Timeout", timeout, running)

    def feed(self, text: str) -> bool:
        """Is the line still part of the dump?"""
        self._lines += 1
        self._text.add(text)
        if self._lines > _LIMIT or (self._lines > 1 and text.startswith("+++") and " Timeout " in text):
            return False
        known = not text.strip() or text.startswith(
            (" ", "Thread ", "Current thread", "~~~", "Fatal", "+++", "Stack", "Extension")
        )
        self._strange = 0 if known else self._strange + 1
        return self._strange < 3

    def report(self, session: "Session", line: Line) -> None:
        lines = self._text.lines
        thread = max(
            (at for at, text in enumerate(lines) if "Current thread" in text or "of MainThread" in text), default=0
        )
        deepest_last = self.timeout
        places = [place for place in map(place_of, lines[thread:]) if place and not is_installed(place.file)]
        tests = [place for place in places if _TEST.match(place.function)]
        chosen = (tests[-1] if deepest_last else tests[0]) if tests else None
        if chosen is None and not self.running:
            session.stopped = self.head
            return
        test_id = self.running or chosen.function.rsplit(".", 1)[-1] if chosen else self.running
        found = Found(
            test_id,
            "timeout" if self.timeout else "crash",
            message=self.head,
            detail=lines,
            rank=0,
            optional=True,
            at=line,
        )
        if chosen:
            found.file, found.line = chosen.file, chosen.line
        session.crashes.append(found)
