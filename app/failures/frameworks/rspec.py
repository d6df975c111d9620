"""RSpec and Crystal's spec: the numbered list of failures, load errors, and the list of failed examples."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.numbered import NumberedList
from app.failures.places import choose, places_in

_ITEM = re.compile(r"\s{1,4}(\d+)\) (\S.*)$")
_EUNIT = re.compile(r"\w+:\w+/\d+")  # rebar3 prints EUnit's failures in RSpec's words
_EXAMPLES = re.compile(
    r"(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?"
)
_LISTED = re.compile(r"rspec '?(\S+?(?::\d+|\[[\d:,]+\]))'? # (\S.*)$")
_LOAD = re.compile(
    r"An error occurred (?:while loading|in an? `?(?:before|after|around)\(?[\w:( ]*\)?`? hook)[^.]*?(?: (\S+?))?\.?$"
)
_PLACE = re.compile(r"\s*# (\S+?):(\d+)")
_DIFF = re.compile(r"\s*Failure/Error: (.*)$")


def _item(text: str) -> tuple[int, str] | None:
    item = _ITEM.match(text)
    return (int(item[1]), item[2]) if item else None


def _rspec_ends(text: str) -> bool:
    return (
        text.startswith(("Finished in ", "Failed examples:", "Top ", "Randomized with", "rspec "))
        or _EXAMPLES.match(text) is not None
    )


class Rspec:
    name: ClassVar[str] = "rspec"
    wakes: ClassVar[tuple[str, ...]] = (
        "Failed examples:",
        " examples, ",
        " example, ",
        "An error occurred ",
        "rspec ./",
        "rspec '",
    )
    shapes: ClassVar[tuple[str, ...]] = (r"(?m)Failures:[ \r]*(?:\x1b\[[0-9;]*m)*[ \r]*$",)

    def __init__(self) -> None:
        self._list: NumberedList | None = None
        self._found: list[Found] = []
        self._rows: list[Found] = []
        self._load: Found | None = None
        self._text = Block()
        self._ran: int | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._list is not None:
            if self._list.feed(line):
                return True
            self._close()
        if text.strip() == "Failures:":
            self._end_load(out)
            self._end_run(out)
            out.started()
            self._list = NumberedList(_item, _rspec_ends)
            return True
        total = _EXAMPLES.match(text)
        if total:
            return self._total(total, out)
        listed = _LISTED.match(text) if text.startswith("rspec ") else None
        if listed:
            file, _, number = listed[1].partition(":")
            self._rows.append(
                Found(
                    listed[2], file=file.split("[")[0], line=int(number) if number.isdigit() else None, rank=2, at=line
                )
            )
            return False
        load = _LOAD.match(text)
        if load:
            self._end_load(out)
            self._end_run(out)
            self._load, self._text = (
                Found(load[1] or text, "collection_error" if "loading" in text else "error", at=line),
                Block(),
            )
            if "loading" in text:
                self._load.id = text.split("while loading ", 1)[1].rstrip(".")
            return True
        if self._load is not None:
            self._text.add(text)
            return True
        return False

    def end(self, out: Sink) -> None:
        self._close()
        self._end_load(out)
        self._report(out)

    def _total(self, total: re.Match[str], out: Sink) -> bool:
        """The count; the rows of the failed examples stand below it."""
        self._end_load(out)
        self._end_run(out)
        out.started()
        self._ran = int(total[1])
        return False

    def _end_run(self, out: Sink) -> None:
        if self._ran is not None:
            self._report(out)

    def _close(self) -> None:
        items, self._list = (self._list.items if self._list else []), None
        for item in items:
            lines = item.text.lines
            if (
                not any("Failure/Error:" in text or "Expected pending" in text for text in lines[:12])
                and " FIXED" not in item.title
            ):
                continue
            title = item.title
            if _EUNIT.match(title):
                continue
            if " FIXED" in title and title.endswith("FIXED"):
                title = title.removesuffix(" FIXED")
            found = Found(title, at=item.line, detail=lines)
            at = next((at for at, text in enumerate(lines) if _DIFF.match(text)), None)
            body = [
                text.strip()
                for text in lines[at + 1 if at is not None else 0 :]
                if text.strip() and not _PLACE.match(text)
            ]
            found.message = next(
                (text for text in body if not text.startswith(("Shared Example Group", "Called from"))), ""
            )
            if "Expected pending" in " ".join(lines[:4]) or "FIXED" in item.title:
                found.kind = "unexpected_success"
            places = [
                place
                for place in places_in(lines)
                if place.file.endswith((".rb", ".feature", ".erb", ".haml", ".slim", ".cr"))
            ]
            spec = [place for place in places if place.file.endswith(("_spec.rb", "_spec.cr"))]
            place = spec[0] if spec else choose(places)
            if place:
                found.file, found.line = place.file, place.line
            self._found.append(found)

    def _end_load(self, out: Sink) -> None:
        found, self._load = self._load, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        errors = [
            text.strip()
            for text in lines
            if re.match(r"\s*(?:[A-Z]\w*(?:::\w+)*(?:Error|Exception)?:|cannot load)", text)
        ]
        body = [text.strip() for text in lines if text.strip() and not text.strip().startswith(("#", "Failure/Error"))]
        found.message = " ".join(errors[:1] or body[:1])
        if errors and errors[0].endswith(":"):
            follow = lines[[text.strip() for text in lines].index(errors[0]) + 1 :]
            found.message = f"{errors[0]} {next((text.strip() for text in follow if text.strip()), '')}"
        place = choose(places_in(lines), test_file=found.id)
        if place:
            found.file, found.line = place.file, place.line
        elif found.id.endswith(".rb"):
            found.file = found.id
        out.failure(found)

    def _report(self, out: Sink) -> None:
        names = {found.id for found in self._found}
        for found in self._found:
            row = next((row for row in self._rows if row.id == found.id), None)
            if row and found.line is None:
                found.file, found.line = row.file, row.line
            out.failure(found)
        for row in self._rows:
            if row.id not in names:
                out.failure(row)
        if self._ran is not None:
            out.total(None, self._ran)
        self._found, self._rows, self._ran = [], [], None
