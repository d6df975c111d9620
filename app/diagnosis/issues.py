"""One issue per failure group: link what is open, open again what came back, register what is new (IT-27, IT-28)."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.ledger import diagnoses, issues, outbox
from app.ledger.rows import Row
from app.ledger.words import OutboxKind

REOPEN_MS = 30 * 24 * 3600 * 1000


def link_issues(conn: Connection, scope: Row, groups: Sequence[Row], now: int) -> None:
    """Give every group its issue; the rows decide, GitHub follows by the outbox. Doing it again changes nothing."""
    for group in groups:
        if group.issue_id is not None:
            continue
        prints = [failure.fingerprint for failure in diagnoses.failures_of_group(conn, group.id)]
        issue_id, kind = _issue_of(conn, scope, group, prints, now)
        diagnoses.link_issue(conn, group.id, issue_id)
        outbox.put(
            conn,
            key=_key(kind, issue_id, issues.get(conn, issue_id)),
            lane=f"issue:{issue_id}",
            kind=kind,
            payload={"issue_id": issue_id, "group_id": group.id, "scope_id": scope.id},
            installation_id=scope.installation_id,
            now=now,
        )


def refresh_issues(conn: Connection, scope: Row, groups: Sequence[Row], now: int) -> None:
    """Write the issues of these groups anew: what was seen, and where the fix is (IT-27)."""
    for group in groups:
        if group.issue_id is None:
            continue
        outbox.put(
            conn,
            key=f"{OutboxKind.UPDATE_ISSUE}:{group.issue_id}",
            lane=f"issue:{group.issue_id}",
            kind=OutboxKind.UPDATE_ISSUE,
            payload={"issue_id": group.issue_id, "group_id": group.id, "scope_id": scope.id},
            installation_id=scope.installation_id,
            now=now,
        )


def _issue_of(conn: Connection, scope: Row, group: Row, prints: Sequence[str], now: int) -> tuple[str, OutboxKind]:
    known = issues.open_for(conn, scope.repository_id, prints)
    if known is not None:
        issues.attach(conn, known.id, prints)
        issues.seen(conn, known.id, now)
        return known.id, OutboxKind.UPDATE_ISSUE
    shut = issues.closed_for(conn, scope.repository_id, prints, now - REOPEN_MS)
    if shut is not None and issues.reopen(conn, shut.id, prints, now):
        return shut.id, OutboxKind.REOPEN_ISSUE
    made = issues.register(conn, scope.repository_id, group.fingerprint, prints, now)
    return made, OutboxKind.OPEN_ISSUE


def _key(kind: OutboxKind, issue_id: str, issue: Row) -> str:
    """Things created once carry what they were created for; an update replaces the one before."""
    if kind is OutboxKind.REOPEN_ISSUE:
        return f"{kind}:{issue_id}:{issue.last_seen_at}"
    return f"{kind}:{issue_id}"
