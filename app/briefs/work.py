"""What an agent is told: first attempt, later attempts, and how an interrupted turn goes on."""

from dataclasses import replace

from app.briefs.case import (
    Case,
    Outside,
    attempts_of,
    failures_shown,
    findings_of,
    grid_rows,
    run_facts,
    task_of,
)
from app.ledger.evidence import Store
from app.ledger.gates import Gate
from app.ledger.rows import Row
from app.ledger.views import TREE_WORDS
from app.ledger.words import TreeName
from app.render.prompts.inputs import (
    AgentCorrect,
    AgentResume,
    AgentWork,
    CellOutput,
    EvidenceLine,
    Form,
    Place,
    Rung,
)
from app.runs.model import ProofOutcome

PROTECTED = (".github/", ".git/", "agent configuration", "lock files")


def first_attempt(case: Case, outside: Outside) -> AgentWork:
    """The first prompt of a step."""
    return AgentWork(
        run=run_facts(case),
        task=task_of(case),
        form=Form(Rung.MARKER),
        failures=failures_shown(case),
        command=outside.command,
        pull=outside.pull,
        conventions=tuple(replace(file, text="") for file in outside.conventions),
        attempts=attempts_of(case),
        place=Place.LEFT if case.restarted else Place.FRESH,
        protected=protected_of(case),
        remote_branch=outside.remote_branch,
    )


def later_attempt(case: Case, outside: Outside, store: Store) -> AgentCorrect:
    """The prompt after a proof that does not hold, a supervisor's correction, or a re-entry (PF-13)."""
    proof = case.proof
    by_proof = proof is not None and proof.outcome is ProofOutcome.FAILED and not _judged(case)
    gate = case.gate(store) if by_proof else None
    return AgentCorrect(
        run=run_facts(case),
        task=task_of(case),
        form=Form(Rung.MARKER),
        after="proof" if by_proof else ("supervisor" if _judged(case) else "entry"),
        attempts=attempts_of(case),
        place=Place.LEFT if case.restarted or outside.remote_branch else Place.FRESH,
        rows=grid_rows(case) if by_proof else (),
        claims=_claims(case, gate) if by_proof else (),
        flaky=_flaky(case),
        collateral=gate.lost if gate is not None else (),
        findings=findings_of(gate),
        output=_output(case) if by_proof else None,
        feedback="" if by_proof or case.step is None else case.step.feedback,
        evidence=tuple(EvidenceLine(row.id, row.kind.value, "") for row in case.found),
        failures=failures_shown(case),
        command=outside.command,
        conventions=tuple(replace(file, text="") for file in outside.conventions),
        protected=protected_of(case),
        remote_branch=outside.remote_branch,
    )


def protected_of(case: Case) -> tuple[str, ...]:
    """What the agent may not change, with the paths that the policy adds (decisions.md, 51)."""
    return (*PROTECTED, *(str(path) for path in (case.repository.policy_json or {}).get("protected") or ()))


def interrupted(case: Case, outside: Outside, *, session_lost: bool) -> AgentResume:
    """The prompt of a restarted turn; with the whole text where the session had to be replaced (CR-5, CR-13)."""
    form = Form(Rung.MARKER)
    if not session_lost:
        return AgentResume(form)
    return AgentResume(form, first_attempt(case, outside), attempts_of(case))


def _judged(case: Case) -> bool:
    """A supervisor spoke after the newest attempt."""
    return bool(case.rounds) and bool(case.rounds[-1].verdict)


def _claims(case: Case, gate: Gate | None) -> tuple[str, ...]:
    """Words of the table in prompts.md, 5.3; what the findings say is not said twice."""
    if case.left.get("problem"):
        return ("empty_delta",)
    return (gate.claim,) if gate is not None else ("not_fixed",)


def _flaky(case: Case) -> tuple[int, int]:
    """Passes and runs of the test that passes only sometimes."""
    mixed = [cell for cell in _fixed_cells(case) if 0 < cell.passes < cell.runs]
    return (mixed[0].passes, mixed[0].runs) if mixed else (0, 0)


def _fixed_cells(case: Case) -> list[Row]:
    cells = case.cells.get(case.proof.id, ()) if case.proof is not None else ()
    return [cell for cell in cells if cell.tree_name is TreeName.FIXED]


def _output(case: Case) -> CellOutput | None:
    """The end of what the named tests printed with the fix, as the proof kept it; nothing where they were well."""
    bad = next((cell for cell in _fixed_cells(case) if cell.passes < cell.runs), None)
    kept = next((row for row in case.found if bad is not None and row.id == bad.evidence_id), None)
    text = "" if kept is None else str((kept.meta_json or {}).get("tail", ""))
    return CellOutput(TREE_WORDS[TreeName.FIXED], text) if text else None
