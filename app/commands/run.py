"""Run one stored command: ask GitHub who speaks, do it, acknowledge it (CM-6 to CM-10)."""

from app.commands.desk import Desk, Said
from app.commands.table import Command, find
from app.github.permissions import permission_of
from app.github.tokens import Purpose
from app.ledger import commands, outbox, repos, transitions
from app.ledger.rows import Row
from app.ledger.words import CommandOutcome, CommandSource, OutboxKind
from app.services import Services

REACTION = {
    CommandOutcome.ACCEPTED: "+1",
    CommandOutcome.NO_EFFECT: "+1",
    CommandOutcome.REFUSED: "-1",
    CommandOutcome.NOT_UNDERSTOOD: "confused",
}


def run_command(s: Services, command_id: str) -> tuple[tuple[str, str], ...]:
    """Do what a stored command says, once; the doorbells to ring after it. A settled command does nothing."""
    with s.read() as conn:
        row = commands.get(conn, command_id)
        scope = None if row is None or row.scope_id is None else repos.get_scope(conn, row.scope_id)
        repository = None if scope is None else repos.get_repository(conn, scope.repository_id)
    if row is None or row.outcome is not None:
        return ()
    if scope is None or repository is None:
        said = Said(CommandOutcome.REFUSED)
        return _settle(s, row, None, said)
    command = find(row.verb)
    if command is None:
        return _settle(s, row, scope, Said(CommandOutcome.NOT_UNDERSTOOD, "unknown", row.verb))
    if not _may(s, row, scope, repository, command):
        return _settle(s, row, scope, Said(CommandOutcome.REFUSED, "denied", command.who))
    try:
        said = command.run(Desk(s, row, scope, repository))
    except transitions.Overtaken:
        said = command.run(Desk(s, row, scope, repository))
    return (*said.rings, *_settle(s, row, scope, said))


def _may(s: Services, row: Row, scope: Row, repository: Row, command: Command) -> bool:
    """Asked live, and every error means no (CM-6); the author of the pull request may always ask for the status."""
    if command.who == "read" and row.actor_id is not None and row.actor_id == scope.author_id:
        return True
    with s.connect(scope.installation_id) as github:
        client = github.acting(Purpose.READ, repository.id)
        level = permission_of(client, repository.full_name, row.actor)
    return level in ("admin", "write") or (command.who == "read" and level == "read")


def _settle(s: Services, row: Row, scope: Row | None, said: Said) -> tuple[tuple[str, str], ...]:
    """Outcome, reaction and reply in one transaction; a press of a button has no comment to react to."""
    with s.write() as conn:
        if not commands.settle(conn, row.id, said.outcome, said.reply) or scope is None:
            return ()
        if row.source is CommandSource.BUTTON:
            transitions.show(conn, scope.id, s.clock())
            return (("deliver", str(scope.installation_id)),)
        lane = f"comment:{row.source_id}"
        common = {"lane": lane, "installation_id": scope.installation_id, "now": s.clock()}
        if said.reply:
            outbox.put(
                conn,
                key=f"reply:{row.source}:{row.source_id}",
                kind=OutboxKind.REPLY,
                payload={"command_id": row.id, "reply": said.reply, "why": said.why, "reason": said.reason},
                **common,
            )
        outbox.put(
            conn,
            key=f"react:{row.id}",
            kind=OutboxKind.REACT,
            payload={"command_id": row.id, "content": REACTION[said.outcome], "instead_of": "eyes"},
            **common,
        )
    return (("deliver", str(scope.installation_id)),)
