"""What the ledger knows about the scopes of one repository, as plain values for JSON."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Table, select

from app.ledger import repos, runs
from app.ledger.engine import read
from app.ledger.proofs import cells_of
from app.ledger.rows import Row
from app.ledger.schema import diagnoses, failure_groups, failures, issues, proofs, publications, sessions, turns

Json = dict[str, Any]

_DIAGNOSIS = ("id", "head_sha", "state", "outcome", "problem", "dedup_tag", "failures_total", "dry_run", "finished_at")
_GROUP = ("id", "title", "cause", "how_we_know", "why_grouped")
_FAILURE = ("test_id", "kind", "framework", "error_head", "detail_tail", "file", "line", "fingerprint", "group_id")
_RUN = (
    *("id", "dedup_tag", "head_sha", "base_sha", "status", "stage", "blocked_stage", "block_cause", "error"),
    *("current_step", "round", "restarts", "self_repairs", "active_kind", "active_id", "supervisor_session_id"),
    *("ci", "result", "cancel_reason", "final_text", "created_at", "updated_at", "finished_at"),
)
_STEP = ("step_id", "title", "summary", "risk", "phase", "phase_label", "status", "attempts", "session_id", "feedback")
_SESSION = ("id", "role", "runner_id", "model", "state")
_TURN = ("id", "session_id", "step_id", "role", "purpose", "status", "error_code", "created_at", "finished_at")
_PROOF = ("id", "step_id", "kind", "attempt", "tree", "status", "outcome", "reason", "tier", "finished_at")
_CELL = ("tree_name", "test_id", "expected", "runs", "passes", "fails", "not_run")
_PUBLICATION = ("id", "mode", "tree", "branch", "pushed_sha", "pr_number", "status", "refusal", "ci")


def read_status(engine: Engine, installation_id: int, full_name: str, scope_key: str | None) -> Json | None:
    """One scope, or `{"repository", "scopes"}` with all open ones; None if this installation has no such repository."""
    with read(engine) as conn:
        repository = repos.find_repository(conn, installation_id, full_name)
        if repository is None:
            return None
        if scope_key is not None:
            scope = repos.find_scope(conn, repository.id, scope_key)
            return _scope(conn, scope) if scope else _unknown(scope_key)
        rows = repos.open_scopes(conn, installation_id, repository.id)
        return {"repository": repository.full_name, "scopes": [_scope(conn, row) for row in rows]}


def _unknown(scope_key: str) -> Json:
    """A scope without a run is not an error, and neither is one that we never heard of (C6)."""
    return {"scope": scope_key, "status": "NOT_STARTED", "diagnosis": None, "run": None}


def _scope(conn: Connection, scope: Row) -> Json:
    run = runs.last(conn, scope.id)
    return {
        "scope": scope.key,
        "status": run.status if run else "NOT_STARTED",
        "state": scope.state,
        "head_sha": scope.head_sha,
        "off_by": scope.off_by,
        "diagnosis": _diagnosis(conn, scope.id),
        "run": _run(conn, run) if run else None,
    }


def _diagnosis(conn: Connection, scope_id: str) -> Json | None:
    newest = select(diagnoses).where(diagnoses.c.scope_id == scope_id).order_by(diagnoses.c.id.desc()).limit(1)
    row = conn.execute(newest).one_or_none()
    if row is None:
        return None
    linked = select(failure_groups, issues.c.number.label("issue")).outerjoin(issues)
    of_diagnosis = linked.where(failure_groups.c.diagnosis_id == row.id).order_by(failure_groups.c.ord)
    groups = [_pick(group, (*_GROUP, "issue")) for group in conn.execute(of_diagnosis)]
    named = select(failures).where(failures.c.diagnosis_id == row.id).order_by(failures.c.ord)
    return {
        **_pick(row, _DIAGNOSIS),
        "groups": groups,
        "failures": [_pick(failure, _FAILURE) for failure in conn.execute(named)],
    }


def _run(conn: Connection, run: Row) -> Json:
    return {
        **_pick(run, _RUN),
        "steps": [_pick(step, _STEP) for step in runs.steps_of(conn, run.id)],
        "sessions": [_pick(row, _SESSION) for row in _of_run(conn, sessions, run.id)],
        "turns": [_pick(row, _TURN) for row in _of_run(conn, turns, run.id)],
        "proofs": [_proof(conn, row) for row in _of_run(conn, proofs, run.id)],
        "publications": [_pick(row, _PUBLICATION) for row in _of_run(conn, publications, run.id)],
    }


def _proof(conn: Connection, proof: Row) -> Json:
    return {**_pick(proof, _PROOF), "cells": [_pick(cell, _CELL) for cell in cells_of(conn, proof.id)]}


def _of_run(conn: Connection, table: Table, run_id: str) -> Sequence[Row]:
    return conn.execute(select(table).where(table.c.run_id == run_id).order_by(table.c.created_at, table.c.id)).all()


def _pick(row: Row, names: Sequence[str]) -> Json:
    values = row._mapping
    return {name: values[name] for name in names}
