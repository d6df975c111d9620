"""The rounds of a run as people and agents read them: what was tried, what the proof and the supervisor said."""

from dataclasses import replace

from sqlalchemy import Connection

from app.ledger import proofs, turns
from app.ledger.rows import Row
from app.runs.model import ItemStatus, ProofOutcome, Role
from app.runs.view import RoundView

PROOF_WORDS = {
    ProofOutcome.PASSED: "as expected",
    ProofOutcome.FAILED: "not as expected",
    ProofOutcome.NEEDS_HUMAN: "a person must accept it",
    ProofOutcome.FORBIDDEN: "stopped: a secret",
    ProofOutcome.NOT_RUN: "not run",
}


def rounds_of(conn: Connection, run_id: str, step_id: str | None = None) -> tuple[RoundView, ...]:
    """One row per finished agent turn, oldest first; of one step or of the whole run."""
    rows: list[RoundView] = []
    proved = [proof for proof in proofs.of_run(conn, run_id, step_id) if proof.status is ItemStatus.DONE]
    verdicts = {row.turn_id: row for row in turns.verdicts_of_run(conn, run_id)}
    for turn in turns.of_run(conn, run_id):
        if turn.status is not ItemStatus.DONE or turn.step_id is None or step_id not in (None, turn.step_id):
            continue
        if turn.role is Role.AGENT:
            n = len(rows) + 1
            rows.append(RoundView(n, first_line(turn), _proof_words(proved, turn)))
        elif rows and turn.id in verdicts:
            verdict = verdicts[turn.id]
            said = verdict.feedback.partition("\n")[0]
            rows[-1] = replace(rows[-1], verdict=verdict.decision.value, feedback=said)
    return tuple(rows)


def first_line(turn: Row) -> str:
    """Line 1 of the agent's report: what the change does."""
    summary = (turn.result_json or {}).get("summary_markdown") or turn.text or ""
    return str(summary).strip().partition("\n")[0]


def _proof_words(proved: list[Row], turn: Row) -> str:
    """What the first proof after this turn gave."""
    later = [proof for proof in proved if proof.created_at >= turn.finished_at and proof.step_id == turn.step_id]
    if not later:
        return "–"
    words = PROOF_WORDS.get(later[0].outcome, "–")
    return f"{words}: {later[0].reason}" if later[0].reason else words
