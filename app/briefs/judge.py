"""What a supervisor is told: the plan, the proven work, the last words; and what it may cite."""

from app.briefs.case import (
    Case,
    Outside,
    attempts_of,
    evidence_lines,
    failures_shown,
    findings_of,
    grid_rows,
    run_facts,
    task_of,
)
from app.ledger.evidence import Store
from app.ledger.gates import Gate
from app.ledger.rounds import first_line
from app.render.prompts.inputs import Final, Form, PlanReview, PlanStep, Reask, Review, Rung
from app.runs.model import ItemStatus, ProofOutcome, Role
from app.runs.rules_turns import RESULT_OF_CI
from app.runs.verdicts import PLAN_KINDS, REVIEW_KINDS


def plan_review(case: Case, outside: Outside) -> PlanReview:
    """The plan before any work."""
    return PlanReview(
        run=run_facts(case),
        steps=tuple(_plan_step(case, index) for index in range(len(case.steps))),
        evidence=evidence_lines(case, PLAN_KINDS),
        form=Form(Rung.MARKER),
        failures=failures_shown(case),
        pull=outside.pull,
        conventions=outside.conventions,
        since="The plan is read again." if case.run.plan_version > 1 or case.run.hint else "",
        hint=case.run.hint,
    )


def review(case: Case, outside: Outside, store: Store) -> Review:
    """The work of one step after a proof that holds. Raises LookupError where no such proof exists (IV-9)."""
    proof = case.proof
    if proof is None or proof.grid_evidence_id is None:
        raise LookupError("a review without a proof")
    diffs = [row for row in case.found if row.kind.value == "diff"]
    diff = store.read(diffs[-1]).decode("utf-8", "replace") if diffs else ""
    work = [turn for turn in case.before if turn.role is Role.AGENT and turn.status is ItemStatus.DONE]
    note = str((work[-1].result_json or {}).get("summary_markdown", "")) if work else ""
    gate = case.gate(store)
    return Review(
        run=run_facts(case),
        task=task_of(case),
        evidence=evidence_lines(case, REVIEW_KINDS),
        approve_needs=approve_needs(case),
        form=Form(Rung.MARKER),
        claim=gate.claim.replace("_", " ") if gate is not None and gate.claim else _claim(case),
        rows=grid_rows(case),
        named_tests=len(case.failures),
        suite_tests=gate.passed if gate is not None else None,
        findings=findings_of(gate, accepted=proof.outcome is ProofOutcome.NEEDS_HUMAN),
        mutants=_mutants(gate),
        diff=diff,
        diff_id=diffs[-1].id if diffs else "",
        failures=failures_shown(case),
        pull=outside.pull,
        conventions=outside.conventions,
        attempts=attempts_of(case)[:-1],
        note=note,
        restarted="interrupted" if case.restarted else "",
    )


def _mutants(gate: Gate | None) -> str:
    """A hint: the changed lines in other ways, and whether the named tests notice (MM-5)."""
    if gate is None or not gate.mutants:
        return ""
    left = f"; not noticed: {'; '.join(gate.survivors)}" if gate.survivors else ""
    return f"{gate.killed} of {gate.mutants} changed copies make a named test fail{left}"


def approve_needs(case: Case) -> tuple[str, ...]:
    """Ids that an approve of this work must cite: those of the current proof (EV-6)."""
    proof = case.proof
    if proof is None:
        return ()
    return tuple(found for found in (proof.grid_evidence_id, proof.gate_evidence_id) if found)


def reask(case: Case) -> Reask:
    """Once more, the verdict only (T12)."""
    plan = case.step is None
    last = case.before[-1].result_json if case.before else None
    return Reask(
        kind="verdict",
        form=Form(Rung.MARKER),
        role="plan_review" if plan else "review",
        wrong=tuple(str(reason) for reason in (last or {}).get("wrong", ())),
        ids=evidence_lines(case, PLAN_KINDS if plan else REVIEW_KINDS),
        approve_needs=() if plan else approve_needs(case),
    )


def final(case: Case, result_line: str) -> Final:
    """The last words; the result comes from CI and is printed by Remedy itself (PB-10)."""
    work = [turn for turn in case.before if turn.role is Role.AGENT and turn.status is ItemStatus.DONE]
    said = case.rounds[-1].feedback if case.rounds else ""
    return Final(
        result=RESULT_OF_CI[case.run.ci].value if case.run.ci is not None else "handed_over",
        result_line=result_line,
        was_wrong=said,
        change=first_line(work[-1]) if work else "",
        files=tuple(str(name) for name in (work[-1].result_json or {}).get("files", ())) if work else (),
        proof="the named tests fail without the change and pass with it",
    )


def _plan_step(case: Case, index: int) -> PlanStep:
    step = case.steps[index]
    group = case.groups.get(step.group_id)
    return PlanStep(
        step_id=step.step_id,
        title=step.title,
        claim=_word(step.claim, "regression"),
        risk=step.risk.value,
        cause="" if group is None else f"{group.cause.value.replace('_', ' ')}: {group.how_we_know}",
        why_grouped="" if group is None else group.why_grouped,
        prompt="\n\n".join((step.prompt, *(f"From the plan repair:\n{text}" for text in step.addenda or ()))),
    )


def _claim(case: Case) -> str:
    return "regression" if case.step is None else _word(case.step.claim, "regression")


def _word(value: object, default: str) -> str:
    return default if value is None else str(value)
