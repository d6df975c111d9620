"""What a dry run answers: the plan of the failing tests of a head, without anything being started."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.diagnosis.planning import new_run, plan_of
from app.diagnosis.start import facts_of
from app.ledger import diagnoses, outbox, repos
from app.ledger.ids import new_id
from app.ledger.rows import Row
from app.ledger.runs import RunFacts, StepFacts
from app.ledger.words import OutboxKind
from app.runs.model import Run

COMMAND = "command"
"""Name in `diagnoses.details`: the command that asked for the dry run."""


def plan_for(
    conn: Connection, told: Row, groups: Sequence[Row], most: int, now: int
) -> tuple[Run, RunFacts, list[StepFacts]]:
    """The run that would start for these groups, as a plan only."""
    wanted = list(groups)[:most]
    members = {group.id: diagnoses.failures_of_group(conn, group.id) for group in wanted}
    scope = repos.get_scope(conn, told.scope_id)
    repository = None if scope is None else repos.get_repository(conn, scope.repository_id)
    steps, about = plan_of(wanted, members, "" if repository is None else repository.full_name)
    return new_run(new_id(now), steps), facts_of(conn, told), about


def simulate(conn: Connection, told: Row, groups: Sequence[Row], now: int) -> None:
    """Write down what a real start would write to GitHub first; these letters are never sent (OB-9)."""
    scope = repos.get_scope(conn, told.scope_id)
    if scope is None:
        return
    spoken = [OutboxKind.UPSERT_CHECK, *([OutboxKind.UPSERT_COMMENT] if scope.key.startswith("pr:") else [])]
    wanted = [(kind, "") for kind in spoken] + [(OutboxKind.OPEN_ISSUE, group.id) for group in groups]
    for kind, group_id in wanted:
        outbox.put(
            conn,
            key=f"simulated:{kind}:{group_id or told.id}",
            lane=f"simulated:{told.id}",
            kind=kind,
            payload={"scope_id": scope.id, **({"group_id": group_id} if group_id else {})},
            installation_id=scope.installation_id,
            now=now,
            simulated=True,
        )


def answer(conn: Connection, told: Row, text: str, now: int) -> None:
    """File the one answer; without a text there is nothing that fails."""
    scope = repos.get_scope(conn, told.scope_id)
    command_id = (told.details or {}).get(COMMAND, "")
    if scope is None or not command_id:
        return
    outbox.put(
        conn,
        key=f"dry_run:{told.id}",
        lane=f"dry_run:{told.id}",
        kind=OutboxKind.REPLY,
        payload={
            "command_id": command_id,
            "scope_id": scope.id,
            "reply": "text" if text else "nothing",
            "why": "" if text else "no_failures",
            "text": text,
        },
        installation_id=scope.installation_id,
        now=now,
    )
