"""The registry of issues: which failure has which open issue; the local truth (IT-27, IT-28)."""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from app.ledger.ids import new_id
from app.ledger.rows import Row, insert_new
from app.ledger.schema import failure_groups, issue_failures, issues, runs, steps
from app.ledger.schema.run import ACTIVE
from app.ledger.words import IssueState


def open_for(conn: Connection, repository_id: int, fingerprints: Sequence[str]) -> Row | None:
    """The open issue with the lowest number that holds one of these failures; one without a number yet comes last."""
    held = (
        issue_failures.c.repository_id == repository_id,
        issue_failures.c.failure_fingerprint.in_(fingerprints),
        issue_failures.c.open,
    )
    rows = select(issues).join(issue_failures).where(*held)
    lowest = rows.order_by(issues.c.number.is_(None), issues.c.number, issues.c.id).limit(1)
    return conn.execute(lowest).one_or_none()


def closed_for(conn: Connection, repository_id: int, fingerprints: Sequence[str], since: int) -> Row | None:
    """The issue closed last, not before `since`, that held one of these failures: it is reopened (IT-28)."""
    held = (
        issue_failures.c.repository_id == repository_id,
        issue_failures.c.failure_fingerprint.in_(fingerprints),
        issues.c.state == IssueState.CLOSED,
        issues.c.closed_at >= since,
    )
    rows = select(issues).join(issue_failures).where(*held).order_by(issues.c.closed_at.desc(), issues.c.number)
    return conn.execute(rows.limit(1)).one_or_none()


def register(
    conn: Connection,
    repository_id: int,
    fingerprint: str,
    failures: Sequence[str],
    now: int,
    number: int | None = None,
) -> str:
    """An open issue for a group's fingerprint and its failures; its id. No number: it is about to be opened."""
    issue_id = new_id(now)
    row = {"id": issue_id, "repository_id": repository_id, "number": number, "fingerprint": fingerprint}
    conn.execute(issues.insert().values(**row, seen_count=1, last_seen_at=now, created_at=now, opened_at=now))
    attach(conn, issue_id, failures)
    return issue_id


def numbered(conn: Connection, issue_id: str, number: int) -> None:
    """GitHub gave it this number."""
    conn.execute(update(issues).where(issues.c.id == issue_id).values(number=number))


def attach(conn: Connection, issue_id: str, failures: Sequence[str]) -> list[str]:
    """Add failures to an open issue; those that were added. A failure with another open issue stays there."""
    repository_id = get(conn, issue_id).repository_id
    row = {"issue_id": issue_id, "repository_id": repository_id, "open": True}
    return [f for f in failures if insert_new(conn, issue_failures, failure_fingerprint=f, **row)]


def seen(conn: Connection, issue_id: str, now: int) -> None:
    """Its failure was seen once more; the green streak ends."""
    values = {"seen_count": issues.c.seen_count + 1, "last_seen_at": now, "green_count": 0}
    conn.execute(update(issues).where(issues.c.id == issue_id).values(**values))


def green(conn: Connection, issue_id: str) -> int:
    """Its failure was seen passing on base; how often in a row now."""
    more = update(issues).where(issues.c.id == issue_id).values(green_count=issues.c.green_count + 1)
    return int(conn.execute(more.returning(issues.c.green_count)).scalar_one())


def close(conn: Connection, issue_id: str, reason: str, now: int) -> bool:
    """Closed by evidence; its failures may have a new issue. False if it was closed already."""
    values = {"state": IssueState.CLOSED, "closed_reason": reason, "closed_at": now}
    still = (issues.c.id == issue_id, issues.c.state == IssueState.OPEN)
    conn.execute(update(issue_failures).where(issue_failures.c.issue_id == issue_id).values(open=False))
    return conn.execute(update(issues).where(*still).values(**values)).rowcount == 1


def reopen(conn: Connection, issue_id: str, failures: Sequence[str], now: int) -> bool:
    """Open again, holding these failures; False if it was open already."""
    fresh = {"closed_reason": "", "closed_at": None, "green_count": 0, "last_seen_at": now, "opened_at": now}
    values = {"state": IssueState.OPEN, **fresh}
    shut = (issues.c.id == issue_id, issues.c.state == IssueState.CLOSED)
    if conn.execute(update(issues).where(*shut).values(**values)).rowcount == 0:
        return False
    conn.execute(issue_failures.delete().where(issue_failures.c.issue_id == issue_id))
    attach(conn, issue_id, failures)
    return True


def get(conn: Connection, issue_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return conn.execute(select(issues).where(issues.c.id == issue_id)).one()


def find(conn: Connection, repository_id: int, number: int) -> Row | None:
    """The issue of ours with this number."""
    rows = select(issues).where(issues.c.repository_id == repository_id, issues.c.number == number)
    return conn.execute(rows).one_or_none()


def scopes_of(conn: Connection, repository_id: int, number: int) -> list[str]:
    """The scopes of the active runs that repair a group of this issue."""
    rows = (
        select(runs.c.scope_id)
        .join(steps, steps.c.run_id == runs.c.id)
        .join(failure_groups, failure_groups.c.id == steps.c.group_id)
        .join(issues, issues.c.id == failure_groups.c.issue_id)
        .where(issues.c.repository_id == repository_id, issues.c.number == number, runs.c.status.in_(ACTIVE))
        .distinct()
        .order_by(runs.c.scope_id)
    )
    return list(conn.execute(rows).scalars())


def open_of_repository(conn: Connection, repository_id: int) -> Sequence[Row]:
    """All open issues of a repository, lowest number first."""
    rows = select(issues).where(issues.c.repository_id == repository_id, issues.c.state == IssueState.OPEN)
    return conn.execute(rows.order_by(issues.c.number.is_(None), issues.c.number)).all()


def failures_of(conn: Connection, issue_id: str) -> list[str]:
    """The fingerprints that an issue holds."""
    rows = select(issue_failures.c.failure_fingerprint).where(issue_failures.c.issue_id == issue_id)
    return list(conn.execute(rows.order_by(issue_failures.c.failure_fingerprint)).scalars())
