"""minitest, test-unit and Rails: blocks below `Failure:` and `Error:`."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_RESULT = re.compile(r"(Failure|Error):\s*$|\s*\d+\) (Failure|Error):\s*$|(Failure|Error): (?=\S)(test\S*.*)$")
_MINI_ID = re.compile(r"(\S.*?#.+?|\S+#\S+)(?: \[(\S+?):(\d+)\])?:?\s*$")
_OLD_ID = re.compile(r"(\w\S*)\(([\w:]+)\)(?: \[(\S+?):(\d+)(?::in .*)?\])?(?::? ?| *: (\S.*))$")
_MINI_TOTAL = re.compile(r"(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors")
_AT = re.compile(r"\s*\S+\.rb:\d+:in ")
_LINES = 500


class Minitest:
    name: ClassVar[str] = "minitest"
    wakes: ClassVar[tuple[str, ...]] = (" assertions, ",)
    shapes: ClassVar[tuple[str, ...]] = (
        r"(?m)(?:^|[ m])(?:Failure|Error):(?:\x1b\[[0-9;]*m)*[ \r]*$",
        r"(?:Failure|Error): test",
    )

    def __init__(self) -> None:
        self._word = ""
        self._found: Found | None = None
        self._text = Block()
        self._lines = 0
        self._numbered = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        total = _MINI_TOTAL.match(text)
        if total:
            self._store(out)
            out.total(int(total[2]) + int(total[3]), int(total[1]))
            return False
        result = _RESULT.match(text) if "Failure:" in text or "Error:" in text else None
        if result and not (self._found is not None and text.startswith(" ") and not result[2]):
            self._store(out)
            self._word = result[1] or result[2] or result[3]
            self._numbered = bool(result[2])
            if result[4]:
                return self._open(result[4], line)
            return True
        if self._word:
            return self._open(text, line)
        if self._found is not None:
            return self._in_block(text, line, out)
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    def _open(self, text: str, line: Line) -> bool:
        word, self._word = self._word, ""
        kind = "error" if word == "Error" else "fail"
        mini = _MINI_ID.match(text)
        old = _OLD_ID.match(text)
        found = None
        if mini and "#" in text and not text.startswith(("#", " ", "http")):
            found = Found(mini[1].rstrip(":"), at=line)
            file, number = mini[2], mini[3]
        elif old:
            found = Found(f"{old[2]}#{old[1]}", at=line)
            found.message = old[5] or ""
            file, number = old[3], old[4]
        if found is None:
            return False
        found.kind = "error" if kind == "error" else "fail"
        if file:
            found.file, found.line = file, int(number)
        self._found, self._text, self._lines = found, Block(), 0
        return True

    def _in_block(self, text: str, line: Line, out: Sink) -> bool:
        self._lines += 1
        over = (
            line.level is not None
            or self._lines > _LINES
            or text.startswith(("Finished in ", "rails test ", "bin/rails test ", "====", "Finished tests"))
        )
        if self._numbered and not text.strip() and self._text.lines and not any(self._text.lines[-1:]):
            over = True
        if over:
            self._store(out)
            return False
        self._text.add(text)
        return True

    def _store(self, out: Sink) -> None:
        found, self._found, self._word = self._found, None, ""
        if found is None:
            return
        lines = self._text.lines
        body = [text.strip() for text in lines if text.strip() and not _AT.match(text)]
        found.detail, found.message = lines, found.message or (body[0] if body else "")
        place = choose([place for place in places_in(lines) if ".rb" in place.file])
        if place and found.line is None:
            found.file, found.line = place.file, place.line
        out.failure(found)
