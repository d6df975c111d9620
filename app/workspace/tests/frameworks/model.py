"""What a framework needs to be started and what it says afterwards."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from app.workspace.sandbox.model import Result, Sandbox, Workspace
from app.workspace.tests.execute import Command
from app.workspace.tests.json_lines import is_foreign, json_lines
from app.workspace.tests.model import Outcome

DETAIL = 3000
_TIMEOUT = re.compile(
    r"(?i)\btimeout (?:>|of|after|exceeded|\()|\btimed ?out\b|exceeded (?:the )?time|TestTimedOutException|"
    r"deadline exceeded"
)


@dataclass(frozen=True)
class Row:
    """One test of a report, under the id that the corpus of proof.md, 5.1 uses for its framework."""

    id: str
    outcome: Outcome
    detail: str = ""
    retried: bool = False

    @property
    def by_time(self) -> bool:
        """A time limit of its own ended it (PN-10)."""
        return self.outcome != "passed" and _TIMEOUT.search(self.detail) is not None


@dataclass(frozen=True)
class Said:
    """All rows of one report. `broken` are places (file, module, package, "" for all) that could not be loaded.

    `forged` are ids with more rows than the runner wrote, "" when that cannot be told of single ones (PG109).
    """

    rows: tuple[Row, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    forged: frozenset[str] = frozenset()


NO_REPORT = Said(complete=False)
ALL_FORGED = frozenset({""})


@dataclass(frozen=True)
class Ground:
    """The tree before anything ran in it, and where things will be seen inside. `paths` are all its files."""

    files: Path
    place: Workspace
    sandbox: Sandbox
    tools: str
    paths: tuple[str, ...]

    def seen(self, inside: str) -> str:
        return self.sandbox.seen(self.place, inside)


class Unavailable(Exception):
    """The tool is not installed; the text names it (PG110)."""


class Framework(Protocol):
    """`ids` is None for the whole suite. A start that runs one file is told by `files` of `Start`."""

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> "list[Start]": ...
    def read(self, start: "Start", report: bytes | None, result: Result) -> Said: ...


@dataclass(frozen=True)
class Start:
    """One command and what it is for."""

    command: Command
    files: tuple[str, ...] = ()
    root: str = ""


def file_of(test: str) -> str:
    """The file part of `file > suites > title`."""
    return test.split(" > ", 1)[0]


def from_lines(report: bytes | None) -> Said:
    """The reports of our own reporters: rows, places that could not be loaded, `complete` at the end."""
    if report is None:
        return NO_REPORT
    rows, broken, complete = [], {}, False
    for said in json_lines(report):
        outcome = said.get("outcome")
        if isinstance(name := said.get("id"), str) and outcome in ("passed", "failed", "error", "skipped"):
            rows.append(Row(name, outcome, str(said.get("detail", ""))[-DETAIL:]))
        elif isinstance(place := said.get("collect"), str):
            broken[place] = str(said.get("detail", ""))[-DETAIL:]
        complete |= "complete" in said
    return Said(tuple(rows), broken, complete, ALL_FORGED if is_foreign(report) else frozenset())


def counted(rows: Sequence[Row], passed: object) -> frozenset[str]:
    """Rows that passed against the count of the runner itself: more of them than it counted are of another hand."""
    more = isinstance(passed, int) and sum(row.outcome == "passed" for row in rows) > passed
    return ALL_FORGED if more else frozenset()
