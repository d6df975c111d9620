"""One incident, many pull requests: who else shows a failure of the base, and which pull request repairs it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from app.ledger import publications
from app.ledger.rows import Row
from app.ledger.schema import diagnoses, failure_groups, issues, runs, scopes
from app.ledger.words import ScopeState
from app.runs.model import Cause, Status

BASE_TIP = "base_tip"
"""Name in `diagnoses.details`: the tip of the base that the failures were compared with."""


def shown(conn: Connection, scope: Row, told: Row | None, web_url: str) -> Mapping[str, Any]:
    """The fields of a ScopeView about a failure that the base has as well (state 03)."""
    issue_ids = [] if told is None else _base_issues(conn, told.id)
    if not issue_ids:
        return {}
    number, first = _repair(conn, scope), _first_seen(conn, issue_ids)
    return {
        "also_red_in": len(set(also_red(conn, issue_ids)) - {scope.id}),
        "base_repair_number": number,
        "base_red_since": None if first is None or told is None or first.id == told.id else _tip_of(first),
        "base_repair_url": None if number is None else f"{web_url}/pull/{number}",
    }


def also_red(conn: Connection, issue_ids: list[str]) -> list[str]:
    """Open pull requests whose head shows one of these issues as a failure of the base."""
    return list(conn.execute(_showing(issue_ids).where(failure_groups.c.cause == Cause.BASE_RED)).scalars())


def shown_elsewhere(conn: Connection, issue_id: str, scope_id: str) -> bool:
    """Whether the head of another open pull request shows this failure: then it is not over (W17)."""
    return any(found != scope_id for found in showing(conn, issue_id))


def showing(conn: Connection, issue_id: str) -> list[str]:
    """Open pull requests whose head shows this failure."""
    return list(conn.execute(_showing([issue_id])).scalars())


def _showing(issue_ids: list[str]) -> Select[Any]:
    return (
        select(scopes.c.id)
        .join(diagnoses, diagnoses.c.scope_id == scopes.c.id)
        .join(failure_groups, failure_groups.c.diagnosis_id == diagnoses.c.id)
        .where(
            failure_groups.c.issue_id.in_(issue_ids),
            scopes.c.state == ScopeState.OPEN,
            scopes.c.key.like("pr:%"),
            diagnoses.c.head_sha == scopes.c.head_sha,
            or_(scopes.c.green_sha.is_(None), scopes.c.green_sha != scopes.c.head_sha),
        )
        .distinct()
        .order_by(scopes.c.id)
    )


def is_base_issue(conn: Connection, issue_id: str) -> bool:
    """Whether any diagnosis found this failure on the base, or in the scope of a branch."""
    rows = (
        select(func.count())
        .select_from(failure_groups)
        .join(diagnoses, diagnoses.c.id == failure_groups.c.diagnosis_id)
        .join(scopes, scopes.c.id == diagnoses.c.scope_id)
        .where(
            failure_groups.c.issue_id == issue_id,
            (failure_groups.c.cause == Cause.BASE_RED) | scopes.c.key.like("branch:%"),
        )
    )
    return bool(conn.execute(rows).scalar_one())


def _base_issues(conn: Connection, diagnosis_id: str) -> list[str]:
    rows = select(failure_groups.c.issue_id).where(
        failure_groups.c.diagnosis_id == diagnosis_id,
        failure_groups.c.cause == Cause.BASE_RED,
        failure_groups.c.issue_id.is_not(None),
    )
    return list(conn.execute(rows).scalars())


def _first_seen(conn: Connection, issue_ids: list[str]) -> Row | None:
    """The first diagnosis that found one of these failures on the base, since its issue is open this time."""
    rows = (
        select(diagnoses)
        .join(failure_groups, failure_groups.c.diagnosis_id == diagnoses.c.id)
        .join(issues, issues.c.id == failure_groups.c.issue_id)
        .where(
            issues.c.id.in_(issue_ids),
            failure_groups.c.cause == Cause.BASE_RED,
            diagnoses.c.finished_at >= issues.c.opened_at,
        )
    )
    return conn.execute(rows.order_by(diagnoses.c.finished_at, diagnoses.c.id).limit(1)).one_or_none()


def _tip_of(told: Row) -> tuple[str, int] | None:
    """Commit and time of a diagnosis' look at the base."""
    sha = (told.details or {}).get(BASE_TIP, "")
    return (sha, told.finished_at) if sha else None


def _repair(conn: Connection, scope: Row) -> int | None:
    """The pull request that repairs the base of this scope, as long as its run has not failed."""
    base = select(scopes.c.id).where(
        scopes.c.repository_id == scope.repository_id, scopes.c.key == f"branch:{scope.base_ref}"
    )
    newest = select(runs).where(runs.c.scope_id.in_(base), runs.c.status != Status.CANCELLED)
    run = conn.execute(newest.order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(1)).one_or_none()
    published = [] if run is None else publications.of_run(conn, run.id)
    return published[-1].pr_number if published else None
