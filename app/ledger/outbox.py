"""The outbox: intended writes to GitHub, in order per lane, sent by one sender per installation (domain.md, 15)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NotRequired, TypedDict, Unpack

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.sql.dml import Update

from app.ledger.ids import new_id
from app.ledger.rows import Row, lock
from app.ledger.schema import installations, outbox
from app.ledger.schema.engine import UNFINISHED
from app.ledger.words import OutboxKind, OutboxState

# Projections of what we know now: a newer text replaces an older one. Everything else is created once.
EDITED_IN_PLACE = frozenset(
    {OutboxKind.UPSERT_COMMENT, OutboxKind.UPSERT_CHECK, OutboxKind.UPDATE_ISSUE, OutboxKind.UPDATE_PULL}
)


class Letter(TypedDict):
    """One intended write. `lane` is the scope's id, `payload` what `jobs/deliver` needs to carry it out."""

    key: str
    lane: str
    kind: str
    payload: Mapping[str, Any]
    installation_id: int
    now: int
    simulated: NotRequired[bool]


def put(conn: Connection, **letter: Unpack[Letter]) -> None:
    """Intend one write, in the transaction of the change that wants it (OB-1).

    A key that waits unsent gets the new payload and keeps its place. A key that is done, failed or dropped: of a kind
    edited in place it waits again at the end, else it is left alone. While it is being sent, a kind edited in place
    waits again once that ends. `simulated` rows are kept as DROPPED and never sent (OB-9). Raises ValueError for a
    kind that is not an `OutboxKind`.
    """
    installation_id, now, simulated = letter["installation_id"], letter["now"], letter.get("simulated", False)
    kind = OutboxKind(letter["kind"])
    wanted = {"lane": letter["lane"], "kind": kind, "payload": dict(letter["payload"]), "simulated": simulated}
    lock(conn, installations, installation_id)
    old = conn.execute(select(outbox).where(outbox.c.key == letter["key"]).with_for_update()).one_or_none()
    if old is None:
        state = OutboxState.DROPPED if simulated else OutboxState.PENDING
        row = {"id": new_id(now), "key": letter["key"], "installation_id": installation_id, "created_at": now}
        conn.execute(outbox.insert().values(**row, **wanted, state=state, seq=_next_seq(conn, installation_id)))
    elif not simulated:
        _replace(conn, old, wanted)


def due(conn: Connection, installation_id: int, now: int) -> Row | None:
    """The oldest row that may be sent now; a lane whose first unfinished row still waits is passed over (OB-2).

    SENDING in the answer means that a dead sender began it: look the thing up before you repeat (OB-4). The pace of
    the installation is the caller's: see `ledger/pace`.
    """
    return conn.execute(_due(), {"installation": installation_id, "now": now}).one_or_none()


@cache
def _due() -> Select[Any]:
    now, installation = bindparam("now", type_=BigInteger), bindparam("installation", type_=BigInteger)
    rows = select(outbox).where(outbox.c.installation_id == installation, is_ready(now))
    return rows.order_by(outbox.c.seq).limit(1)


def find(conn: Connection, key: str) -> Row | None:
    """The row with this key."""
    return conn.execute(select(outbox).where(outbox.c.key == key)).one_or_none()


def sending(conn: Connection, row_id: str, now: int) -> Row | None:
    """Mark it as begun, before the request; send what this returns. None if it is finished already (OB-4)."""
    begun = _unfinished(row_id).values(state=OutboxState.SENDING, started_at=now, tries=outbox.c.tries + 1, again=False)
    return conn.execute(begun.returning(*outbox.c)).one_or_none()


def done(conn: Connection, row_id: str, remote_id: str | int | None, now: int) -> None:
    """It stands at GitHub under `remote_id`; if a newer payload came meanwhile it waits again at the end."""
    known = {} if remote_id is None else {"remote_id": str(remote_id)}
    _end(conn, row_id, OutboxState.DONE, "", now, **known)


def later(conn: Connection, row_id: str, next_at: int, error: str) -> None:
    """Not now: it holds its lane until `next_at` (OB-2)."""
    values = {"state": OutboxState.PENDING, "next_at": next_at, "error": error, "again": False, "rung_at": None}
    conn.execute(_unfinished(row_id).values(**values))


def failed(conn: Connection, row_id: str, error: str, now: int) -> None:
    """Never to be sent: GitHub refused it (OB-7)."""
    _end(conn, row_id, OutboxState.FAILED, error, now)


