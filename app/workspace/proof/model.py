"""The words of a proof: trees, cells, counts, claims; pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from app.runs.model import ProofOutcome
from app.workspace.sandbox.model import Tier
from app.workspace.tests.model import CellResult, Outcome

Word = Literal["pass", "fail", "error", "missing", "flaky", "n/a"]

# A cell with several named tests shows the worst (proof.md, 4.1).
WORDS: tuple[Word, ...] = ("error", "fail", "flaky", "missing", "pass", "n/a")
_WORD_OF: Mapping[Outcome, Word] = {
    "passed": "pass",
    "failed": "fail",
    "error": "error",
    "skipped": "missing",
    "not_run": "missing",
}


class TreeName(StrEnum):
    """The trees of the grid that are run so far; names as in proof.md, 3.2."""

    BASE = "base"
    HEAD = "head"
    FIXED = "fixed"


@dataclass(frozen=True)
class Counts:
    """One named test over all runs of a cell; counts are kept, never only a word (PN-12)."""

    runs: int = 0
    passes: int = 0
    fails: int = 0
    errors: int = 0
    missing: int = 0
    retried: int = 0
    detail: str = ""

    @property
    def word(self) -> Word:
        """`flaky` when runs disagree about a pass or the framework tried again (PX-5)."""
        if self.runs == 0:
            return "n/a"
        if self.retried or (0 < self.passes < self.runs):
            return "flaky"
        if self.passes:
            return "pass"
        return "error" if self.errors else "fail" if self.fails else "missing"


@dataclass(frozen=True)
class Cell:
    """All runs of the named tests in one tree. `same_as` names the cell that ran when trees are equal (PT-7)."""

    tree: str
    runs: tuple[CellResult, ...] = ()
    same_as: TreeName | None = None

    def counts(self, test: str) -> Counts:
        """What happened to one named test."""
        rows = [run.rows[test] for run in self.runs if test in run.rows]
        words = [_WORD_OF[row.outcome] for row in rows]
        return Counts(
            runs=len(rows),
            passes=words.count("pass"),
            fails=words.count("fail"),
            errors=words.count("error"),
            missing=words.count("missing"),
            retried=sum(row.retried for row in rows),
            detail=next((row.detail for row in rows if row.detail), ""),
        )

    def result(self, tests: Sequence[str]) -> Word:
        """The worst word of the named tests."""
        return min((self.counts(test).word for test in tests), key=WORDS.index, default="n/a")

    @property
    def reported(self) -> bool:
        """Every run came to its own end and said so."""
        return all(run.reported for run in self.runs)

    @property
    def reason(self) -> str:
        """Why something could not be run, in words; empty when all could."""
        return next((run.reason for run in self.runs if run.reason), "")


class Claim(StrEnum):
    """What the cells say about one named test; rows of proof.md, 7, that base, head and fixed can decide."""

    HEAD_NOT_RUN = "head_not_run"
    NOT_REPRODUCED = "not_reproduced"
    NO_REPORT = "no_report"
    TEST_SILENCED = "test_silenced"
    STILL_FLAKY = "still_flaky"
    NOT_FIXED = "not_fixed"
    FLAKY_UNPROVEN = "flaky_unproven"
    OUT_OF_TIME = "out_of_time"
    UNFINISHED_FEATURE = "unfinished_feature"
    PRE_EXISTING_FAILURE = "pre_existing_failure"
    SOURCE_REGRESSION = "source_regression"
    FIXED = "fixed"


@dataclass(frozen=True)
class ProofResult:
    """A proof: its cells, the strictest claim over all named tests and what follows from it."""

    outcome: ProofOutcome
    claim: Claim
    claims: Mapping[str, Claim]
    cells: Mapping[TreeName, Cell]
    reason: str
    tier: Tier
    backend: str

    @property
    def failing(self) -> list[str]:
        """Named tests that are not well in `fixed`, in the order of their names."""
        fixed = self.cells.get(TreeName.FIXED)
        if fixed is None:
            return []
        return sorted(test for test in self.claims if fixed.counts(test).word not in ("pass", "n/a"))

    @property
    def failing_key(self) -> str:
        """Equal for two attempts that fail in the same way (T29)."""
        return hashlib.sha256("\n".join([self.claim, *self.failing]).encode()).hexdigest()

    def grid(self) -> dict[str, object]:
        """The grid as JSON (proof.md, 13): cells by name, counts for each test, never a verdict of a model."""
        tests = sorted(self.claims)
        return {name.value: _as_json(cell, tests) for name, cell in self.cells.items()}


def _as_json(cell: Cell, tests: Sequence[str]) -> dict[str, object]:
    said: dict[str, object] = {
        "result": cell.result(tests),
        "runs": len(cell.runs),
        "tree": cell.tree,
        "seconds": round(sum(run.wall_s for run in cell.runs), 3),
        "exit_codes": [run.rc for run in cell.runs],
        "tests": {test: _counts(cell.counts(test)) for test in tests},
    }
    return {**said, "same_as": cell.same_as.value} if cell.same_as else said


def _counts(counts: Counts) -> dict[str, object]:
    return {
        "result": counts.word,
        "runs": counts.runs,
        "pass": counts.passes,
        "fail": counts.fails,
        "error": counts.errors,
        "missing": counts.missing,
    }
