"""One more run of the failed jobs on the same commit, where policy and permission allow it (IT-23, IT-24, BL-9)."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.diagnosis.reading import CheckRead
from app.errors import UserError
from app.github.client import Client
from app.github.errors import PermissionMissing
from app.github.tokens import Purpose
from app.ledger import diagnoses, outbox
from app.ledger.rows import Row
from app.ledger.words import OutboxKind
from app.policy import Policy
from app.runs.model import Cause, Outcome

WORTH_IT = frozenset({Cause.KNOWN_FLAKY, Cause.INFRASTRUCTURE, Cause.NOT_DECIDED})


def may_rerun(client: Client, policy: Policy | None, told: Row, read: Sequence[CheckRead], repository_id: int) -> bool:
    """Whether a second attempt may be asked for at all; the permission is one that a site adds by hand (row 6)."""
    if policy is None or not policy.rerun_first or told.asked_by is not None:
        return False
    if not _runs(read) or any(one.attempt > 1 for one in read):
        return False
    try:
        client.token(Purpose.RERUN, repository_id)
    except (PermissionMissing, UserError):
        return False
    return True


def ask_rerun(conn: Connection, told: Row, outcome: Outcome, read: Sequence[CheckRead], now: int) -> bool:
    """File the request where no group is anybody's fault yet; True if it was filed."""
    causes = {group.cause for group in diagnoses.groups_of(conn, told.id)}
    if outcome not in (Outcome.NOT_OURS, Outcome.INFRASTRUCTURE) or causes - WORTH_IT:
        return False
    for run_id in _runs(read):
        outbox.put(
            conn,
            key=f"rerun:{run_id}:1",
            lane=f"rerun:{run_id}",
            kind=OutboxKind.RERUN_JOBS,
            payload={"scope_id": told.scope_id, "workflow_run_id": run_id, "attempt": 1},
            installation_id=told.installation_id,
            now=now,
        )
    return True


def _runs(read: Sequence[CheckRead]) -> list[int]:
    return sorted({one.workflow_run_id for one in read if one.workflow_run_id is not None})
