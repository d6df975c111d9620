"""A failure of the base is one incident: repaired once, in the scope of the base branch (IT-25)."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.ledger import diagnoses, repos, runs
from app.ledger.repos import ScopeFacts
from app.ledger.rows import Row
from app.policy import Policy
from app.runs.model import Cause


def open_incident(
    conn: Connection, scope: Row, groups: Sequence[Row], policy: Policy | None, tip_sha: str, now: int
) -> tuple[tuple[str, str], ...]:
    """Diagnose the base itself, if policy repairs it and nobody works on it; the doorbell to ring, if any."""
    wanted = policy is not None and Cause.BASE_RED.value in policy.causes
    if not wanted or not tip_sha or scope.key.startswith("branch:"):
        return ()
    if not any(group.cause is Cause.BASE_RED for group in groups):
        return ()
    facts = ScopeFacts(
        scope.repository_id,
        f"branch:{scope.base_ref}",
        scope.repository_id,
        scope.base_ref,
        tip_sha,
        scope.base_ref,
        "",
    )
    base = repos.upsert_scope(conn, facts, now)
    if runs.active(conn, base.id) is not None or diagnoses.last(conn, base.id, tip_sha) is not None:
        return ()
    diagnosis_id, _ = diagnoses.open(conn, base.id, tip_sha, now, now)
    return (("diagnose", diagnosis_id),)
