"""testthat (R), busted (Lua), luvit's tap, and shell runners that print one row for each test."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_TESTTHAT = re.compile(
    r"\s{0,4}(?:──|--|══) ?(?:\d+\. )?(Failure|Error) \(['‘]?(.+?):(\d+)(?::\d+)?['’]?\): (\S.*?) ?[─-]*\s*$"
)
_TESTTHAT_OLD = re.compile(
    r"\s{0,4}(?:──|--|[─-]+) ?(?:(\d+)\. )?(Failure|Error): (\S.*?) \(@?([\w.-]+\.[rR])#(\d+)\) *[─-]*\s*$"
)
_TESTTHAT_AT = re.compile(
    r"(?:\d+\. )?(Failure|Error)(?:\(at? (\S+)#(\d+)\)|\(@(\S+)#(\d+)\)): (\S.*?) -*\s*$"
    r"|\d+\. (Failure|Error) ?\(at (\S+)#(\d+)\): (\S.*?) -*\s*$"
)
_RESULTS = re.compile(
    r"\[ FAIL (\d+) \| WARN \d+ \| SKIP \d+ \| PASS (\d+) \]|OK: (\d+) SKIPPED: \d+ (?:WARNINGS: \d+ )?FAILED: (\d+)"
)
_BUSTED = re.compile(r"(Failure|Error) (?:→|->) (\S+?) @ (\d+)\s*$|(Failure|Error) → (\S.*?) @ (\d+)$")
_BUSTED_ROW = re.compile(
    r"\[  (FAILED|ERROR)   \] (\S+?)(?: @ (\d+))?: (\S.*?)(?: \([\d.]+ ms\))?$"
    r"|\[  (FAILED|ERROR)   \] (\S+\.lua):(\d+): (.*?)(?: \([\d.]+ ms\))?$"
)
_RULE = re.compile(r"(?:──|══|-{10,}|[─═]{5,})")


class TestThat:
    name: ClassVar[str] = "testthat"
    wakes: ClassVar[tuple[str, ...]] = (
        "Failure (",
        "Error (",
        "Failure: ",
        ". Error: ",
        " Error: ",
        "[ FAIL ",
        "FAILED: ",
        "Failure(",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        row, old, at = _TESTTHAT.match(text), _TESTTHAT_OLD.match(text), _TESTTHAT_AT.match(text)
        found = None
        if row:
            found = Found(row[4], "error" if row[1] == "Error" else "fail", file=row[2], line=int(row[3]))
        elif old:
            found = Found(old[3], "error" if old[2] == "Error" else "fail", file=old[4], line=int(old[5]))
        elif at:
            word, file, number, name = (
                (at[1], at[2] or at[4], at[3] or at[5], at[6]) if at[1] else (at[7], at[8], at[9], at[10])
            )
            found = Found(name, "error" if word == "Error" else "fail", file=file, line=int(number))
        if found is not None:
            self._store(out)
            found.at, self._found, self._text = line, found, Block()
            return True
        total = _RESULTS.search(text)
        if total:
            self._store(out)
            out.total(int(total[1] or total[4]), None)
            return False
        if self._found is None:
            return False
        if line.level is not None or _RULE.match(text) or len(self._text.lines) > 200:
            self._store(out)
            return False
        self._text.add(text)
        return True

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is not None:
            found.detail, found.message = self._text.lines, self._text.first()
            out.failure(found)


class Busted:
    name: ClassVar[str] = "busted"
    wakes: ClassVar[tuple[str, ...]] = (
        "Failure →",
        "Error →",
        "Failure ->",
        "Error ->",
        "[  FAILED   ]",
        "[  ERROR   ]",
    )

    def __init__(self) -> None:
        self._place: tuple[str, int] | None = None
        self._word = ""
        self._found: Found | None = None
        self._text = Block()

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        head = _BUSTED.match(text)
        if head:
            self._store(out)
            self._word = head[1] or head[4]
            self._place = (head[2] or head[5], int(head[3] or head[6]))
            return True
        row = _BUSTED_ROW.match(text)
        if row:
            self._store(out)
            word, file, number, name = (row[1], row[2], row[3], row[4]) if row[1] else (row[5], row[6], row[7], row[8])
            out.failure(
                Found(name, "error" if word == "ERROR" else "fail", file=file, line=int(number) if number else None)
            )
            return False
        if self._place is not None and text.strip():
            name = text.strip()
            self._found = Found(
                name, "error" if self._word == "Error" else "fail", file=self._place[0], line=self._place[1], at=line
            )
            if name.startswith("suite "):
                self._found.kind = "suite_error"
            self._place, self._text = None, Block()
            return True
        if self._found is not None and text.strip() and len(self._text.lines) < 100 and line.level is None:
            self._text.add(text)
            return True
        self._store(out)
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._found, self._place = self._found, None, None
        if found is not None:
            found.detail, found.message = self._text.lines, self._text.first()
            out.failure(found)
