"""The small pull request that adds `.github/remedy.yml`: where it was proposed, and where it may still be."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from app.ledger import outbox, repos
from app.ledger.rules import policy_of
from app.ledger.schema import installations, repositories
from app.ledger.schema import outbox as outbox_table
from app.ledger.words import OutboxKind, OutboxState

BY_ITSELF = 10
"""Repositories of one installation that are asked without a person's press."""
MOST_ROWS = 500
PREFIX = "policy:"


@dataclass(frozen=True)
class Line:
    """One repository on the set-up page; `state` is configured, waiting, proposed, dropped, failed, or empty."""

    repository_id: int
    full_name: str
    state: str
    number: int | None = None
    why: str = ""


def propose_some(conn: Connection, installation_id: int, repository_ids: Collection[int], now: int) -> bool:
    """After an installation: propose to the first few; True if anything is to be sent now."""
    mine = (outbox_table.c.installation_id == installation_id, outbox_table.c.key.startswith(PREFIX))
    sent = conn.execute(select(func.count()).select_from(outbox_table).where(*mine)).scalar_one()
    chosen = sorted(repository_ids)[: max(0, BY_ITSELF - int(sent))]
    for number in chosen:
        _put(conn, installation_id, number, now, by_person=False)
    return bool(chosen)


def propose(conn: Connection, repository_id: int, now: int) -> int | None:
    """A person asked for it in one repository; the installation to ring, None for an unknown repository."""
    row = repos.get_repository(conn, repository_id)
    if row is None or row.removed_at is not None:
        return None
    _put(conn, row.installation_id, repository_id, now, by_person=True)
    return int(row.installation_id)


def rows(conn: Connection) -> list[Line]:
    """All present repositories by name, with what came of the proposal."""
    present = (repositories.c.removed_at.is_(None), installations.c.removed_at.is_(None))
    found = (
        select(repositories)
        .join(installations, installations.c.id == repositories.c.installation_id)
        .where(*present)
        .order_by(func.lower(repositories.c.full_name))
        .limit(MOST_ROWS)
    )
    lines = []
    for row in conn.execute(found).all():
        letter = outbox.find(conn, _key(row.id))
        if policy_of(row).get("enabled"):
            lines.append(Line(row.id, row.full_name, "configured"))
        elif letter is None:
            lines.append(Line(row.id, row.full_name, ""))
        else:
            states = {OutboxState.DONE: "proposed", OutboxState.DROPPED: "dropped", OutboxState.FAILED: "failed"}
            number = int(letter.remote_id) if letter.remote_id and letter.remote_id.isdecimal() else None
            lines.append(Line(row.id, row.full_name, states.get(letter.state, "waiting"), number, letter.error))
    return lines


def _put(conn: Connection, installation_id: int, repository_id: int, now: int, *, by_person: bool) -> None:
    """One letter for a repository, ever: what was sent or dropped is left alone (OB-1).

    It is a letter of kind OPEN_PULL, as any other pull request of ours; its payload says what it is about.
    """
    key = _key(repository_id)
    outbox.put(
        conn,
        key=key,
        lane=key,
        kind=OutboxKind.OPEN_PULL,
        payload={"repository_id": repository_id, "policy": "by a person" if by_person else "by itself"},
        installation_id=installation_id,
        now=now,
    )


def _key(repository_id: int) -> str:
    return f"{PREFIX}{repository_id}"
