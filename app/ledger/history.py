"""The history of tests: what each did where, so that flakiness is a count and not a feeling (IT-24)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, func, select

from app.ledger.rows import Row, insert_new
from app.ledger.schema import diagnoses, failure_groups, scopes, test_history
from app.runs.view import SeenRow

FAILED, PASSED = "failed", "passed"


@dataclass(frozen=True)
class Seen:
    """One outcome of one test; `env` names the job or tree it ran in, `source` who says so: `log`, `junit`, `proof`."""

    repository_id: int
    test_id: str
    env: str
    sha: str
    attempt: int
    source: str
    outcome: str
    fingerprint: str = ""


def record(conn: Connection, seen: Sequence[Seen], now: int) -> int:
    """Keep outcomes; how many were new. The first word about a test in an attempt stays."""
    return sum(insert_new(conn, test_history, **asdict(one), at=now) for one in seen)


def of_test(conn: Connection, repository_id: int, test_id: str, since: int) -> Sequence[Row]:
    """Outcomes of a test since a time, oldest first (BL-2: history is ordered)."""
    same = (test_history.c.repository_id == repository_id, test_history.c.test_id == test_id)
    rows = select(test_history).where(*same, test_history.c.at >= since)
    return conn.execute(rows.order_by(test_history.c.at, test_history.c.sha, test_history.c.attempt)).all()


def at_sha(conn: Connection, repository_id: int, sha: str) -> Sequence[Row]:
    """Outcomes of all tests at one commit, by test and attempt (BL-16)."""
    rows = select(test_history).where(test_history.c.repository_id == repository_id, test_history.c.sha == sha)
    return conn.execute(rows.order_by(test_history.c.test_id, test_history.c.attempt)).all()


def failed_at(conn: Connection, repository_id: int, sha: str) -> Sequence[Row]:
    """Failures at a commit, by test and job, that no pass in a later attempt has answered yet."""
    rows = at_sha(conn, repository_id, sha)
    passed = {(row.test_id, row.env): row.attempt for row in rows if row.outcome == "passed"}
    last = {(row.test_id, row.env): row for row in rows if row.outcome == "failed"}
    return [row for (test, env), row in last.items() if passed.get((test, env), 0) <= row.attempt]


def sightings(conn: Connection, repository_id: int, fingerprints: Sequence[str]) -> int:
    """In how many attempts, of all commits, one of these failures was seen (W30)."""
    same = (test_history.c.repository_id == repository_id, test_history.c.fingerprint.in_(fingerprints))
    rows = select(test_history.c.sha, test_history.c.attempt).where(*same, test_history.c.outcome == FAILED)
    return conn.execute(select(func.count()).select_from(rows.distinct().subquery())).scalar_one()


def green_shas(conn: Connection, repository_id: int, test_id: str, most: int) -> tuple[str, ...]:
    """The commits where a test was last seen passing in a whole green job, newest first."""
    same = (test_history.c.repository_id == repository_id, test_history.c.test_id == test_id)
    rows = select(test_history.c.sha).where(*same, test_history.c.outcome == "passed", test_history.c.source == "check")
    return tuple(conn.execute(rows.order_by(test_history.c.at.desc()).limit(most)).scalars())


def seen_rows(conn: Connection, issue_id: str) -> tuple[SeenRow, ...]:
    """Where the failures of an issue were seen, newest first, the last 20."""
    rows = (
        select(diagnoses.c.created_at, diagnoses.c.head_sha, failure_groups.c.cause, scopes.c.key)
        .join(failure_groups, failure_groups.c.diagnosis_id == diagnoses.c.id)
        .join(scopes, scopes.c.id == diagnoses.c.scope_id)
        .where(failure_groups.c.issue_id == issue_id)
        .order_by(diagnoses.c.created_at.desc())
        .limit(20)
    )
    return tuple(
        SeenRow(row.created_at, _place(row.key), "fails", row.head_sha, row.cause) for row in conn.execute(rows)
    )


def _place(key: str) -> str:
    """A scope's key as people read it: "PR 318", "branch main"."""
    kind, _, name = key.partition(":")
    return f"PR {name}" if kind == "pr" else f"branch {name}"
