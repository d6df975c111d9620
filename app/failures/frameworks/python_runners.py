"""Twisted's trial and stestr (testrepository), which print unittest's results in their own frames."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.model import FailureKind
from app.failures.places import choose, places_in

_TRIAL = re.compile(r"\[(FAIL|ERROR)\]$")
_RULE = re.compile(r"[=-]{60,}$")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+){2,}$")
_STESTR_ROW = re.compile(r"\{\d+\} (\S.*?) \[[\d.]+s\] \.\.\. (FAILED|ok|SKIPPED)")
_STESTR_TOTAL = re.compile(r" - Failed: (\d+)$")


class Trial:
    name: ClassVar[str] = "trial"
    wakes: ClassVar[tuple[str, ...]] = ("[FAIL]", "[ERROR]")

    def __init__(self) -> None:
        self._kind: FailureKind | None = None
        self._text = Block()
        self._lines = 0

    def feed(self, line: Line, out: Sink) -> bool:
        """A rule, `[FAIL]`, the traceback, then the names of the tests that failed with it."""
        text = line.text
        head = _TRIAL.match(text)
        if head and _RULE.match("".join(out.above(1))):
            self._kind, self._text, self._lines = ("fail" if head[1] == "FAIL" else "error"), Block(), 0
            return True
        if self._kind is None:
            return False
        self._lines += 1
        if _RULE.match(text) or self._lines > 2000 or line.level is not None:
            self._kind = None
            return False
        if _DOTTED.match(text) and self._text:
            self._report(text, line, out)
        else:
            self._text.add(text)
        return True

    def end(self, out: Sink) -> None:
        self._kind = None

    def _report(self, name: str, line: Line, out: Sink) -> None:
        lines = self._text.lines
        errors = [text.strip() for text in lines if text.strip() and not text.startswith((" ", "Traceback"))]
        found = Found(name, self._kind or "fail", message=errors[-1] if errors else "", detail=lines, at=line)
        place = choose(places_in(lines), deepest_last=True)
        if place:
            found.file, found.line = place.file, place.line
        out.failure(found)


class Stestr:
    name: ClassVar[str] = "stestr"
    wakes: ClassVar[tuple[str, ...]] = ("... FAILED", " - Failed: ")

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()

    def feed(self, line: Line, out: Sink) -> bool:
        row = _STESTR_ROW.match(line.text)
        total = _STESTR_TOTAL.match(line.text)
        if row or total or line.level is not None:
            self.end(out)
        if row and row[2] == "FAILED":
            self._found, self._text = Found(row[1], at=line), Block()
            return True
        if total:
            out.total(int(total[1]))
        if self._found is None or len(self._text.lines) > 300:
            return False
        self._text.add(line.text)
        return True

    def end(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        errors = [
            text.strip() for text in lines if re.match(r"\s{4,8}[\w.]+(?:Error|Exception|Mismatch\w*|Failure)\b", text)
        ]
        found.detail, found.message = lines, errors[-1] if errors else self._text.first()
        place = choose(places_in(lines), deepest_last=True)
        if place:
            found.file, found.line = place.file, place.line
        out.failure(found)
