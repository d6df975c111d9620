"""The heartbeat: it keeps a lease, and says when it is lost (LE-5; decisions.md, 91)."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, Engine

from app.ledger import leases
from app.ledger.engine import open_engine, read, write
from app.ledger.heartbeat import Heartbeat
from app.ledger.schema import leases as lease_rows

pytestmark = pytest.mark.slow

WAIT_S = 20


class Clock:
    """UTC milliseconds that move only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def beat(url: str, engine: Engine, clock: Clock) -> Callable[..., Heartbeat]:
    """A heartbeat of 10 s, renewed all the time, on a lease that `me` took at the start."""
    with write(engine) as conn:
        leases.take(conn, "turn:1", "me", clock(), 10_000)

    def make(**more: Any) -> Heartbeat:
        return Heartbeat(url, "turn:1", "me", 1, lease_s=10, renew_s=0.01, clock=clock, **more)

    return make


def test_it_renews_with_a_connection_of_its_own(beat: Callable[..., Heartbeat], engine: Engine, clock: Clock) -> None:
    """LE-1, ST-Q5."""
    renewed = threading.Event()

    def is_cancelled(conn: Connection) -> bool:
        if conn.execute(lease_rows.select()).one().until_at == 15_000:
            renewed.set()
        return False

    with beat(cancelled=is_cancelled) as it:
        clock.now = 5000
        assert renewed.wait(WAIT_S)
        assert not it.lost.is_set()
    with read(engine) as conn:
        assert conn.execute(lease_rows.select()).one().owner == "me", "leaving keeps the lease: the worker releases it"


def test_it_says_so_once_when_the_lease_was_taken_over(
    beat: Callable[..., Heartbeat], engine: Engine, clock: Clock
) -> None:
    """LE-5."""
    calls: list[int] = []
    with write(engine) as conn:
        assert leases.take(conn, "turn:1", "you", clock() + 10_000, 10_000) == 2
    with beat(on_lost=lambda: calls.append(1)) as it:
        assert it.lost.wait(WAIT_S)
    assert calls == [1]


def test_it_is_lost_when_the_work_is_cancelled(beat: Callable[..., Heartbeat]) -> None:
    """LE-5."""
    with beat(cancelled=lambda conn: True) as it:
        assert it.lost.wait(WAIT_S)


def test_a_busy_database_costs_the_lease_only_when_it_runs_out(tmp_path_factory: Any, clock: Clock) -> None:
    """decisions.md, 91: a renewal that finds another writer is tried again; past the lease it is lost."""
    url = f"sqlite:///{tmp_path_factory.mktemp('busy')}/x.db"
    engine = open_engine(url)
    with write(engine) as conn:
        lease_rows.create(conn)
        leases.take(conn, "turn:1", "me", clock(), 10_000)
    beating = Heartbeat(url, "turn:1", "me", 1, lease_s=10, renew_s=0.01, clock=clock)
    with write(engine), beating as it:
        assert not it.lost.wait(0.3)
        clock.now += 10_000
        assert it.lost.wait(WAIT_S)
    engine.dispose()
