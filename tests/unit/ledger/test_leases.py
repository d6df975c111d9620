"""Leases: one holder at a time, and a revived one writes nothing (LE-1 to LE-6)."""

import dataclasses

import pytest
from sqlalchemy import Connection, Engine

from app.ledger import leases, work
from app.ledger.engine import write
from app.ledger.leases import Holder
from app.runs.model import ItemKind, ItemStatus
from tests.unit.ledger.world import NOW, a_run, an_item

LEASE = 8000
ITEMS = pytest.mark.parametrize("kind", list(ItemKind))


def test_a_lease_is_taken_if_free_expired_or_mine(conn: Connection) -> None:
    """LE-1."""
    assert leases.take(conn, "run:1", "me", NOW, LEASE) == 1
    assert leases.take(conn, "run:1", "you", NOW + 1, LEASE) is None
    assert leases.take(conn, "run:1", "me", NOW + 2, LEASE) == 1, "mine already: nothing was taken over"
    assert leases.take(conn, "run:1", "you", NOW + 2 + LEASE, LEASE) == 2
    assert leases.take(conn, "run:2", "me", NOW, LEASE) == 1, "another resource is another lease"


def test_every_takeover_adds_one_to_the_epoch(conn: Connection) -> None:
    """LE-2: also after a release, and after my own lease ran out."""
    assert leases.take(conn, "run:1", "me", NOW, LEASE) == 1
    assert leases.release(conn, "run:1", "me", 1)
    assert leases.take(conn, "run:1", "me", NOW, LEASE) == 2
    assert leases.take(conn, "run:1", "me", NOW + LEASE, LEASE) == 3
    assert leases.holds(conn, "run:1", "me", 3, NOW + LEASE)
    assert not leases.holds(conn, "run:1", "me", 2, NOW + LEASE)


def test_a_lease_is_renewed_only_while_it_is_held(conn: Connection) -> None:
    """LE-1, LE-5."""
    leases.take(conn, "run:1", "me", NOW, LEASE)
    assert leases.renew(conn, "run:1", "me", 1, NOW + LEASE - 1, LEASE)
    assert leases.holds(conn, "run:1", "me", 1, NOW + 2 * LEASE - 2)
    assert not leases.renew(conn, "run:1", "me", 1, NOW + 2 * LEASE, LEASE), "run out: too late"
    assert not leases.renew(conn, "run:1", "me", 2, NOW, LEASE)
    assert not leases.renew(conn, "run:1", "you", 1, NOW, LEASE)


def test_what_was_not_renewed_is_listed_as_expired(conn: Connection) -> None:
    leases.take(conn, "run:1", "me", NOW, LEASE)
    leases.take(conn, "run:2", "me", NOW + 5, LEASE)
    leases.take(conn, "run:3", "me", NOW, LEASE)
    leases.release(conn, "run:3", "me", 1)
    assert leases.expired(conn, NOW + LEASE - 1) == []
    assert leases.expired(conn, NOW + LEASE) == ["run:1"]
    assert leases.expired(conn, NOW + LEASE + 5) == ["run:1", "run:2"]


def test_a_release_by_somebody_else_does_nothing(conn: Connection) -> None:
    leases.take(conn, "run:1", "me", NOW, LEASE)
    assert not leases.release(conn, "run:1", "you", 1)
    assert not leases.release(conn, "run:1", "me", 2)
    assert leases.holds(conn, "run:1", "me", 1, NOW)


@ITEMS
def test_the_holder_starts_and_ends_its_item(engine: Engine, kind: ItemKind) -> None:
    """LE-4: a work item has a lease of its own for as long as it works."""
    with write(engine) as conn:
        item = an_item(conn, kind, a_run(conn))
        me = _hold(conn, kind, item, "me", NOW)
        assert work.start(conn, kind, item, me, NOW)
        assert work.get(conn, kind, item).tries == 1
        assert not work.start(conn, kind, item, me, NOW), "it is started already"
        assert work.end(conn, kind, item, me, NOW + 1, status=ItemStatus.FAILED)
        assert not work.end(conn, kind, item, me, NOW + 1, status=ItemStatus.FAILED)
        assert work.get(conn, kind, item).finished_at == NOW + 1


@ITEMS
def test_a_frozen_holder_writes_nothing_after_a_takeover(engine: Engine, kind: ItemKind) -> None:
    """LE-2: stopped past its lease, then revived, with its old owner and epoch."""
    with write(engine) as conn:
        item = an_item(conn, kind, a_run(conn))
        frozen = _hold(conn, kind, item, "frozen", NOW)
        work.start(conn, kind, item, frozen, NOW)
    later = NOW + LEASE
    with write(engine) as conn:
        assert not work.end(conn, kind, item, frozen, later, status=ItemStatus.FAILED), "run out, even if not taken"
        next_ = _hold(conn, kind, item, "next", later)
    before = _row(engine, kind, item)
    with write(engine) as conn:
        assert not work.end(conn, kind, item, frozen, later, status=ItemStatus.FAILED)
        assert not work.put_off(conn, kind, item, frozen, later, next_at=later)
        assert not leases.renew(conn, work.resource(kind, item), frozen.owner, frozen.epoch, later, LEASE)
        assert not leases.release(conn, work.resource(kind, item), frozen.owner, frozen.epoch)
        same_name = dataclasses.replace(next_, epoch=frozen.epoch)
        assert not work.end(conn, kind, item, same_name, later, status=ItemStatus.FAILED), "the epoch counts too"
    assert _row(engine, kind, item) == before
    with write(engine) as conn:
        assert work.end(conn, kind, item, next_, later, status=ItemStatus.FAILED)


@ITEMS
def test_a_cancelled_item_takes_the_lease_from_its_worker(engine: Engine, kind: ItemKind) -> None:
    """LE-5, LE-6: the worker learns it at its next renewal; what it writes then is lost."""
    with write(engine) as conn:
        item = an_item(conn, kind, a_run(conn))
        me = _hold(conn, kind, item, "me", NOW)
        work.start(conn, kind, item, me, NOW)
        assert work.cancel(conn, kind, item, NOW)
        assert work.is_cancelled(conn, kind, item)
        assert not leases.renew(conn, work.resource(kind, item), me.owner, me.epoch, NOW, LEASE)
        assert not work.end(conn, kind, item, me, NOW, status=ItemStatus.FAILED)
        assert not work.cancel(conn, kind, item, NOW), "it ended already"
        assert work.get(conn, kind, item).status == ItemStatus.CANCELLED


@ITEMS
def test_an_item_put_off_waits_for_its_time(engine: Engine, kind: ItemKind) -> None:
    with write(engine) as conn:
        item = an_item(conn, kind, a_run(conn))
        me = _hold(conn, kind, item, "me", NOW)
        assert not work.put_off(conn, kind, item, me, NOW, next_at=NOW + 50), "not started"
        work.start(conn, kind, item, me, NOW)
        assert work.put_off(conn, kind, item, me, NOW, next_at=NOW + 50)
        row = work.get(conn, kind, item)
        assert (row.status, row.next_at, row.finished_at, row.tries) == (ItemStatus.QUEUED, NOW + 50, None, 1)


def _hold(conn: Connection, kind: ItemKind, item: str, owner: str, now: int) -> Holder:
    epoch = leases.take(conn, work.resource(kind, item), owner, now, LEASE)
    assert epoch is not None
    return Holder(owner, epoch)


def _row(engine: Engine, kind: ItemKind, item: str) -> tuple[object, ...]:
    with write(engine) as conn:
        return tuple(work.get(conn, kind, item))
