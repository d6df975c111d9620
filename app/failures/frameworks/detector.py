"""What a reader of one framework sees (lines), says (findings) and must offer (a detector)."""

from collections.abc import Iterator, Sequence
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
    (package, suite file, target); `optional` marks containers and tests named only in a stack; `wraps` marks what a
    build tool prints around the tests of another framework (MG-6).
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
    wraps: bool = False
    flaky: bool = False
    framework: str = ""
    at: Line | None = None


class Sink(Protocol):
    """Where a detector puts what it found; all calls return at once."""

    line: Line

    @property
    def command(self) -> str:
        """The command that is running, as the log shows it; empty when it does not."""

    def failure(self, found: Found) -> None: ...

    def passed(self, id: str, scope: str = "") -> None:
        """A later pass of a test that failed before makes it flaky (FL-2)."""

    def row(self, diagnostic: Diagnostic, sure: bool = True) -> None:
        """A row of a compiler or linter; an unsure one counts only when nothing else explains the job."""

    def cause(self, kind: JobKind, text: str, tool: str = "") -> None:
        """A candidate for the job's kind with its line."""

    def begins(self, command: str) -> None:
        """A command or step begins; it ends where the next one begins or where its exit code is printed."""

    def exits(self, code: int, command: str | None) -> None:
        """The current command ended with this code; -1 when only an error annotation says so."""

    def closes(self, code: int | None) -> None:
        """The job ended with this code; None when the log ends in order and says nothing about it."""

    def started(self, framework: str = "") -> None:
        """A run of this framework begins."""

    def total(self, failed: int | None, ran: int | None = None, framework: str = "") -> None:
        """The run ends, with its own counts; no `started` is needed before."""

    def above(self, limit: int) -> Iterator[str]:
        """Up to `limit` cleaned lines of the same stream above the current one, the nearest first; read one by one."""

    def broke(self, error: Exception) -> None:
        """The detector raised; it is dropped for this log and counted (LT-6)."""


class Detector(Protocol):
    """A small state machine for one family; it never sees raw bytes and knows no other detector."""

    name: ClassVar[str]
    wakes: ClassVar[tuple[str, ...]]

    def feed(self, line: Line, out: Sink) -> bool:
        """Take a line; True asks for the next one too, whatever it holds."""

    def end(self, out: Sink) -> None:
        """The log is over."""
