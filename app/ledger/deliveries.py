"""Deliveries: every webhook that came in, stored before anything else happens (IT-1 to IT-4)."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, func, or_, select, update

from app.ledger.rows import Row, insert_new
from app.ledger.schema import deliveries
from app.ledger.words import DeliveryState

CANNOT_READ = "cannot be read: "
"""How the reason begins where a body has no model, or does not fit it."""
_AGAIN: dict[str, Any] = {"state": DeliveryState.RECEIVED, "next_at": None, "rung_at": None, "handled_at": None}
_WITHOUT_PAYLOAD = tuple(column for column in deliveries.c if column.name != "payload")


@dataclass(frozen=True)
class Delivery:
    """One webhook; `payload` is the body after redaction, `semantic_key` what it is about (IT-3) or None."""

    guid: str
    event: str
    action: str
    installation_id: int | None
    repository_id: int | None
    semantic_key: str | None
    payload: bytes


def store(conn: Connection, delivery: Delivery, now: int) -> Literal["stored", "duplicate", "again"]:
    """Keep a delivery.

    "duplicate": this guid is known and not FAILED, or another delivery with this repository and semantic key is at work
    or done (the row is kept as IGNORED then). "again": a FAILED one came back and is RECEIVED once more (IT-2).
    """
    twin = _twin(conn, delivery)
    is_new = insert_new(
        conn,
        deliveries,
        guid=delivery.guid,
        event=delivery.event,
        action=delivery.action,
        installation_id=delivery.installation_id,
        repository_id=delivery.repository_id,
        semantic_key=delivery.semantic_key,
        state=DeliveryState.RECEIVED if twin is None else DeliveryState.IGNORED,
        error="" if twin is None else f"the same as {twin}",
        payload=zlib.compress(delivery.payload, 1),
        received_at=now,
        handled_at=None if twin is None else now,
    )
    if is_new:
        return "stored" if twin is None else "duplicate"
    again = _move(conn, delivery.guid, before=DeliveryState.FAILED, **_AGAIN)
    return "again" if again else "duplicate"


def get(conn: Connection, guid: str) -> Row | None:
    """The whole row, payload included."""
    return conn.execute(select(deliveries).where(deliveries.c.guid == guid)).one_or_none()


def payload(row: Row) -> bytes:
    """The body as it was stored."""
    return zlib.decompress(row.payload)


def handled(conn: Connection, guid: str, now: int) -> bool:
    """RECEIVED to HANDLED; False if somebody else was first (DB-3), as below."""
    return _move(conn, guid, state=DeliveryState.HANDLED, error="", next_at=None, handled_at=now)


def ignored(conn: Connection, guid: str, why: str, now: int) -> bool:
    """RECEIVED to IGNORED, with the reason."""
    return _move(conn, guid, state=DeliveryState.IGNORED, error=why, next_at=None, handled_at=now)


def failed(conn: Connection, guid: str, error: str, now: int, next_at: int | None) -> bool:
    """Tried and not done: FAILED for good, or with `next_at` RECEIVED again at that time."""
    values: dict[str, Any] = {"error": error, "next_at": next_at, "rung_at": None, "tries": deliveries.c.tries + 1}
    if next_at is None:
        values |= {"state": DeliveryState.FAILED, "handled_at": now}
    return _move(conn, guid, **values)


def unread(conn: Connection, guid: str, reason: str, now: int) -> bool:
    """Kept, but this version has no model that its body fits: FAILED until somebody tries again (IT-4)."""
    return failed(conn, guid, f"{CANNOT_READ}{reason}", now, None)


def try_again(conn: Connection, guids: Sequence[str], *, unread_only: bool = False) -> list[str]:
    """FAILED ones to RECEIVED, the named or all; which. The sweep rings for them."""
    wanted = [deliveries.c.state == DeliveryState.FAILED]
    wanted += [deliveries.c.guid.in_(guids)] if guids else []
    wanted += [deliveries.c.error.startswith(CANNOT_READ)] if unread_only else []
    back = update(deliveries).where(*wanted).values(**_AGAIN, tries=0)
    return sorted(conn.execute(back.returning(deliveries.c.guid)).scalars())


def unhandled(conn: Connection, now: int, limit: int) -> Sequence[Row]:
    """RECEIVED deliveries whose time has come, oldest first, without their payloads."""
    due = or_(deliveries.c.next_at.is_(None), deliveries.c.next_at <= now)
    waiting = select(*_WITHOUT_PAYLOAD).where(deliveries.c.state == DeliveryState.RECEIVED, due)
    return conn.execute(waiting.order_by(deliveries.c.received_at, deliveries.c.guid).limit(limit)).all()


def newest_ids(conn: Connection, limit: int) -> list[str]:
    """The ids of the newest deliveries, newest first."""
    newest = select(deliveries.c.guid).order_by(deliveries.c.received_at.desc()).limit(limit)
    return list(conn.execute(newest).scalars())


def oldest_waiting(conn: Connection, but_not: str) -> int | None:
    """When the oldest delivery came that still waits; the one with this semantic key is not counted."""
    waits = (
        deliveries.c.state == DeliveryState.RECEIVED,
        or_(deliveries.c.semantic_key.is_(None), deliveries.c.semantic_key != but_not),
    )
    return conn.execute(select(func.min(deliveries.c.received_at)).where(*waits)).scalar()


def _twin(conn: Connection, delivery: Delivery) -> str | None:
    if delivery.semantic_key is None:
        return None
    same = select(deliveries.c.guid).where(
        deliveries.c.repository_id == delivery.repository_id,
        deliveries.c.semantic_key == delivery.semantic_key,
        deliveries.c.state.in_((DeliveryState.RECEIVED, DeliveryState.HANDLED)),
        deliveries.c.guid != delivery.guid,
    )
    return conn.execute(same.limit(1)).scalar_one_or_none()


def _move(conn: Connection, guid: str, *, before: DeliveryState = DeliveryState.RECEIVED, **values: Any) -> bool:
    where = (deliveries.c.guid == guid, deliveries.c.state == before)
    return conn.execute(update(deliveries).where(*where).values(**values)).rowcount == 1
