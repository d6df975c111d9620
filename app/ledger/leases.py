"""Leases: who may work on a resource, until when, and under which epoch (domain.md, 12)."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, case, or_, select, update

from app.ledger.rows import insert
from app.ledger.schema import leases


@dataclass(frozen=True)
class Holder:
    """Who writes: the owner's name and the epoch that `take` gave it (LE-2)."""

    owner: str
    epoch: int


def take(conn: Connection, resource: str, owner: str, now: int, lease_ms: int) -> int | None:
    """Take the lease if it is free, expired or mine; its epoch, or None if somebody else holds it (LE-1).

    Taking over adds 1 to the epoch; taking again what I hold keeps it. `owner` must be new for every process or job.
    """
    row = insert(conn, leases).values(resource=resource, owner=owner, until_at=now + lease_ms, epoch=1)
    mine = (leases.c.owner == owner) & (leases.c.until_at > now)
    taken = row.on_conflict_do_update(
        index_elements=["resource"],
        set_={
            "owner": row.excluded.owner,
            "until_at": row.excluded.until_at,
            "epoch": leases.c.epoch + case((mine, 0), else_=1),
        },
        where=or_(leases.c.owner == owner, leases.c.until_at <= now),
    )
    return conn.execute(taken.returning(leases.c.epoch)).scalar_one_or_none()


def renew(conn: Connection, resource: str, owner: str, epoch: int, now: int, lease_ms: int) -> bool:
    """Extend my lease; False if it was taken over, dropped or has run out: then stop and write nothing (LE-5)."""
    mine = _held(resource, owner, epoch, now)
    return conn.execute(update(leases).where(*mine).values(until_at=now + lease_ms)).rowcount == 1


def release(conn: Connection, resource: str, owner: str, epoch: int) -> bool:
    """Give my lease back; the epoch stays, so an old holder never becomes valid again."""
    mine = (leases.c.resource == resource, leases.c.owner == owner, leases.c.epoch == epoch)
    return conn.execute(update(leases).where(*mine).values(owner="", until_at=0)).rowcount == 1


def drop(conn: Connection, resource: str) -> None:
    """Take the lease away from whoever holds it: the run blocked or ended (LE-6)."""
    conn.execute(update(leases).where(leases.c.resource == resource).values(owner="", until_at=0))


def owners(conn: Connection, now: int) -> list[str]:
    """Everybody who holds a lease that has not run out."""
    live = select(leases.c.owner).where(leases.c.owner != "", leases.c.until_at > now).distinct()
    return list(conn.execute(live).scalars())


def drop_of(conn: Connection, owner: str) -> int:
    """Take all leases away from a holder that is surely dead; how many it had."""
    return conn.execute(update(leases).where(leases.c.owner == owner).values(owner="", until_at=0)).rowcount


def holds(conn: Connection, resource: str, owner: str, epoch: int, now: int) -> bool:
    """Whether this owner and epoch hold the lease; call it in the transaction that writes, which then keeps it so."""
    mine = _held(resource, owner, epoch, now)
    return conn.execute(select(leases.c.epoch).where(*mine).with_for_update()).first() is not None


def expired(conn: Connection, now: int) -> list[str]:
    """Resources whose holder neither renewed nor released in time."""
    gone = select(leases.c.resource).where(leases.c.owner != "", leases.c.until_at <= now)
    return list(conn.execute(gone.order_by(leases.c.until_at)).scalars())


def _held(resource: str, owner: str, epoch: int, now: int) -> tuple[ColumnElement[bool], ...]:
    return leases.c.resource == resource, leases.c.owner == owner, leases.c.epoch == epoch, leases.c.until_at > now
