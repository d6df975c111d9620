"""ExUnit, Common Test and EUnit."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_EXUNIT = re.compile(r"\s{1,4}(\d+)\) (test|doctest|property|feature) (.+) \(([\w.]+)\)$")
_SETUP_ALL = re.compile(r"\s{1,4}(\d+)\) ([\w.]+): failure on setup_all callback, all tests have been invalidated$")
_PLACE = re.compile(r"\s{4,6}(\S+\.exs?):(\d+)(?::.*)?$")
_TOTAL = re.compile(r"(?:\d+ doctests?, )?(?:\d+ propert(?:y|ies), )?(\d+) tests?, (\d+) failures?")
_CT_ROW = re.compile(r"(?:%%% )?(\w+_SUITE) ==> (?:[\w. ()]+\.)?(\w+): (FAILED|OK|SKIPPED)")
_EUNIT = re.compile(
    r"(?:\s*)([\w]+): (\w+)(?:_test_?)?(?: \(.*\))?\s*\.{3,}\s*\*failed\*|([\w]+):([\w]+_test_?)(?:/0)?.*\*failed\*"
)
_EUNIT_PLACE = re.compile(r"in function .* \(([^,()]+\.erl), line (\d+)\)")
_CT_FAILED = re.compile(r"(\w+_SUITE):(\w+) failed on line (\d+)")
_PROGRESS = re.compile(r"\s{1,4}\d+\) (\w+):(\w+?)/\d+(?:_\d+)?(?::.*)?$")
_PROGRESS_PLACE = re.compile(r"\s+%% (\S+\.erl):(\d+):in ")
_LINES = 300


class Beam:
    name: ClassVar[str] = "exunit"
    wakes: ClassVar[tuple[str, ...]] = (
        ") test ",
        ") doctest ",
        ") property ",
        ") feature ",
        "setup_all callback",
        " tests, ",
        " test, ",
        "_SUITE",
        "_test/0",
        "_test_/0",
        "*failed*",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._lines = 0

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        begun = _begun(line)
        if begun is not None:
            self._store(out)
            self._found, self._text, self._lines = begun, Block(), 0
            return True
        total = _TOTAL.match(text.strip()) if " failure" in text else None
        if total:
            self._store(out)
            out.total(int(total[2]), int(total[1]))
            return False
        if self._found is None:
            return False
        self._lines += 1
        if (
            self._lines > _LINES
            or line.level is not None
            or text.startswith(("Finished in ", "==> ", "Randomized with", "%%% "))
        ):
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
        lines = self._text.lines
        found.detail = lines
        place = next(filter(None, map(_PLACE.match, lines)), None)
        erlang = next(filter(None, map(_EUNIT_PLACE.search, lines)), None)
        erlang = erlang or next(filter(None, map(_PROGRESS_PLACE.match, lines)), None)
        if place:
            found.file, found.line = place[1], int(place[2])
        elif erlang:
            found.file, found.line = erlang[1], int(erlang[2])
        body = [text.strip() for text in lines if text.strip() and not _PLACE.match(text)]
        found.message = body[0] if body else ""
        if found.message in ("Assertion with == failed", "Assertion failed") and len(body) > 1:
            found.message = f"{found.message} {body[1]}"
        out.failure(found)


def _begun(line: Line) -> Found | None:
    """The test whose block begins with this line."""
    text = line.text
    if row := _EXUNIT.match(text):
        return Found(f"{row[2]} {row[3]} ({row[4]})", at=line)
    if hook := _SETUP_ALL.match(text):
        return Found(hook[2], "error", at=line)
    if (row := _CT_ROW.match(text)) and row[3] == "FAILED":
        return Found(f"{row[1]}:{row[2]}", at=line, framework="common-test")
    if row := _CT_FAILED.match(text):
        return Found(f"{row[1]}:{row[2]}", line=int(row[3]), at=line, framework="common-test")
    if row := _PROGRESS.match(text):
        return Found(f"{row[1]}:{row[2]}", at=line, framework="eunit")
    if row := _EUNIT.match(text):
        name = f"{row[1]}:{row[2]}" if row[1] else f"{row[3]}:{row[4]}"
        return Found(name, at=line, framework="eunit")
    return None
