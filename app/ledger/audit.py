"""Check a run again from what is stored, without GitHub and without a model: evidence, history, verdicts (EV-2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.ledger import events, evidence, proofs, turns
from app.ledger.evidence import Store
from app.ledger.rows import Row
from app.ledger.words import VerdictSource
from app.runs.model import Decision, ItemStatus, Purpose, Role
from app.runs.verdicts import Invalid, PlanSupervision, Supervision, read_marker


@dataclass(frozen=True)
class Audit:
    """What was looked at, and the first broken link as a sentence; empty: all of it holds."""

    evidence: int
    removed: int
    verdicts: int
    events: int
    broken: str = ""


def audit(conn: Connection, store: Store, run_id: str) -> Audit:
    """Everything of one run; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    found = evidence.of_run(conn, run_id)
    told = turns.verdicts_of_run(conn, run_id)
    history = events.of_run(conn, run_id)
    broken = (
        store.verify(conn, run_id) or _gap(history) or next(filter(None, (_verdict(conn, row) for row in told)), None)
    )
    removed = sum(1 for row in found if not row.path)
    return Audit(len(found), removed, len(told), len(history), broken or "")


def _gap(history: Sequence[Row]) -> str | None:
    """The history has no hole: events are counted from 1 (IV-15)."""
    missing = next((n for n, row in enumerate(history, 1) if row.seq != n), None)
    return None if missing is None else f"event {missing} of the run is missing"


def _verdict(conn: Connection, verdict: Row) -> str | None:
    """IV-16: a stored supervisor turn said it; an approve cites the proof that it was about (EV-6)."""
    turn = turns.get(conn, verdict.turn_id)
    if turn.role is not Role.SUPERVISOR or turn.status is not ItemStatus.DONE:
        return f"the verdict of turn {turn.id} is not of a finished supervisor turn"
    if verdict.source is VerdictSource.MARKER and (why := _unsaid(turn, verdict)):
        return f"the verdict of turn {turn.id} {why}"
    if verdict.decision is not Decision.APPROVE or turn.step_id is None:
        return None
    judged = [one for one in proofs.of_run(conn, turn.run_id, turn.step_id) if _before(one, turn)]
    needed = {judged[-1].grid_evidence_id, judged[-1].gate_evidence_id} - {None} if judged else set()
    if not judged or not needed <= set(verdict.evidence or ()):
        return f"the approve of turn {turn.id} does not cite the proof before it"
    return None


def _before(proof: Row, turn: Row) -> bool:
    return proof.status is ItemStatus.DONE and proof.created_at <= turn.created_at


def _unsaid(turn: Row, verdict: Row) -> str:
    """Whether the stored answer, read once more with the nonce of the turn, says what the verdict says (VF-4)."""
    plan = turn.step_id is None and turn.purpose is not Purpose.REVIEW
    said = read_marker(turn.text, PlanSupervision if plan else Supervision, turn.nonce)
    if isinstance(said, Invalid):
        return f"cannot be read in its answer: {'; '.join(said.reasons)}"
    same = (said.get("decision"), said.get("evidence")) == (verdict.decision.value, list(verdict.evidence or ()))
    return "" if same else "is not what its answer says"
