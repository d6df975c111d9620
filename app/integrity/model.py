"""What the integrity gate reads and what it says: trees, changes, findings, cells (proof.md, 8.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["stop", "block", "review", "info"]
Verdict = Literal["allow", "needs_human", "block"]
Word = Literal["pass", "fail", "error", "missing", "flaky", "n/a"]

SEVERITIES: tuple[Severity, ...] = ("stop", "block", "review", "info")
VERDICTS: tuple[Verdict, ...] = ("allow", "needs_human", "block")
CELLS = (
    "base",
    "head",
    "fixed",
    "fixed_without_source",
    "base_source_with_fixed_tests",
    "fixed_source_with_original_tests",
)
LINES, LINE_CHARS = 3, 200
SYMLINK, GITLINK, EXECUTABLE = "120000", "160000", "100755"


@dataclass(frozen=True)
class Blob:
    """One file of a tree: its bytes and git mode (`100644`, `100755`, `120000`)."""

    data: bytes
    mode: str = "100644"


Files = Mapping[str, Blob]
"""A tree by path. May be lazy: rules read the files that they need."""


@dataclass(frozen=True)
class Change:
    """One changed path between two trees; `old` is None for a new file, `new` for one that is gone, else a rename."""

    old: str | None
    new: str | None

    @property
    def path(self) -> str:
        return self.new or self.old or ""

    @property
    def renamed(self) -> bool:
        return self.old is not None and self.new is not None and self.old != self.new


@dataclass(frozen=True)
class Moved:
    """Paths that the base's policy puts into another class (PC-8); glob patterns."""

    source: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    harness: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delta:
    """A fix (`head` to `fixed`) and the pull request that it is for (`base` to `head`); PI-1.

    `waived` are rules about which the base's policy asks nobody (PI-7).
    """

    base: Files
    head: Files
    fixed: Files
    fix: tuple[Change, ...]
    pull: tuple[Change, ...] = ()
    named: tuple[str, ...] = ()
    framework: str = ""
    title: str = ""
    moved: Moved = field(default_factory=Moved)
    waived: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Finding:
    """One thing that the gate saw; levels in the database: block fail, review human, info note, stop stop."""

    rule: str
    severity: Severity
    file: str | None = None
    line: int | None = None
    side: Literal["old", "new"] = "new"
    unit: str | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    title: str = ""
    explanation: str = ""
    named: bool = False
    touched_by_pr: bool = False
    soft: bool = False
    source: Literal["static", "grid", "census", "mutation"] = "static"

    def as_json(self) -> dict[str, object]:
        """The keys of proof.md, 13."""
        return {
            "rule": self.rule,
            "title": self.title,
            "file": self.file,
            "line": self.line,
            "side": self.side,
            "unit": self.unit,
            "severity": self.severity,
            "evidence": {"before": list(self.before), "after": list(self.after)},
            "explanation": self.explanation,
            "named": self.named,
            "touched_by_pr": self.touched_by_pr,
            "soft": self.soft,
            "source": self.source,
        }


@dataclass(frozen=True)
class Seen:
    """One named test over all runs of one cell; counts, never only a word (PN-12)."""

    runs: int = 0
    passes: int = 0
    fails: int = 0
    errors: int = 0
    missing: int = 0
    timeouts: int = 0
    retried: int = 0
    forged: bool = False
    detail: str = ""

    @property
    def word(self) -> Word:
        """`flaky` when runs disagree about a pass or the framework tried again (PX-5)."""
        if self.runs == 0:
            return "n/a"
        if self.retried or 0 < self.passes < self.runs:
            return "flaky"
        if self.passes:
            return "pass"
        return "error" if self.errors else "fail" if self.fails else "missing"


@dataclass(frozen=True)
class Cell:
    """One tree of the grid: what each named test did. `same_as` names the cell that ran for an equal tree (PT-7).

    `needed` is how many passes a flaky test needs before it is believed (PN-4); 0 where nothing flakes.
    `output` is the end of what the last run that was not well printed, not redacted.
    """

    tests: Mapping[str, Seen] = field(default_factory=dict)
    runs: int = 0
    reported: bool = True
    same_as: str = ""
    seconds: float = 0.0
    exit_codes: tuple[int | None, ...] = ()
    mapped: Mapping[str, str] = field(default_factory=dict)
    needed: int = 0
    output: bytes = field(default=b"", repr=False)

    @property
    def result(self) -> Word:
        """The worst word of the named tests (proof.md, 4.1)."""
        order: tuple[Word, ...] = ("error", "fail", "flaky", "missing", "pass", "n/a")
        return min((seen.word for seen in self.tests.values()), key=order.index, default="n/a")


@dataclass(frozen=True)
class Census:
    """The whole suite in head and fixed, names only: what passed, what failed, what was there (4.3)."""

    lost: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    new_failing: tuple[str, ...] = ()
    ran_in_fixed: frozenset[str] = frozenset()
    complete: bool = True


@dataclass(frozen=True)
class Grid:
    """The cells that were run, by the names of `CELLS`, and the census if there was one."""

    cells: Mapping[str, Cell]
    census: Census | None = None

    def word(self, cell: str, test: str | None = None) -> Word:
        """The word of a cell, or of one named test in it; `n/a` when it was not run."""
        found = self.cells.get(cell)
        if found is None:
            return "n/a"
        return found.result if test is None else found.tests.get(test, Seen()).word

    def as_json(self) -> dict[str, object]:
        """All six names; a cell that was not run has 0 runs (proof.md, 13)."""
        return {name: _cell_json(self.cells.get(name)) for name in CELLS}


def _cell_json(cell: Cell | None) -> dict[str, object]:
    if cell is None or cell.runs == 0:
        return {"result": "n/a", "runs": 0}
    said: dict[str, object] = {
        "result": cell.result,
        "runs": cell.runs,
        "seconds": round(cell.seconds, 3),
        "exit_codes": list(cell.exit_codes),
        "tests": {
            name: {"result": seen.word, "runs": seen.runs, "pass": seen.passes} for name, seen in cell.tests.items()
        },
    }
    said |= {"same_as": cell.same_as} if cell.same_as else {}
    return said | ({"mapped_to": dict(cell.mapped)} if cell.mapped else {})
