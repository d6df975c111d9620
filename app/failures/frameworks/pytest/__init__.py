"""pytest: reads sections, progress rows and the short summary; the session puts them together."""

import re
from collections.abc import Callable
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.pytest.crash import Crash
from app.failures.frameworks.pytest.session import Row, Section, Session

_RULE = re.compile(r"=+ (\S.{0,60}?) =+$")
_HEADER = re.compile(r"_+ (\S.*?) _+$")
_PROGRESS = re.compile(r"([^\s:]+::\S.*) (FAILED|ERROR|RERUN|XPASS)(?: +\[ *\d+%\]| +\(.*\))? *$")
_XDIST = re.compile(r"\[gw\d+\] (?:\[ *\d+%\] )?(FAILED|ERROR|RERUN) (\S.*)$")
_SUMMARY = re.compile(
    r"(FAILED|FAIL|ERROR|RERUN|SUBFAIL(?:ED)?)((?:\[[^\]]*\]|\([^)]*\)|,)* (?:\[[^\]]*\] |\([^)]*\) )*)(\S.*)$"
)
_BARE_ROW = re.compile(r"(FAILED|ERROR) ([^\s:]+\.py(?:::\S.*)?)$")
_FINAL = re.compile(
    r"(?:=+ )?((?:\d+ (?:failed|passed|skipped|deselected"
    r"|xfailed|xpassed|warnings?|errors?|rerun|subtests passed"
    r"|selected)"
    r"(?:, )?)+|no tests (?:ran|collected)(?:, \d+ \w+)*|\d+ tests? (?:ran|collected).{0,60})"
    r" in [\d.:]+ ?(?:s\b|seconds)?.*$"
)
_COUNT = re.compile(r"\b(\d{1,9}) (failed|errors?|passed|rerun|subtests passed|xpassed)")
_STOPPED = re.compile(
    r"!+ (Interrupted: .*|stopping after .*|_pytest\.outcomes\.Exit: .*"
    r"|xdist\.dsession\.Interrupted: .*|.*KeyboardInterrupt.*) !+$"
)
_LOST_ROWS = 400


