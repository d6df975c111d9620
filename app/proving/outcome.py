"""From the gate's judgement to what it means for a run: outcome, reason, and the key of a failure (proof.md, 11)."""

import hashlib
import json

from app.integrity.combine import Judgement
from app.integrity.model import Finding, Grid
from app.runs.model import ProofOutcome

NOT_RUN = frozenset({"PG101", "PG102"})


def outcome_of(judgement: Judgement, allow_test_only: bool) -> ProofOutcome:
    """The stricter wins. Evidence spares a person only where the base's policy says so (PF-8)."""
    if any(one.severity == "stop" for one in judgement.findings):
        return ProofOutcome.FORBIDDEN
    if judgement.verdict == "block":
        return ProofOutcome.FAILED
    if any(row.rule in NOT_RUN for row in judgement.rows.values()):
        return ProofOutcome.NOT_RUN
    lifted = any(row.verdict != "allow" for row in judgement.rows.values())
    if judgement.verdict == "needs_human" or (lifted and not allow_test_only):
        return ProofOutcome.NEEDS_HUMAN
    return ProofOutcome.PASSED


def reason_of(judgement: Judgement, outcome: ProofOutcome) -> str:
    """The strictest finding in words, with its place and how many more there are; empty for a proof that passed."""
    if outcome is ProofOutcome.PASSED:
        return ""
    weight = [one for one in judgement.findings if one.severity != "info"] or list(judgement.findings)
    strictest = [one for one in weight if one.severity == weight[0].severity]
    first = next((one for one in strictest if one.source != "static"), weight[0])
    more = len(weight) - 1
    return first.explanation.rstrip(".") + _place(first) + (f", and {more} more" if more else "")


def _place(finding: Finding) -> str:
    if finding.file is None:
        return ""
    return f" ({finding.file}:{finding.line})" if finding.line else f" ({finding.file})"


def failing_key(judgement: Judgement, grid: Grid) -> str:
    """Equal for two attempts that fail in the same way (T29): claim, findings that block, tests that are not well."""
    blocks = sorted((one.rule, one.file or "", one.unit or "") for one in judgement.findings if one.severity == "block")
    fixed = grid.cells.get("fixed")
    failing = sorted(test for test, seen in fixed.tests.items() if seen.word != "pass") if fixed is not None else []
    return hashlib.sha256(json.dumps([judgement.claim, blocks, failing]).encode()).hexdigest()
