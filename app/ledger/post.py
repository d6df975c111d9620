"""What an operator sees of the post in and out: deliveries that failed, letters that wait or were refused."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from app.ledger.deliveries import CANNOT_READ
from app.ledger.schema import deliveries, outbox
from app.ledger.words import DeliveryState, OutboxState

WAITING = (OutboxState.PENDING, OutboxState.SENDING)
_UNREAD = (deliveries.c.state == DeliveryState.FAILED, deliveries.c.error.startswith(CANNOT_READ))


def failed_deliveries(conn: Connection, limit: int, *, unread: bool = False) -> list[dict[str, Any]]:
    """Deliveries that were kept and not handled, newest first; `unread`: only those whose body has no model here."""
    wanted = _UNREAD if unread else (deliveries.c.state == DeliveryState.FAILED,)
    names = ("guid", "event", "action", "repository_id", "received_at", "tries", "error")
    rows = select(*(deliveries.c[name] for name in names)).where(*wanted)
    newest = rows.order_by(deliveries.c.received_at.desc(), deliveries.c.guid).limit(limit)
    return [dict(row._mapping) for row in conn.execute(newest)]


def counts(conn: Connection) -> dict[str, int]:
    """How many deliveries failed, how many of them cannot be read, how many letters GitHub refused."""
    failed = select(func.count()).select_from(deliveries).where(deliveries.c.state == DeliveryState.FAILED)
    unread = select(func.count()).select_from(deliveries).where(*_UNREAD)
    refused = select(func.count()).select_from(outbox).where(outbox.c.state == OutboxState.FAILED)
    named = {"failed_deliveries": failed, "unread_deliveries": unread, "refused_letters": refused}
    return {name: int(conn.execute(query).scalar_one()) for name, query in named.items()}


def letters(
    conn: Connection, states: Sequence[OutboxState], limit: int, *, lane: str = "", simulated: bool = False
) -> list[dict[str, Any]]:
    """Letters in these states, newest first; of one lane or of all. Their text is made only when they are sent."""
    names = ("id", "kind", "lane", "state", "tries", "created_at", "next_at", "simulated", "error")
    mine = (outbox.c.lane == lane,) if lane else ()
    rows = select(*(outbox.c[name] for name in names)).where(
        outbox.c.state.in_(states), outbox.c.simulated == simulated, *mine
    )
    newest = rows.order_by(outbox.c.created_at.desc(), outbox.c.id.desc()).limit(limit)
    return [{**row._mapping, "kind": str(row.kind), "state": str(row.state)} for row in conn.execute(newest)]
