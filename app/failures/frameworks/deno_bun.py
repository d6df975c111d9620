"""Deno and Bun: rows of tests, and the blocks that carry their errors."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_DENO_ROW = re.compile(r"(\S.*?) \.\.\. (?:FAILED|failed) \(.*\)$")
_DENO_ERROR = re.compile(r"(\S.*?) => (\S+?\.[cm]?[jt]sx?):(\d+):\d+$")
_DENO_TOTAL = re.compile(r"(?:FAILED|ok) \| (\d+) passed(?: \(.*?\))? \| (\d+) failed")
_BUN_ROW = re.compile(r"(?:\(fail\)|✗) (\S.*?)(?: \[[\d.]+ ?m?s\])?$")
_BUN_OTHER = re.compile(r"(?:\((?:pass|skip|todo|fail)\)|[✓✗»✎]) |\S+\.(?:test|spec)\.[cm]?[jt]sx?:$")
_BUN_ERROR = re.compile(r"(?:error|\w*Error): (\S.*)$")


class Deno:
    name: ClassVar[str] = "deno"
    wakes: ClassVar[tuple[str, ...]] = (" ... FAILED (", " ... \x1b[0m\x1b[31mFAILED", "=> ./", "=> file:", " => /")

    def __init__(self) -> None:
        self._found: Found | None = None
        self._errors = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        head = _DENO_ERROR.match(text)
        if head:
            self._store(out)
            self._found = Found(head[1], file=head[2], line=int(head[3]), at=line, rank=1)
            return True
        if _DENO_TOTAL.match(text):
            self._store(out)
            out.started()
            return False
        if self._found is not None and line.level is None and len(self._found.detail) < 200:
            if text.strip() and not self._found.message:
                self._found.message = text.strip().removeprefix("error: ")
            self._found.detail = [*self._found.detail, text]
            return text.strip() not in ("FAILURES", "ERRORS")
        self._store(out)
        row = _DENO_ROW.match(text) if "FAILED" in text else None
        if row and not text.startswith("test "):
            out.failure(Found(row[1], rank=0))
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is not None and (found.message or self._errors):
            self._errors = True
            out.failure(found)


class Bun:
    name: ClassVar[str] = "bun"
    wakes: ClassVar[tuple[str, ...]] = ("(fail) ", "✗ ")

    def feed(self, line: Line, out: Sink) -> bool:
        row = _BUN_ROW.match(line.text)
        if row is None or (not line.text.startswith("(fail)") and "[" not in line.text):
            return False
        lines: list[str] = []
        for above in out.above(200):
            if _BUN_OTHER.match(above):
                break
            lines.insert(0, above)
        errors = [found[1] for found in map(_BUN_ERROR.match, lines) if found]
        found = Found(row[1], message=errors[0] if errors else "", detail=lines)
        place = choose(places_in(lines))
        if place:
            found.file, found.line = place.file, place.line
        out.started()
        out.failure(found)
        return False

    def end(self, out: Sink) -> None:
        pass
