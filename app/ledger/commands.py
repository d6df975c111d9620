"""Commands and button presses: a row each, so that every one is answered once (CM-10)."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict, Unpack

from sqlalchemy import Connection, select, update

from app.ledger.ids import new_id
from app.ledger.rows import Row, insert_new
from app.ledger.schema import commands
from app.ledger.words import CommandOutcome, CommandSource


class NewCommand(TypedDict):
    """One line of a comment, or one press; `source_id` is GitHub's id of the comment, or the guid of the press."""

    source: CommandSource
    source_id: str
    ordinal: int
    scope_id: str | None
    actor_id: int | None
    actor: str
    verb: str
    args: str
    url: str
    now: int
    thread: NotRequired[int]
    """Number of the issue or pull request where it was said; a press has none."""


def store(conn: Connection, **command: Unpack[NewCommand]) -> str | None:
    """Keep one command; its id, or None if this line of this comment (or this press) is known already."""
    values: dict[str, Any] = dict(command)
    at = values.pop("now")
    command_id = new_id(at)
    return command_id if insert_new(conn, commands, id=command_id, at=at, **values) else None


def get(conn: Connection, command_id: str) -> Row | None:
    return conn.execute(select(commands).where(commands.c.id == command_id)).one_or_none()


def waiting(conn: Connection) -> Sequence[Row]:
    """Commands without an outcome, in the order in which they came (CM-2)."""
    rows = select(commands).where(commands.c.outcome.is_(None))
    return conn.execute(rows.order_by(commands.c.at, commands.c.source, commands.c.source_id, commands.c.ordinal)).all()


def settle(conn: Connection, command_id: str, outcome: CommandOutcome, reply: str) -> bool:
    """Give it its outcome; False if it has one already."""
    open_ = (commands.c.id == command_id, commands.c.outcome.is_(None))
    return conn.execute(update(commands).where(*open_).values(outcome=outcome, reply=reply)).rowcount == 1


def last_of_page(conn: Connection, scope_id: str) -> Row | None:
    """What was last asked for on a page of ours."""
    mine = (commands.c.scope_id == scope_id, commands.c.source == CommandSource.PAGE)
    return conn.execute(select(commands).where(*mine).order_by(commands.c.at.desc()).limit(1)).one_or_none()
