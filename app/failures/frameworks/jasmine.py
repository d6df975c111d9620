"""jasmine's list of failures, and karma's `FAILED` rows in any browser."""

import re
from collections.abc import Iterable
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.numbered import NumberedList
from app.failures.places import choose, places_in

_BROWSER = (
    r"(?:Headless ?)?[A-Z][A-Za-z]+(?: Headless)?(?: Mobile| Canary| WebDriver)? [\d.]+ \([^()]*(?:\([^()]*\))?[^()]*\)"
)
_KARMA = re.compile(rf"\s*(?:✖ )?({_BROWSER}):? (\S.*?) FAILED\s*$")
_NOT_ROW = re.compile(r"Executed \d+ of|\(skipped |ERROR$|LOG: |WARN: ")
_KARMA_END = re.compile(
    rf"{_BROWSER}:? (?:Executed|\S.* (?:FAILED|SUCCESS)\s*$)|Executed \d+ of|TOTAL|Finished in|npm ERR!|\d+ \d+ \d+ "
)
_EXECUTED = re.compile(
    rf"(?:{_BROWSER}: )?Executed (\d+) of (\d+) .*?\((\d+) FAILED\)|(?:{_BROWSER}: )?Executed (\d+) of (\d+) .*SUCCESS"
)
_BROWSER_LINE = re.compile(rf"\s*{_BROWSER}\s*$")
_DISCONNECTED = re.compile(
    r".* (?:Disconnected|DISCONNECTED)(?:\b|$)|.*have not captured in|.*Cannot start (?:Chrome|Firefox|PhantomJS)"
)
_ITEM = re.compile(r"(\d+)\) (\S.*)$")
_TOTAL = re.compile(r"(\d+) specs?, (\d+) failures?")
_SPEC_ROW = re.compile(r"( {2,})✗ (\S.*?)(?: \([A-Z][\w .]*\)| \([\d.]+ ?m?s\))*\s*$")
_STACK = re.compile(r"\t|\s{6,}(?:at |Expected )")
_TREE = re.compile(r"(\s*)(✖ )?(\S.*)$")


def _item(text: str) -> tuple[int, str] | None:
    item = _ITEM.match(text)
    return (int(item[1]), item[2]) if item else None


def _list_ends(text: str) -> bool:
    return (
        text.startswith(("Pending:", "Finished in ", "Incomplete: ", "Executed ", "Suite error", "Ran "))
        or _TOTAL.match(text) is not None
    )


class Jasmine:
    name: ClassVar[str] = "jasmine"
    wakes: ClassVar[tuple[str, ...]] = (
        " FAILED",
        "FAILED\x1b",
        "FAILED TESTS:",
        " specs, ",
        " spec, ",
        "Disconnected",
        "DISCONNECTED",
        "have not captured",
        "  ✗ ",
        "✗\x1b",
        " FAILED) (",
    )
    shapes: ClassVar[tuple[str, ...]] = (r"(?m)Failures:[ \r]*(?:\x1b\[[0-9;]*m)*[ \r]*$",)

    def __init__(self) -> None:
        self._list: NumberedList | None = None
        self._karma: Found | None = None
        self._text = Block()
        self._tree: list[tuple[int, str]] | None = None
        self._depth = 0
        self._told = False
        self._specs: list[Found] = []
        self._karma_failed = self._karma_rows = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._list is not None:
            if self._list.feed(line):
                return True
            self._close(out)
        if text.rstrip() == "Failures:":
            self._list = NumberedList(_item, _list_ends)
            return True
        if text.strip() == "FAILED TESTS:":
            self._tree = []
            return True
        if self._tree is not None:
            return self._in_tree(line, out)
        row = _KARMA.match(text) if text.rstrip().endswith("FAILED") else None
        if row and not _NOT_ROW.search(row[2]):
            self._end_row(out)
            out.started("karma")
            self._karma_rows = True
            self._karma, self._text = Found(row[2], at=line, framework="karma"), Block()
            return True
        if _DISCONNECTED.match(text) and re.search(_BROWSER, text):
            out.cause("timeout", text)
        if self._karma is not None and not _KARMA_END.match(text) and line.level is None:
            self._text.add(text)
            return True
        self._end_row(out)
        spec = _SPEC_ROW.match(text) if "✗" in text else None
        if spec:
            self._specs.append(
                Found(" ".join([*_suites(out.above(300), len(spec[1])), spec[2]]), at=line, framework="karma")
            )
        elif self._specs and _STACK.match(text):
            self._specs[-1].detail = [*self._specs[-1].detail, text][:100]
            return True
        self._totals(text, out)
        return spec is not None

    def end(self, out: Sink) -> None:
        """Rows of karma-spec-reporter count where karma prints its total and no row in its own words."""
        self._close(out)
        self._end_row(out)
        for found in self._specs if self._karma_failed and not self._karma_rows else []:
            found.message = next((text.strip() for text in found.detail if text.strip()), "")
            _place(found, list(found.detail))
            out.failure(found)

    def _totals(self, text: str, out: Sink) -> None:
        executed = _EXECUTED.match(text)
        self._karma_failed = self._karma_failed or bool(executed and executed[3])
        total = _TOTAL.match(text)
        if total:
            out.total(int(total[2]), int(total[1]), "jasmine")

    def _close(self, out: Sink) -> None:
        items, self._list = (self._list.items if self._list else []), None
        for item in items:
            lines = item.text.lines
            if not any(text.strip() in ("Message:", "Stack:") for text in lines):
                continue
            at = next((at for at, text in enumerate(lines) if text.strip() == "Message:"), -1)
            message = next((text.strip() for text in lines[at + 1 :] if text.strip()), "")
            found = Found(item.title, message=message, detail=lines, at=item.line)
            _place(found, lines)
            out.failure(found)

    def _end_row(self, out: Sink) -> None:
        found, self._karma = self._karma, None
        if found is not None:
            lines = self._text.lines
            found.message, found.detail = self._text.first(), lines
            _place(found, lines)
            out.failure(found)

    def _in_tree(self, line: Line, out: Sink) -> bool:
        """karma-mocha-reporter: suites by indentation, `✖ name`, the browsers that failed, then the message."""
        assert self._tree is not None
        row = _TREE.match(line.text)
        if row is None:
            return True
        depth = len(row[1])
        if line.level or depth == 0:
            self._end_row(out)
            self._tree = None
            return False
        if row[2]:
            self._end_row(out)
            names = [name for indent, name in self._tree if indent < depth]
            self._karma = Found(" ".join([*names, row[3]]), at=line, rank=2, framework="karma")
            self._text, self._depth, self._told = Block(), depth, False
        elif _BROWSER_LINE.match(line.text):
            self._told = True
        elif self._karma is not None and self._told and depth >= self._depth:
            self._text.add(line.text)
        else:
            self._end_row(out)
            self._tree = [(indent, name) for indent, name in self._tree if indent < depth] + [(depth, row[3])]
        return True


def _suites(above: Iterable[str], depth: int) -> list[str]:
    """The suites above a row, outermost first, by their indentation."""
    names: list[str] = []
    for text in above:
        indent = len(text) - len(text.lstrip())
        if (
            text.strip()
            and indent < depth
            and not _SPEC_ROW.match(text)
            and not text.lstrip().startswith(("✓", "-", "at "))
            and text[0] != "\t"
        ):
            names.insert(0, text.strip())
            depth = indent
        if depth <= 2:
            break  # the reporter indents its outermost suites by two
    return names


def _place(found: Found, lines: list[str]) -> None:
    place = choose(places_in(lines))
    if place:
        found.file, found.line = place.file, place.line
