"""mocha, Cypress and lab: the epilogue after `N failing`, with titles over several lines."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_FAILING = re.compile(r"\s*(?:✖ )?(\d+) failing\s*$|\s*✖ (\d+) of (\d+) tests? failed\s*:?\s*$")
_PASSING = re.compile(r"\s*(?:✔ )?(\d+) (?:passing|tests? complete)")
_ITEM = re.compile(r"\s{0,4}(\d+)\) ?(.*)$")
_LAB_TOTAL = re.compile(r"(\d+) of (\d+) tests failed")
_ENDS = (
    "npm ERR!",
    "npm error",
    "error Command failed",
    "The command ",
    "Done. ",
    "make: ",
    "-----------------",
    "lerna ERR!",
    "=====",
    "info Visit",
    "> ",
)
_LAST = 400


class Mocha:
    name: ClassVar[str] = "mocha"
    wakes: ClassVar[tuple[str, ...]] = (" failing", " passing", "tests failed", "Failed tests:")

    def __init__(self) -> None:
        self._total = 0
        self._found: list[Found] = []
        self._title: list[str] = []
        self._open = False
        self._active = False
        self._lab = False
        self._text = Block()
        self._lines = 0
        self._blank = 0
        self._passing = 0
        self._clean = False
        self._number = 0
        self._lab_ended = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        failing = _FAILING.match(text) if "fail" in text else None
        if failing:
            self._close(out)
            self._clean = False
            self._total, self._active = int(failing[1] or failing[2]), self._total_is_next(failing)
            return True
        if text == "Failed tests:" and not self._active:
            self._active, self._lab, self._total = True, True, 10_000
            out.started("lab")
            return True
        if not self._active:
            self._passes(text, out)
            return False
        if self._lab and _LAB_TOTAL.match(text):
            self._lab_ended = True
            self._close(out)
            return False
        return self._epilogue(line, out)

    def end(self, out: Sink) -> None:
        self._close(out)
        self._end_clean(out)

    def _passes(self, text: str, out: Sink) -> None:
        """`N passing` ends a clean run, unless `N failing` follows."""
        passing = _PASSING.match(text)
        if passing:
            self._end_clean(out)
            out.started("mocha")
            self._passing, self._clean = int(passing[1]), True

    def _end_clean(self, out: Sink) -> None:
        if self._clean:
            out.total(0, self._passing, "mocha")
        self._clean = False

    def _total_is_next(self, failing: re.Match[str]) -> bool:
        return int(failing[1] or failing[2]) > 0

    def _epilogue(self, line: Line, out: Sink) -> bool:
        text = line.text
        item = _ITEM.match(text)
        if item and self._is_next(int(item[1])):
            self._number = int(item[1])
            self._store()
            self._found.append(Found("", at=line, framework="lab" if self._lab else ""))
            self._title, self._open, self._lines, self._blank = [item[2].strip()], True, 0, 0
            self._open = not self._title_ends(item[2]) or not self._lab
            return True
        self._lines += 1
        if not self._found:
            self._active = self._lines < 30
            return self._active
        if self._open and self._in_title(text):
            return True
        self._open = False
        self._text.add(text)
        self._blank = 0 if text.strip() else self._blank + 1
        last = len(self._found) >= self._total
        over = last and (self._lines > _LAST or (self._blank >= 2 and self._lines > 3 and not self._lab))
        if over or line.level == "error" or text.startswith(_ENDS) or _PASSING.match(text):
            self._close(out)
            self._passes(text, out)
            return False
        return True

    def _is_next(self, number: int) -> bool:
        """mocha counts failures from 1; lab prints the number of the test."""
        if self._lab:
            return number > self._number
        return number == len(self._found) + 1 and len(self._found) < self._total

    @staticmethod
    def _title_ends(text: str) -> bool:
        return text.rstrip().endswith(":")

    def _in_title(self, text: str) -> bool:
        """Title lines are indented by 7, 9, ... columns; a title of several lines goes on until its colon."""
        indent = len(text) - len(text.lstrip())
        nested = indent == 5 + 2 * len(self._title) and text.strip()
        if self._title and self._title_ends(self._title[-1]):
            if not nested or text.lstrip().startswith("at "):
                return False
        elif not text.strip() and not self._title[0]:
            return True
        elif len(self._title) > 40:
            return False
        if nested or not self._title_ends(self._title[-1]):
            self._title.append(text.strip())
            return True
        return False

    def _store(self) -> None:
        """Give the last item its name and text."""
        if not self._found:
            return
        found = self._found[-1]
        found.id = " ".join(part for part in self._title if part).rstrip().removesuffix(":")
        lines = [text for text in self._text.lines if text.strip()]
        found.detail = self._text.lines
        found.message = next((text.strip() for text in lines), "")
        place = choose(places_in(lines))
        if place:
            found.file, found.line = place.file, place.line
        self._text = Block()

    def _close(self, out: Sink) -> None:
        if self._active:
            self._store()
            if not self._lab:
                out.started("mocha")
            for found in self._found if not self._lab or self._lab_ended else []:
                out.failure(found)
            if self._found and not self._lab:
                out.total(len(self._found), self._passing + len(self._found))
        self._found, self._text = [], Block()
        self._active = self._open = self._lab = self._lab_ended = False
        self._number = 0
