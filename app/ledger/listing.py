"""Runs as the operator reads them, of all installations: plain values for `remedy runs` and its JSON."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, select

from app.ledger import events, evidence, post, proofs, publications, repairs, runs, turns
from app.ledger.rows import Row
from app.ledger.schema import repositories, scopes
from app.ledger.schema import runs as runs_table
from app.ledger.words import OutboxState

LETTERS = 50
VERSIONS = ("model", "prompt_version", "rules_version")


def newest(conn: Connection, limit: int) -> list[dict[str, Any]]:
    """The newest runs, newest first."""
    rows = conn.execute(_joined().order_by(runs_table.c.created_at.desc(), runs_table.c.id.desc()).limit(limit)).all()
    return [_run(conn, row) for row in rows]


def whole(conn: Connection, run_id: str) -> dict[str, Any] | None:
    """Everything of one run that is worth reading; None for an unknown id."""
    row = conn.execute(_joined().where(runs_table.c.id == run_id)).one_or_none()
    if row is None:
        return None
    return {
        "run": _run(conn, row),
        "steps": [
            _of(step, "step_id", "status", "risk", "target", "attempts", "title")
            for step in runs.steps_of(conn, run_id)
        ],
        "turns": [
            {
                **_of(turn, "id", "role", "purpose", "step_id", "status", "error_code", "error", at="created_at"),
                "cost": _cost(turn),
            }
            for turn in turns.of_run(conn, run_id)
        ],
        "proofs": [
            _of(proof, "id", "kind", "step_id", "status", "outcome", "reason", at="created_at")
            for proof in proofs.of_run(conn, run_id)
        ],
        "publications": [
            _of(one, "id", "mode", "status", "branch", "pushed_sha", "pr_number", "ci", "error", at="created_at")
            for one in publications.of_run(conn, run_id)
        ],
        "verdicts": [
            _of(one, "turn_id", "decision", "evidence", "source", *VERSIONS, "feedback", at="at")
            for one in turns.verdicts_of_run(conn, run_id)
        ],
        "self_repairs": [
            _of(one, "n", "status", "blocked_stage", "feedback", "prompt_addendum", at="created_at")
            for one in repairs.of_run(conn, run_id)
        ],
        "letters": post.letters(conn, (*post.WAITING, OutboxState.FAILED), LETTERS, lane=row.scope_id),
        "evidence": [_evidence(one) for one in evidence.of_run(conn, run_id)],
        "events": [_of(one, "seq", "kind", "actor", "details", at="at") for one in events.of_run(conn, run_id)],
    }


def _joined() -> Select[Any]:
    named = (repositories.c.full_name.label("repository"), scopes.c.key.label("scope"))
    return (
        select(runs_table, *named)
        .join(repositories, repositories.c.id == runs_table.c.repository_id)
        .join(scopes, scopes.c.id == runs_table.c.scope_id)
    )


def _run(conn: Connection, row: Row) -> dict[str, Any]:
    steps = len(runs.steps_of(conn, row.id))
    names = ("repository", "scope", "status", "stage", "blocked_stage", "block_cause", "error", "result")
    more = ("cancel_reason", "final_text", "head_sha", "base_sha", "dedup_tag", "started_by", "version")
    place = steps if row.current_step is None else row.current_step + 1
    times = {name: getattr(row, name) for name in ("created_at", "updated_at", "finished_at")}
    return {"run_id": row.id, **_of(row, *names, *more), "step": place, "steps": steps, **times}


def _cost(turn: Row) -> str:
    """`1 200 tokens 0.04 USD`, as far as its agent told it."""
    took: Mapping[str, Any] = turn.cost_json or {}
    tokens = int(took.get("input") or 0) + int(took.get("output") or 0)
    words = (f"{tokens} tokens" if tokens else "", f"{took['usd']} USD" if took.get("usd") else "")
    return " ".join(word for word in words if word)


def _evidence(row: Row) -> dict[str, Any]:
    meta: Mapping[str, Any] = row.meta_json or {}
    kept = _of(row, "id", "kind", "bytes", "origin", at="at")
    return {**kept, "what": str(meta.get("what", "")), "file": "kept" if row.path else "removed"}


def _of(row: Row, *names: str, at: str = "") -> dict[str, Any]:
    """Some columns, words of closed sets as text; `at` names the time that comes first."""
    values = {name: getattr(row, name) for name in names}
    plain = {name: str(value) if hasattr(value, "value") else value for name, value in values.items()}
    return {"at": getattr(row, at), **plain} if at else plain
