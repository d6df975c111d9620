"""PHPUnit and Pest: numbered lists below `There was 1 failure:`, testdox, FAILED lines; phpt's list of failed tests."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.numbered import NumberedList
from app.failures.places import Place

_THERE = re.compile(
    r"There (?:was|were) (\d+) (failure|error|risky test|warning|skipped test"
    r"|incomplete test|PHPUnit test runner warning|PHPUnit error|deprecation"
    r"|notice)s?:?\s*$"
)
_ITEM = re.compile(r"(\d+)\) (\S.*)$")
_PLACE = re.compile(r"\s*(?:at )?((?:[A-Za-z]:\\|/)?[^\s:()]+\.(?:php|phpt|inc|phtml|module)):(\d+)\s*$")
_TOTAL = re.compile(r"Tests: (\d+), Assertions: \d+(.*?)\.?$")
_OK = re.compile(r"OK \((\d+) tests?, ")
_COUNT = re.compile(r"(Errors|Failures): (\d+)")
_ENDS = (
    "FAILURES!",
    "ERRORS!",
    "WARNINGS!",
    "OK, but",
    "Tests: ",
    "Generating code coverage",
    "Legacy deprecation",
    "Time: ",
)
_TESTDOX = re.compile(r" [✘✗x] (\S.*?)(?: \[\d+(?:\.\d+)? m?s\])?$")
_EXCEPTION = re.compile(r"[\w\\]*(?:Exception|Error): ")
_BAR = re.compile(r"   [│|┐├┴╵]|   $")
_PEST = re.compile(r"\s*(?:\[?FAILED\]?|FAILED)\s{1,4}(\S.*? > \S.*?)(?: {2,}(\S.*?))?\s*$")
_PEST_AT = re.compile(r"\s+at (\S+\.php):(\d+)")
_PEST_TOTAL = re.compile(r"\s+Tests: +(?:(\d+) failed)?.*passed.*assertions\)|\s+Tests: +(\d+) failed")
_PHPT_ROW = re.compile(r"(.+?) \[((?:[\w./-]+/)?[\w.-]+\.phpt)\](?: .*)?$")


def _item(text: str) -> tuple[int, str] | None:
    item = _ITEM.match(text)
    return (int(item[1]), item[2]) if item else None


def _ends(text: str) -> bool:
    return text.startswith(_ENDS) or text == "--" or _THERE.match(text) is not None


class PhpUnit:
    name: ClassVar[str] = "phpunit"
    wakes: ClassVar[tuple[str, ...]] = (
        "There was ",
        "There were ",
        ", Assertions: ",
        "OK (",
        "FAILED ",
        "FAILED\x1b",
        "PHPUnit ",
        " ✘ ",
        " \x1b[31m✘",
        "FAILED TEST SUMMARY",
    )

    def __init__(self) -> None:
        self._list: NumberedList | None = None
        self._kind = ""
        self._pest: Found | None = None
        self._text = Block()
        self._phpt = False
        self._phpt_lines = 0
        self._dox: list[Found] = []
        self._in_dox = False
        self._listed = False
        self._php = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._list is not None:
            if self._list.feed(line):
                return True
            self._close(out)
        there = _THERE.match(text)
        if there:
            self._listed = True
            out.started()
            self._kind = there[2]
            self._list = NumberedList(_item, _ends)
            return True
        if text.startswith("FAILED TEST SUMMARY"):
            self._phpt, self._phpt_lines = True, 0
            return True
        if self._phpt:
            return self._in_phpt(line, out)
        pest = _PEST.match(text) if "FAILED" in text else None
        if pest and not text.startswith(("FAILED tests/", "FAILED test")):
            self._end_pest(out)
            self._pest, self._text = (
                Found(pest[1].strip(), message=pest[2] or "", rank=1, at=line, framework="pest"),
                Block(),
            )
            return True
        if self._pest is not None:
            if _PEST_TOTAL.match(text) or line.level is not None:
                self._end_pest(out)
                return False
            self._text.add(text)
            return True
        if self._testdox(line):
            return True
        self._totals(text, out)
        return False

    def _testdox(self, line: Line) -> bool:
        """Rows of `--testdox`; they count where the run prints no numbered list."""
        row = _TESTDOX.match(line.text)
        if row:
            self._dox.append(Found(row[1], at=line))
            self._in_dox = True
        elif self._in_dox and _BAR.match(line.text) and not self._listed:
            text = line.text[4:].strip()
            found = self._dox[-1]
            found.detail = [*found.detail, text]
            found.message = found.message or text
            found.kind = "error" if _EXCEPTION.match(found.message) else "fail"
            place = _PLACE.match(text)
            if place and found.line is None:
                found.file, found.line = place[1], int(place[2])
        else:
            self._in_dox = False
        return self._in_dox

    def end(self, out: Sink) -> None:
        self._close(out)
        if self._php and not self._listed:
            for found in self._dox:
                out.failure(found)
        self._end_pest(out)

    def _totals(self, text: str, out: Sink) -> None:
        total = _TOTAL.match(text)
        ok = _OK.match(text)
        if total:
            out.total(sum(int(number) for _, number in _COUNT.findall(total[2])), int(total[1]))
        elif ok:
            self._php = True
            out.total(0, int(ok[1]))
        elif text.startswith("PHPUnit "):
            self._php = True
            out.started()

    def _close(self, out: Sink) -> None:
        items, self._list = (self._list.items if self._list else []), None
        if self._kind not in ("failure", "error", "PHPUnit error"):
            return
        for item in items:
            lines = item.text.lines
            found = Found(
                item.title,
                "error" if self._kind == "error" else "fail",
                at=item.line,
                detail=lines,
                message=item.text.first(),
            )
            _put_place(found, lines)
            out.failure(found)

    def _end_pest(self, out: Sink) -> None:
        found, self._pest = self._pest, None
        if found is None:
            return
        lines = self._text.lines
        found.detail, found.message = lines, self._text.first() or found.message
        for text in lines:
            place = _PEST_AT.match(text)
            if place:
                found.file, found.line = place[1], int(place[2])
                break
        out.failure(found)

    def _in_phpt(self, line: Line, out: Sink) -> bool:
        self._phpt_lines += 1
        row = _PHPT_ROW.match(line.text)
        if row:
            out.failure(Found(row[2], message=row[1], file=row[2], rank=2, framework="phpt", at=line))
        elif line.text.startswith("=====") and self._phpt_lines > 2:
            self._phpt = False
        return self._phpt and self._phpt_lines < 5000


def _put_place(found: Found, lines: list[str]) -> None:
    """The frame in the test class's own file, else the last frame that is not in vendor."""
    places = [Place(row[1], int(row[2])) for row in map(_PLACE.match, lines) if row]
    name = found.id.split("::", 1)[0].rsplit("\\", 1)[-1]
    own = [place for place in places if place.file.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0] == name]
    project = [place for place in places if "/vendor/" not in place.file.replace("\\", "/")]
    if not places:
        return
    place = (own or project or places)[0]
    if not own and project:
        place = next((one for one in project if re.search(r"[Tt]est", one.file.rsplit("/", 1)[-1])), project[-1])
    found.file, found.line = place.file, place.line
