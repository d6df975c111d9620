"""How fast one installation may write: GH-10, GH-11, OB-6."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from app.ledger import pace, repos
from app.ledger.pace import _free_at
from tests.unit.ledger.world import ACME, NOW, OTHER

HOUR_MS = 3_600_000


@pytest.fixture(autouse=True)
def installed(conn: Connection) -> None:
    repos.upsert_installation(conn, ACME, "acme")
    repos.upsert_installation(conn, OTHER, "other")


def test_each_write_costs_its_pause(conn: Connection) -> None:
    pace.wrote(conn, ACME, 3, NOW, pace_ms=1000, an_hour=400)
    assert pace.next_write(conn, ACME) == NOW + 3000 and pace.next_write(conn, OTHER) == 0


def test_a_limit_of_githubs_is_not_shortened_by_a_write(conn: Connection) -> None:
    pace.set_next_write(conn, ACME, NOW + 60_000)
    pace.wrote(conn, ACME, 1, NOW, pace_ms=1000, an_hour=400)
    assert pace.next_write(conn, ACME) == NOW + 60_000


def test_no_hour_holds_more_writes_than_allowed_gh_11(conn: Connection) -> None:
    """Writing whenever it is allowed, for three hours."""
    at, times, most = NOW, deque[int](), 0
    while at < NOW + 3 * HOUR_MS:
        pace.wrote(conn, ACME, 1, at, pace_ms=1000, an_hour=40)
        times.append(at)
        while times[0] <= at - HOUR_MS:
            times.popleft()
        most = max(most, len(times))
        at = max(at + 1, pace.next_write(conn, ACME))
    assert most == 40


@given(st.lists(st.integers(1, 30), max_size=13), st.integers(1, 60))
def test_there_is_room_again_once_old_windows_pass(counts: list[int], an_hour: int) -> None:
    windows = list(enumerate(counts))
    free_at = _free_at(windows, an_hour)
    left = sum(n for at, n in windows if (at + pace.WINDOWS) * pace.WINDOW_MS > free_at)
    assert left < an_hour
