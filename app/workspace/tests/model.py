"""What is asked of a test run and what it answers, for each named test."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.workspace.sandbox.model import Limits, Tier

Outcome = Literal["passed", "failed", "error", "skipped", "not_run"]

# The worst word of several rows of one named test counts (proof.md, 4.1).
WORST: tuple[Outcome, ...] = ("error", "failed", "not_run", "skipped", "passed")


@dataclass(frozen=True)
class OwnCommand:
    """One entry of `tests` of the base's .github/remedy.yml (proof.md, 5.3): argv lists with {report} and {id}.

    The form of the report is told from its content: JUnit XML, TAP, jest, mocha or go JSON. Without `run` it is the
    set-up of a known framework.
    """

    framework: str
    run: tuple[str, ...]
    run_named: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class TestJob:
    """Named tests of one tree. `files` is a fresh copy of it that belongs to `uid`; nobody uses it afterwards.

    `test_ids` are ids as the log printed them, `framework` is that of the failing check (PX-12). `tools` is the setting
    `proof_tools`. `seed` is PYTHONHASHSEED, part of the evidence. `layer` is what the set-up left.
    """

    __test__ = False

    files: Path
    uid: int | None
    framework: str
    test_ids: tuple[str, ...]
    limits: Limits
    own: tuple[OwnCommand, ...] = ()
    tools: str = ""
    seed: int = 0
    layer: Path | None = None


@dataclass(frozen=True)
class TestRow:
    """One named test in one run. `retried`: the framework ran it again, which counts as a failure (PX-5)."""

    __test__ = False

    outcome: Outcome
    detail: str = ""
    retried: bool = False


@dataclass(frozen=True)
class CellResult:
    """One run: a row for every named test. `reason` is a sentence when something could not be run, else empty.

    `reported`: every start wrote a report to its end. `ended` is the sandbox's word for the end of the last start.
    """

    rows: Mapping[str, TestRow]
    tier: Tier
    backend: str
    reason: str = ""
    argv: tuple[str, ...] = ()
    rc: int | None = None
    ended: str = ""
    wall_s: float = 0.0
    output_tail: bytes = b""
    reported: bool = True

    @property
    def executed(self) -> int:
        """Named tests that really ran; zero of them is never a pass (PF-5)."""
        return sum(row.outcome in ("passed", "failed") for row in self.rows.values())


def worst(rows: list[TestRow]) -> TestRow:
    """The row that counts for a named test; `not_run` when there is none (PF-5)."""
    if not rows:
        return TestRow("not_run")
    return min(rows, key=lambda row: WORST.index(row.outcome))
