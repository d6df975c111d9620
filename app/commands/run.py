"""Run one stored command: ask GitHub who speaks, do it, acknowledge it (CM-6 to CM-10)."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from app.commands.desk import Desk, Said, refused
from app.commands.table import Command, find
from app.github.permissions import standing_of
from app.github.tokens import Purpose
from app.ledger import commands, events, issues, outbox, repos, runs, told, transitions
from app.ledger.rows import Row
from app.ledger.rules import policy_of
from app.ledger.words import CommandOutcome, CommandSource, EventKind, OutboxKind
from app.policy import Policy
from app.services import Services

Ring = tuple[str, str]
REACTION = {
    CommandOutcome.ACCEPTED: "+1",
    CommandOutcome.NO_EFFECT: "+1",
    CommandOutcome.REFUSED: "-1",
    CommandOutcome.NOT_UNDERSTOOD: "confused",
}


def run_command(s: Services, command_id: str) -> tuple[Ring, ...]:
    """Do what a stored command says, once; the doorbells to ring after it. A settled command does nothing."""
    with s.read() as conn:
        row = commands.get(conn, command_id)
        scope = None if row is None or row.scope_id is None else repos.get_scope(conn, row.scope_id)
        repository = None if scope is None else repos.get_repository(conn, scope.repository_id)
    if row is None or row.outcome is not None:
        return ()
    if scope is None or repository is None:
        return _answer(s, row, None, _refuse)
    command = find(row.verb)
    may = _may(s, row, scope, repository, command)
    if not may and not policy_of(repository).get("enabled"):
        # Somebody without the right to speak, where Remedy was never switched on: silence (UX-N4).
        return _answer(s, row, None, _refuse)
    if command is None:
        return _answer(s, row, scope, lambda conn: Said(CommandOutcome.NOT_UNDERSTOOD, "unknown", row.verb))
    if not may:
        return _answer(s, row, scope, lambda conn: Said(CommandOutcome.REFUSED, "denied", command.who))
    act = partial(_act, command, Desk(s, row, scope, repository))
    try:
        return _answer(s, row, scope, act)
    except transitions.Overtaken:
        return _answer(s, row, scope, act)


def _act(command: Command, desk: Desk, conn: Connection) -> Said:
    return _one_of_several(desk, command, conn) or command.run(desk, conn)


def _refuse(conn: Connection) -> Said:
    return Said(CommandOutcome.REFUSED)


def _one_of_several(desk: Desk, command: Command, conn: Connection) -> Said | None:
    """On an issue of ours that several runs repair it is not clear which one is meant (decisions.md, row 70)."""
    if command.who != "write" or desk.command.thread is None:
        return None
    found = issues.scopes_of(conn, desk.repository.id, desk.command.thread)
    keys = [repos.get_scope(conn, scope_id) for scope_id in found]
    if len(found) < 2:
        return None
    names = ", ".join(scope.key.replace("pr:", "pull request ") for scope in keys if scope is not None)
    return refused("other", f"Several runs repair this: {names}. Say it there.")


def give_up(s: Services, command_id: str) -> tuple[Ring, ...]:
    """Refuse a command that fails again and again, so that its writer hears of it; the doorbells to ring after it."""
    with s.read() as conn:
        row = commands.get(conn, command_id)
        scope = None if row is None or row.scope_id is None else repos.get_scope(conn, row.scope_id)
    if row is None:
        return ()
    return _answer(s, row, scope, lambda conn: refused("other", "Remedy itself failed at it; its log says why."))


def _may(s: Services, row: Row, scope: Row, repository: Row, command: Command | None) -> bool:
    """Asked live, and every error means no (CM-6); the author of the pull request may always ask for the status.

    Policy may narrow who commands to a role or to people, and never widens what GitHub says (W92). A word that is no
    command may be said by every reader: its answer changes nothing.
    """
    needs = "read" if command is None else command.who
    if needs == "read" and row.actor_id is not None and row.actor_id == scope.author_id:
        return True
    with s.connect(scope.installation_id) as github:
        standing = standing_of(github.acting(Purpose.READ, repository.id), repository.full_name, row.actor)
    if standing.user is not None and row.actor_id not in (None, standing.user.id):
        return False
    if needs == "read":
        return standing.permission in ("admin", "write", "read")
    policy = Policy.model_validate(policy_of(repository))
    return policy.lets(row.actor_id or 0, standing.permission, standing.role_name)


def _answer(s: Services, row: Row, scope: Row | None, act: Callable[[Connection], Said]) -> tuple[Ring, ...]:
    """The deed and its outcome in one transaction, so that a lost worker's command is done once (CM-10)."""
    with s.write() as conn:
        known = commands.get(conn, row.id)
        if known is None or known.outcome is not None:
            return ()
        said = act(conn)
        commands.settle(conn, row.id, said.outcome, said.reply)
        if said.outcome is CommandOutcome.REFUSED and scope is not None:
            _note_refusal(conn, row, scope, said, s.clock())
        if scope is None:
            return said.rings
        _acknowledge(conn, row, scope, said, s.clock())
    return (*said.rings, ("deliver", str(scope.installation_id)))


def _note_refusal(conn: Connection, row: Row, scope: Row, said: Said, now: int) -> None:
    """The run that was meant tells of it, too (CM-10)."""
    run = runs.active(conn, scope.id)
    if run is not None:
        events.append(conn, run.id, EventKind.COMMAND_REFUSED, {"verb": row.verb, "why": said.why}, row.actor, now)


def _acknowledge(conn: Connection, row: Row, scope: Row, said: Said, now: int) -> None:
    """Reaction and reply; a press of a button has no comment to react to: check or page say it (CM-11)."""
    if row.source in (CommandSource.BUTTON, CommandSource.PAGE):
        if row.source is CommandSource.BUTTON:
            repos.note(conn, scope.id, told.PRESSED, _press(row, scope, said))
        transitions.show(conn, scope.id, now)
        return
    common = {"lane": f"comment:{row.source_id}", "installation_id": scope.installation_id, "now": now}
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


def _press(row: Row, scope: Row, said: Said) -> dict[str, object] | None:
    """What the check says about a press; one that changed nothing leaves no word."""
    if said.outcome is CommandOutcome.NO_EFFECT:
        return None
    refused = said.outcome is not CommandOutcome.ACCEPTED
    why = {"refused": said.reason, "denied": said.reply == "denied"} if refused else {}
    return {"sha": scope.head_sha, "by": row.actor, "verb": row.verb, **why}