def try_again(conn: Connection, ids: Sequence[str]) -> list[tuple[str, int]]:
    """Refused letters wait again at the end of their lanes, the named or all; (id, installation) of each.

    Their senders look for what a former try made before they make anything, as after a crash (OB-4).
    """
    wanted = [outbox.c.state == OutboxState.FAILED, *([outbox.c.id.in_(ids)] if ids else [])]
    found = conn.execute(select(outbox.c.id, outbox.c.installation_id).where(*wanted).order_by(outbox.c.seq)).all()
    for row in found:
        lock(conn, installations, row.installation_id)
        _set(conn, row.id, **_fresh(conn, row.installation_id))
    return [(row.id, row.installation_id) for row in found]


def dropped(conn: Connection, row_id: str, why: str, now: int) -> None:
    """Not worth sending any more: the text is about an old head, or nothing changed (OB-3, OB-8)."""
    _end(conn, row_id, OutboxState.DROPPED, why, now)


def installations_due(conn: Connection, now: int, rung_before: int) -> list[int]:
    """Installations, present and not suspended, whose pace allows to send a row whose doorbell did not ring since."""
    return list(conn.execute(_installations_due(), {"now": now, "before": rung_before}).scalars())


@cache
def _installations_due() -> Select[int]:
    now, before = bindparam("now", type_=BigInteger), bindparam("before", type_=BigInteger)
    here = and_(installations.c.suspended_at.is_(None), installations.c.removed_at.is_(None))
    paced = or_(installations.c.next_write_at.is_(None), installations.c.next_write_at <= now)
    unrung = or_(outbox.c.rung_at.is_(None), outbox.c.rung_at <= before)
    ids = select(outbox.c.installation_id).join(installations).where(is_ready(now), here, paced, unrung)
    return ids.distinct().order_by(outbox.c.installation_id)


def _replace(conn: Connection, old: Row, wanted: Mapping[str, Any]) -> None:
    edited = wanted["kind"] in EDITED_IN_PLACE
    untried = old.state == OutboxState.PENDING and old.started_at is None
    if old.state == OutboxState.PENDING and (edited or untried):
        _set(conn, old.id, **wanted)
    elif old.state == OutboxState.SENDING and edited:
        _set(conn, old.id, **wanted, again=True)
    elif old.state not in UNFINISHED and (edited or old.simulated):
        _set(conn, old.id, **wanted, **_fresh(conn, old.installation_id))


def is_ready(now: int | BindParameter[int]) -> ColumnElement[bool]:
    """It may be sent now, and nothing of its lane comes before it."""
    earlier = outbox.alias()
    held = select(earlier.c.id).where(
        earlier.c.lane == outbox.c.lane,
        earlier.c.installation_id == outbox.c.installation_id,
        earlier.c.seq < outbox.c.seq,
        earlier.c.state.in_(UNFINISHED),
    )
    its_time = or_(outbox.c.next_at.is_(None), outbox.c.next_at <= now)
    return and_(outbox.c.state.in_(UNFINISHED), its_time, ~held.exists())


def _end(conn: Connection, row_id: str, state: OutboxState, error: str, now: int, **values: object) -> None:
    find = select(outbox).where(outbox.c.id == row_id)
    installation_id = conn.execute(find).one().installation_id
    lock(conn, installations, installation_id)  # before the row, as `put` does: one order, no deadlock
    if conn.execute(find).one().again:
        _set(conn, row_id, **values, **_fresh(conn, installation_id))
    else:
        conn.execute(_unfinished(row_id).values(state=state, error=error, finished_at=now, **values))


def _fresh(conn: Connection, installation_id: int) -> dict[str, object]:
    """The values of a row that waits at the end of its lane, as if new; GitHub's id is kept."""
    empty = dict.fromkeys(("next_at", "started_at", "finished_at", "rung_at"))
    return empty | {
        "state": OutboxState.PENDING,
        "seq": _next_seq(conn, installation_id),
        "tries": 0,
        "error": "",
        "again": False,
    }


def _next_seq(conn: Connection, installation_id: int) -> int:
    """One more than the last; the caller holds the lock of the installation, so it commits in this order."""
    last = select(func.coalesce(func.max(outbox.c.seq), 0)).where(outbox.c.installation_id == installation_id)
    return int(conn.execute(last).scalar_one()) + 1


def _set(conn: Connection, row_id: str, **values: object) -> None:
    conn.execute(update(outbox).where(outbox.c.id == row_id).values(**values))


def _unfinished(row_id: str) -> Update:
    return update(outbox).where(outbox.c.id == row_id, outbox.c.state.in_(UNFINISHED))
