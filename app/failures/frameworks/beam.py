"""ExUnit, Common Test and EUnit."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_EXUNIT = re.compile(r"\s{1,4}(\d+)\) (test|doctest|property|feature) (.+) \(([\w.]+)\)$")
_SETUP_ALL = re.compile(r"\s{1,4}(\d+)\) ([\w.]+): failure on setup_all callback, all tests have been invalidated$")
_PLACE = re.compile(r"\s{4,6}(\S+\.exs?):(\d+)(?::.*)?$")
_TOTAL = re.compile(r"(?:\d+ doctests?, )?(?:\d+ propert(?:y|ies), )?(\d+) tests?, (\d+) failures?")
_CT = re.compile(
    r"(?:%%% |Testing [\w./-]+: )?(\w+_SUITE)(?:(?: ==> "
    r"| ?[:.])(?:[\w.]+\.)?)(\w+)(?: \(.*\))?:? ?(?:FAILED"
    r"|\*\*\* FAILED)"
)
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
        row = _EXUNIT.match(text)
        hook = None if row else _SETUP_ALL.match(text)
        if row or hook:
            self._store(out)
            name = f"{row[2]} {row[3]} ({row[4]})" if row else hook[2] if hook else ""
            self._found = Found(name, "fail" if row else "error", at=line)
            self._text, self._lines = Block(), 0
            return True
        total = _TOTAL.match(text.strip()) if " failure" in text else None
        if total:
            self._store(out)
            out.total(int(total[2]), int(total[1]))
            return False
        ct = _CT_ROW.match(text)
        if ct and ct[3] == "FAILED":
            self._store(out)
            self._found = Found(f"{ct[1]}:{ct[2]}", at=line, framework="common-test")
            self._text, self._lines = Block(), 0
            return True
        failed = _CT_FAILED.match(text)
        progress = None if failed else _PROGRESS.match(text)
        if failed or progress:
            self._store(out)
            row = failed or progress
            assert row is not None
            self._found = Found(f"{row[1]}:{row[2]}", at=line, framework="common-test" if failed else "eunit")
            if failed:
                self._found.line = int(failed[3])
            self._text, self._lines = Block(), 0
            return True
        eunit = _EUNIT.match(text)
        if eunit:
            self._store(out)
            name = f"{eunit[1]}:{eunit[2]}" if eunit[1] else f"{eunit[3]}:{eunit[4]}"
            self._found = Found(name, at=line, framework="eunit")
            self._text, self._lines = Block(), 0
            return True
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
