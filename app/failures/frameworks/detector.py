"""What a reader of one framework sees (lines), says (findings) and must offer (a detector)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from app.failures.model import Diagnostic, FailureKind, JobKind


@dataclass(slots=True)
class Line:
    """One cleaned line. `number` is 1-based in the raw file, `offset` its first byte, `level` a workflow command."""

    number: int
    offset: int
    text: str
    level: str | None = None
    stamp: str = ""


@dataclass(slots=True)
class Found:
    """One print of a failing test.

    `rank`: 2 summary, 1 detail block, 0 progress row, -1 text inside captured output. `scope` tells equal names apart
    (package, suite file, target); `optional` marks containers and tests named only in a stack.
    """

    id: str
    kind: FailureKind = "fail"
    file: str | None = None
    line: int | None = None
    message: str = ""
    detail: Sequence[str] = field(default_factory=list)
    scope: str = ""
    rank: int = 1
    optional: bool = False
    flaky: bool = False
    framework: str = ""
    at: Line | None = None


class Sink(Protocol):
    """Where a detector puts what it found; all calls return at once."""

    line: Line

    def failure(self, found: Found) -> None: ...

    def passed(self, id: str, scope: str = "") -> None:
        """A later pass of a test that failed before makes it flaky (FL-2)."""

    def row(self, diagnostic: Diagnostic) -> None: ...

    def cause(self, kind: JobKind, text: str) -> None:
        """A candidate for the job's kind with its line."""

    def started(self, framework: str = "") -> None:
        """A run of this framework begins."""

    def total(self, failed: int | None, ran: int | None = None) -> None:
        """The run ends, with its own counts."""

    def above(self, limit: int) -> list[str]:
        """Up to `limit` cleaned lines of the same stream directly above the current one, the nearest last."""


class Detector(Protocol):
    """A small state machine for one family; it never sees raw bytes and knows no other detector."""

    name: ClassVar[str]
    wakes: ClassVar[tuple[str, ...]]

    def feed(self, line: Line, out: Sink) -> bool:
        """Take a line; True asks for the next one too, whatever it holds."""

    def end(self, out: Sink) -> None:
        """The log is over."""
