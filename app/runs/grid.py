"""Judge a proof grid: what the named tests did in each tree against what a real fix does (PF-5, PF-6, PF-12); pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from app.runs.model import ProofOutcome

REPEATS = 3
"""PF-4: the flake rate of a test that was never seen is not known."""


@dataclass(frozen=True)
class Seen:
    """One test in one tree: counts, never only pass or fail."""

    runs: int
    passes: int
    fails: int
    not_run: int = 0

    @property
    def ran(self) -> bool:
        """Executed in every run; zero executed tests are never a pass (PF-5)."""
        return self.runs > 0 and self.not_run == 0

    @property
    def passed(self) -> bool:
        return self.ran and self.passes == self.runs

    @property
    def failed(self) -> bool:
        return self.ran and self.fails == self.runs


@dataclass(frozen=True)
class Judgement:
    """`reason` is one line for people; `failing_key` names the failing set, so that the same again is known (T29)."""

    outcome: ProofOutcome
    reason: str
    failing_key: str = ""


def judge(head: Mapping[str, Seen], fixed: Mapping[str, Seen]) -> Judgement:
    """A repair of a regression: each named test fails in `head` and passes in `fixed`, which may hold more tests."""
    if not any(seen.ran for seen in head.values()):
        return Judgement(ProofOutcome.NOT_RUN, "none of the named tests ran in this pull request's own tree")
    green = sorted(test for test, seen in head.items() if not seen.failed)
    if green:
        return Judgement(ProofOutcome.NOT_RUN, f"not reproduced here: {_count(green)} not fail without the fix")
    lost = sorted(test for test in fixed if not fixed[test].ran)
    if lost:
        return Judgement(ProofOutcome.FAILED, f"{_count(lost)} not run with the fix", _key("lost", lost))
    broken = sorted(test for test in fixed if not fixed[test].passed)
    if broken:
        flaky = [test for test in broken if fixed[test].passes]
        how = "pass every time" if flaky == broken else "pass"
        return Judgement(ProofOutcome.FAILED, f"{_count(broken)} not {how} with the fix", _key("red", broken))
    named = len(head)
    return Judgement(
        ProofOutcome.PASSED, f"{named} test{'s' if named != 1 else ''}: red without the fix, green with it"
    )


def nothing_changed(reason: str) -> Judgement:
    """An empty or refused change, which no test has to run for (PF-11)."""
    return Judgement(ProofOutcome.FAILED, reason, _key("none", [reason]))


def _count(tests: list[str]) -> str:
    return f"{len(tests)} test did" if len(tests) == 1 else f"{len(tests)} tests did"


def _key(kind: str, tests: list[str]) -> str:
    return hashlib.sha256("\0".join((kind, *tests)).encode("utf-8", "replace")).hexdigest()[:16]