class Pytest:
    """One detector for all reporters of pytest, inside tox and nox too."""

    name: ClassVar[str] = "pytest"
    wakes: ClassVar[tuple[str, ...]] = (
        "FAILED",
        "ERROR ",
        "ERROR\x1b",
        "= FAILURES =",
        "= ERRORS =",
        "short test summary info",
        "test session starts",
        " RERUN",
        "Fatal Python error",
        "INTERNALERROR>",
        "Interrupted: ",
        "! stopping after",
        "++ Timeout ++",
        "passed in ",
        "failed in ",
        "error in ",
        "errors in ",
        "skipped in ",
        "warnings in ",
        "warning in ",
        "no tests ran",
        "deselected in ",
        "xfailed in ",
        "xpassed in ",
        "rerun in ",
        " passed\x1b",
        " failed\x1b",
        " error\x1b",
        " errors\x1b",
        " warning\x1b",
        " warnings\x1b",
        " skipped\x1b",
        "usage: ",
        "file or directory not found: ",
    )

    def __init__(self) -> None:
        self._state: Callable[[Line, Sink], bool] = self._idle
        self._session = Session()
        self._section = Section("FAILURES", 80)
        self._crash: Crash | None = None
        self._lost = 0
        self._crashes: list[Found] = []

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if text.startswith("INTERNALERROR>"):
            self._session.internal_error = text[14:].strip() or self._session.internal_error
            return False
        if "test session starts" in text and text.startswith("="):
            self._finish(out)
            out.started("pytest")
            self._session.started = True
            return False
        if self._crash is None and ("Fatal Python error: " in text or "+ Timeout +" in text):
            self._crash = Crash.begin(text, out.above(3))
        if self._crash is not None:
            if self._crash.feed(text):
                return True
            self._crash.report(self._session, line)
            self._crash = None
        final = _FINAL.match(text) if text[:1] in "=0123456789n" else None
        if final and (text[0] == "=" or self._session.begun):
            return self._end_session(final, out)
        return self._state(line, out)

    def end(self, out: Sink) -> None:
        if self._crash is not None:
            self._crash.report(self._session, out.line)
        self._finish(out)
        for crash in self._crashes:
            out.failure(crash)

    def _idle(self, line: Line, out: Sink) -> bool:
        text = line.text
        if text.startswith("="):
            return self._rule(text, line)
        if text.startswith("!"):
            stopped = _STOPPED.match(text)
            if stopped:
                self._session.stopped = stopped[1]
        elif text.startswith("ERROR: ") and ("usage: " in text or "file or directory not found" in text):
            out.cause("config_error", text)
            out.started("pytest")
        elif line.level is None and ("FAILED" in text or "ERROR" in text or "RERUN" in text):
            self._progress(text, line)
        return False

    def _progress(self, text: str, line: Line) -> None:
        row = _XDIST.match(text)
        if row:
            self._session.progress(row[2].rstrip(), row[1], line)
            return
        row = _PROGRESS.match(text)
        if row:
            self._session.progress(row[1].rstrip(), row[2], line)
            return
        row = _SUMMARY.match(text) if text.startswith(("FAILED ", "ERROR ")) else None
        if row and (".py::" in row[3].split(" - ", 1)[0] or _BARE_ROW.match(text)):
            self._session.loose.append(Row(row[1], row[3], line))

    def _rule(self, text: str, line: Line) -> bool:
        rule = _RULE.match(text)
        if rule is None:
            return self._state == self._in_section
        if rule[1] in ("FAILURES", "ERRORS"):
            self._session.begun = True
            self._section = Section(rule[1], len(text))
            self._state = self._in_section
            return True
        if rule[1] == "short test summary info":
            self._session.begun = True
            self._state, self._lost = self._in_summary, 0
            return True
        self._state = self._idle
        return False

    def _in_section(self, line: Line, out: Sink) -> bool:
        text = line.text
        rule = _RULE.match(text) if text.startswith("=") else None
        if rule and self._section.ends_at(rule[1], text):
            return self._rule(text, line)
        header = _HEADER.match(text) if text.startswith("_") else None
        title = header[1] if header and self._section.is_header(text, header[1]) else self._section.long_title(text)
        if title:
            self._section = self._section.next()
            self._session.blocks.append(self._section.open(title, line))
            return True
        if text.startswith("!"):
            stopped = _STOPPED.match(text)
            if stopped:
                self._session.stopped, self._state = stopped[1], self._idle
                return False
        return self._section.add(text)

    def _in_summary(self, line: Line, out: Sink) -> bool:
        text = line.text
        if text.startswith(("=", "!")) and text.endswith(("=", "!")):
            stopped = _STOPPED.match(text)
            if stopped:
                self._session.stopped = stopped[1]
                return True
            return self._rule(text, line)
        row = _SUMMARY.match(text)
        if row:
            self._session.summary.append(Row(row[1], row[3], line, row[2].strip()))
            self._lost = 0
            return True
        self._lost += 1
        if self._lost > _LOST_ROWS or line.level in ("error", "group"):
            self._state = self._idle
        return self._state == self._in_summary

    def _end_session(self, final: re.Match[str], out: Sink) -> bool:
        counts = {word.rstrip("s"): int(number) for number, word in _COUNT.findall(final[1])}
        if not self._session.started and not self._session.begun and not self._session.rows:
            out.started("pytest")
        self._session.total = counts.get("failed", 0) + counts.get("error", 0)
        self._session.ran = self._session.total + counts.get("passed", 0)
        self._session.none_ran = final[1].startswith("no tests ran")
        self._finish(out)
        return False

    def _finish(self, out: Sink) -> None:
        """Only the last crash counts: a command that is tried again after a crash runs the same tests (RP-6)."""
        self._crashes = self._session.crashes or self._crashes
        self._session.report(out)
        self._session, self._state = Session(), self._idle
