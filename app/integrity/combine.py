"""Join grid and findings: the stricter wins, evidence of the pull request can spare a person (proof.md, 11)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.integrity.claims import Row, census_findings, finding_of, judge6, strictest
from app.integrity.evidence.find import Asked, evidence_for
from app.integrity.evidence.signs import signs_of
from app.integrity.facts import facts_of
from app.integrity.gate import check, once, sort
from app.integrity.model import VERDICTS, Delta, Finding, Grid, Verdict
from app.integrity.rules.case import Case
from app.integrity.sentences import SENTENCES

_OF: dict[str, Verdict] = {"stop": "block", "block": "block", "review": "needs_human", "info": "allow"}
_ALONE = frozenset(("PG115", "PG116", "PG117"))


@dataclass(frozen=True)
class Judgement:
    """The answer of the gate. `rows` are the claims by named test; `claim` is None without a grid."""

    verdict: Verdict
    claim: str | None
    findings: tuple[Finding, ...]
    rows: dict[str, Row]


def verdict_of(findings: Sequence[Finding], start: Verdict = "allow") -> Verdict:
    """The strictest of a verdict and all findings."""
    return max([start, *(_OF[one.severity] for one in findings)], key=VERDICTS.index)


def judge(delta: Delta, grid: Grid | None, more: Sequence[Finding] = ()) -> Judgement:
    """Run the rules, read the claim table, join both. `more` are findings of mutants or of the caller."""
    found = waive([*check(delta, grid), *more], delta.waived)
    if grid is None:
        return Judgement(verdict_of(found), None, tuple(sort(found)), {})
    case = Case(delta, grid)
    facts = facts_of(case)
    rows = judge6(grid, delta.named, facts)
    return combine(case, rows, found)


def waive(findings: Sequence[Finding], rules: Collection[str]) -> list[Finding]:
    """What the base's policy waives is shown and asks nobody; a block is never waived (PI-7, PV-5)."""
    said = SENTENCES["PI-7"][1]
    return [
        replace(one, severity="info", explanation=f"{one.explanation} {said}")
        if one.rule in rules and one.severity == "review"
        else one
        for one in findings
    ]


def combine(case: Case, rows: dict[str, Row], findings: Sequence[Finding]) -> Judgement:
    """Stricter wins, after demotions (DM-1, DM-4) and evidence (7.1). A block is never lifted (PV-2, DM-3)."""
    claim = strictest(rows)
    found = [*findings, *(census_findings(case.grid) if case.grid is not None else ())]
    if rows and all(row.rule in _ALONE for row in rows.values()) and case.alone:
        found = [replace(one, severity="info") if one.soft and one.severity == "review" else one for one in found]
    lifted = False
    if claim.verdict == "needs_human" and case.grid is not None:
        found, lifted = _with_evidence(case, rows, found)
    if claim.rule in ("PG123", "PG124", "PG125", "PG118", "PG119") or claim.verdict == "block":
        found += signs_of(case) if claim.rule in ("PG123", "PG124", "PG125") else []
    tests = [test for test, row in rows.items() if row == claim]
    if not lifted and (said := finding_of(claim, tests)) is not None:
        found.append(said)
    return Judgement(verdict_of(found), claim.claim, tuple(sort(once(found))), rows)


def _with_evidence(case: Case, rows: dict[str, Row], findings: list[Finding]) -> tuple[list[Finding], bool]:
    """Each named test with a needs_human row needs evidence of its own (PE-23)."""
    assert case.grid is not None
    found, explained, complete = list(findings), set(), True
    for test, row in rows.items():
        if row.verdict != "needs_human":
            complete &= row.verdict == "allow"
            continue
        evidence, explains = evidence_for(case, Asked(row.claim, case.grid.word("head", test)))
        found += evidence
        explained |= set(explains)
        complete &= bool(explains)
    if not complete:
        return found, False
    found = [
        replace(one, severity="info") if one.severity == "review" and one.rule in explained else one for one in found
    ]
    return found, not any(one.severity != "info" for one in found)
