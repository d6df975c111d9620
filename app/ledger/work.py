"""What turns, proofs and publications have in common: queued, started and ended by the holder of their lease (LE-2)."""

from collections.abc import Mapping

from sqlalchemy import Connection, Table, select, update

from app.ledger import leases, spending
from app.ledger.leases import Holder
from app.ledger.rows import Row
from app.ledger.schema import proofs, publications, turns
from app.ledger.schema.work import BEGUN
from app.runs.model import ItemKind, ItemStatus

TABLES: Mapping[ItemKind, Table] = {
    ItemKind.TURN: turns,
    ItemKind.PROOF: proofs,
    ItemKind.PUBLICATION: publications,
}


def resource(kind: ItemKind, item_id: str) -> str:
    """The name of its lease, such as `turn:01J8...`."""
    return f"{kind}:{item_id}"


def get(conn: Connection, kind: ItemKind, item_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    table = TABLES[kind]
    return conn.execute(select(table).where(table.c.id == item_id)).one()


def start(conn: Connection, kind: ItemKind, item_id: str, holder: Holder, now: int, **columns: object) -> bool:
    """QUEUED to RUNNING; False, and nothing is written, if it is not QUEUED or the lease is not this holder's."""
    values = {**columns, "status": ItemStatus.RUNNING, "started_at": now, "tries": TABLES[kind].c.tries + 1}
    return _held(conn, kind, item_id, holder, now) and _move(conn, kind, item_id, (ItemStatus.QUEUED,), values)


def end(conn: Connection, kind: ItemKind, item_id: str, holder: Holder, now: int, **columns: object) -> bool:
    """RUNNING to the status in `columns`; False, and nothing is written, if it is not RUNNING or not this holder's."""
    values = {"finished_at": now, **columns}
    return _held(conn, kind, item_id, holder, now) and _move(conn, kind, item_id, (ItemStatus.RUNNING,), values)


def put_off(conn: Connection, kind: ItemKind, item_id: str, holder: Holder, now: int, *, next_at: int) -> bool:
    """RUNNING back to QUEUED, not before `next_at`; False, and nothing is written, as for `end`."""
    values = {"status": ItemStatus.QUEUED, "next_at": next_at, "rung_at": None, "finished_at": None}
    return end(conn, kind, item_id, holder, now, **values)


def cancel(conn: Connection, kind: ItemKind, item_id: str, now: int) -> bool:
    """QUEUED or RUNNING to CANCELLED, lease dropped, so its worker stops at its next renewal (LE-5, LE-6)."""
    leases.drop(conn, resource(kind, item_id))
    if kind is ItemKind.TURN:
        spending.release(conn, item_id, now)
    return _move(conn, kind, item_id, BEGUN, {"status": ItemStatus.CANCELLED, "finished_at": now})


def is_cancelled(conn: Connection, kind: ItemKind, item_id: str) -> bool:
    """Whether its worker is to stop; a heartbeat can ask this."""
    table = TABLES[kind]
    return conn.execute(select(table.c.status).where(table.c.id == item_id)).scalar() == ItemStatus.CANCELLED


def _held(conn: Connection, kind: ItemKind, item_id: str, holder: Holder, now: int) -> bool:
    return leases.holds(conn, resource(kind, item_id), holder.owner, holder.epoch, now)


def _move(
    conn: Connection, kind: ItemKind, item_id: str, before: tuple[ItemStatus, ...], values: Mapping[str, object]
) -> bool:
    table = TABLES[kind]
    where = (table.c.id == item_id, table.c.status.in_(before))
    return conn.execute(update(table).where(*where).values(**values)).rowcount == 1
