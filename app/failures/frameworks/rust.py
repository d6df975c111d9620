"""cargo test and nextest: rows, stdout blocks, panics and the lists of failures."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_ROW = re.compile(
    r"test (.+?)(?: - should panic| - compile fail"
    r"| - compile| - no run)? \.\.\. (FAILED|failed)(?: \(.*\)"
    r"| <[\d.]+s>)?$"
)
_BLOCK = re.compile(r"---- (.+?) (stdout|stderr|output) ----$")
_LISTED = re.compile(r"    (\S.*)$")
_PANIC = re.compile(r"thread '(.+?)'(?: \(\d+\))? panicked at (?:'(.*)', )?([^\s:']+\.rs):(\d+):\d+:?$")
_OLD_PANIC = re.compile(r"thread '(.+?)' panicked at '(.*)$")
_RESULT = re.compile(r"test result: (ok|FAILED)\. (\d+) passed; (\d+) failed")
_NEXTEST = re.compile(
    r"\s+(?:TRY \d+ )?(FAIL|SIGABRT|SIGSEGV|SIGKILL|TIMEOUT"
    r"|ABORT|LEAK-FAIL|TMT) \[\s*>?[\d.]+s\](?: \(\s*\d+/\d+\))? +(\S+) (\S.*)$"
)
_FLAKY = re.compile(r"\s+FLAKY \d+/\d+ \[.*?\](?: \(\s*\d+/\d+\))? +(\S+) (\S.*)$")
_SUMMARY = re.compile(
    r"\s+Summary \[.*\] (\d+) tests? run: (\d+) passed(?: \(.*?\))?(?:, (\d+) failed)?(?:, (\d+) timed out)?"
)
_DOCTEST = re.compile(r"(\S+\.(?:rs|md)) - .*\(line (\d+)\)")


class Rust:
    name: ClassVar[str] = "cargo-test"
    wakes: ClassVar[tuple[str, ...]] = (
        " ... FAILED",
        " ... \x1b[31mFAILED",
        "failures:",
        "test result: ",
        " stdout ----",
        "FAIL [",
        "SIGABRT [",
        "SIGSEGV [",
        "TIMEOUT [",
        "FLAKY ",
        "     Summary [",
        " panicked at ",
    )

    def __init__(self) -> None:
        self._found: dict[str, Found] = {}
        self._open: Found | None = None
        self._text = Block()
        self._listing = False
        self._next: dict[str, Found] = {}
        self._quiet = 0

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        block = _BLOCK.match(text) if text.startswith("---- ") else None
        if block:
            self._store()
            self._listing = False
            self._open = self._found.setdefault(block[1], Found(block[1], at=line))
            self._text = Block()
            return True
        if text == "failures:":
            self._store()
            self._listing = True
            return True
        result = _RESULT.match(text)
        if result:
            return self._result(result, out)
        if self._listing:
            listed = _LISTED.match(text)
            if listed:
                self._found.setdefault(listed[1], Found(listed[1], at=line)).rank = 2
            return listed is not None or not text.strip()
        if self._open is not None:
            self._text.add(text)
            return True
        row = _ROW.match(text) if text.startswith("test ") else None
        if row:
            self._found.setdefault(row[1], Found(row[1], rank=0, at=line))
            return False
        return self._nextest(line, out)

    def end(self, out: Sink) -> None:
        self._report(out)
        for found in self._next.values():
            _finish(found, list(found.detail))
            out.failure(found)

    def _nextest(self, line: Line, out: Sink) -> bool:
        text = line.text
        row = _NEXTEST.match(text)
        if row:
            kinds = {"TIMEOUT": "timeout", "TMT": "timeout", "FAIL": "fail", "LEAK-FAIL": "fail"}
            kind = kinds.get(row[1], "crash")
            found = Found(row[3].strip(), rank=2, scope=row[2], at=line, framework="nextest")
            found.kind = "timeout" if kind == "timeout" else "crash" if kind == "crash" else "fail"
            known = self._next.setdefault(f"{row[2]} {found.id}", found)
            out.started("nextest")
            self._last = known
            self._quiet = 0
            return True
        flaky = _FLAKY.match(text)
        if flaky:
            known = self._next.setdefault(
                f"{flaky[1]} {flaky[2].strip()}", Found(flaky[2].strip(), at=line, framework="nextest")
            )
            known.flaky = True
            return False
        summary = _SUMMARY.match(text)
        if summary:
            out.started("nextest")
            self._quiet = 500
            return False
        if self._next and self._quiet < 300 and line.level is None:
            self._quiet += 1
            self._last.detail = [*self._last.detail, text] if len(self._last.detail) < 300 else self._last.detail
            return True
        return False

    def _result(self, result: re.Match[str], out: Sink) -> bool:
        self._report(out)
        out.total(int(result[3]), int(result[2]) + int(result[3]), self.name)
        return False

    def _store(self) -> None:
        found, self._open = self._open, None
        if found is not None:
            found.rank = max(found.rank, 1)
            _finish(found, self._text.lines)

    def _report(self, out: Sink) -> None:
        self._store()
        for found in self._found.values():
            out.failure(found)
        self._found, self._listing = {}, False


def _finish(found: Found, lines: list[str]) -> None:
    """Message and place from the panic, else from the first line."""
    found.detail = lines
    lines = [text.strip() for text in lines]
    for at, text in enumerate(lines):
        panic = _PANIC.match(text)
        if panic:
            found.file, found.line = panic[3], int(panic[4])
            rest = panic[2] or next((line.strip() for line in lines[at + 1 :] if line.strip()), "")
            found.message = rest
            return
        old = _OLD_PANIC.match(text)
        if old:
            found.message = old[2]
            place = re.search(r"', ([^\s:']+\.rs):(\d+):\d+$", "\n".join(lines[at : at + 40]))
            tail = (
                next(
                    (re.search(r"', ([^\s:']+\.rs):(\d+):\d+$", line) for line in lines[at : at + 60] if "', " in line),
                    None,
                )
                or place
            )
            if tail:
                found.file, found.line = tail[1], int(tail[2])
            return
    found.message = next((text.strip() for text in lines if text.strip()), "")
    doc = _DOCTEST.match(found.id)
    if doc:
        found.file, found.line = doc[1], int(doc[2])
