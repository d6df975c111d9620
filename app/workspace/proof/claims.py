"""From cells to an outcome: the rows of the claim table that base, head and fixed can decide; pure (proof.md, 7)."""

from collections.abc import Mapping, Sequence

from app.runs.model import ProofOutcome
from app.workspace.proof.model import Cell, Claim, TreeName

# The strictest claim over all named tests is the claim of the proof; strictest first.
OUTCOMES: Mapping[Claim, ProofOutcome] = {
    Claim.NO_REPORT: ProofOutcome.FAILED,
    Claim.TEST_SILENCED: ProofOutcome.FAILED,
    Claim.STILL_FLAKY: ProofOutcome.FAILED,
    Claim.NOT_FIXED: ProofOutcome.FAILED,
    Claim.HEAD_NOT_RUN: ProofOutcome.NOT_RUN,
    Claim.NOT_REPRODUCED: ProofOutcome.NOT_RUN,
    Claim.OUT_OF_TIME: ProofOutcome.NEEDS_HUMAN,
    Claim.FLAKY_UNPROVEN: ProofOutcome.NEEDS_HUMAN,
    Claim.UNFINISHED_FEATURE: ProofOutcome.PASSED,
    Claim.PRE_EXISTING_FAILURE: ProofOutcome.PASSED,
    Claim.SOURCE_REGRESSION: ProofOutcome.PASSED,
    Claim.FIXED: ProofOutcome.PASSED,
}
_ORDER = list(OUTCOMES)


def claims_of(cells: Mapping[TreeName, Cell], tests: Sequence[str]) -> dict[str, Claim]:
    """One claim for each named test."""
    return {test: claim_of(cells, test) for test in tests}


def claim_of(cells: Mapping[TreeName, Cell], test: str) -> Claim:
    """The first row that fits: head, then fixed, then base."""
    head, fixed = cells[TreeName.HEAD], cells[TreeName.FIXED]
    before, after = head.counts(test).word, fixed.counts(test).word
    if before in ("missing", "n/a") or not head.reported:
        return Claim.HEAD_NOT_RUN
    if before == "pass":
        return Claim.NOT_REPRODUCED
    if after == "n/a":
        return Claim.OUT_OF_TIME
    if not fixed.reported:
        return Claim.NO_REPORT
    if after != "pass":
        return _NOT_PASSED[after]
    if before == "flaky":
        return Claim.FLAKY_UNPROVEN
    return _after_base(cells.get(TreeName.BASE), test)


_NOT_PASSED: Mapping[str, Claim] = {
    "missing": Claim.TEST_SILENCED,
    "flaky": Claim.STILL_FLAKY,
    "fail": Claim.NOT_FIXED,
    "error": Claim.NOT_FIXED,
}


def _after_base(base: Cell | None, test: str) -> Claim:
    """What kind of failure was fixed; `fixed` when base was not run or says nothing."""
    word = base.counts(test).word if base is not None else "n/a"
    kinds = {
        "missing": Claim.UNFINISHED_FEATURE,
        "fail": Claim.PRE_EXISTING_FAILURE,
        "error": Claim.PRE_EXISTING_FAILURE,
        "pass": Claim.SOURCE_REGRESSION,
        "flaky": Claim.SOURCE_REGRESSION,
    }
    return kinds.get(word, Claim.FIXED)


def strictest(claims: Mapping[str, Claim]) -> Claim:
    """`head_not_run` when no test is named."""
    return min(claims.values(), key=_ORDER.index, default=Claim.HEAD_NOT_RUN)
