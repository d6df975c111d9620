"""The sweep lets go of what is old, as often as `keep_days` says and never with 0."""

import time
from pathlib import Path

import pytest

from app.ledger import deliveries
from app.ledger.deliveries import Delivery
from app.ledger.engine import migrate
from app.ledger.retention import DAY_MS
from app.services import make
from app.settings import Settings
from jobs.sweep import _Seldom


@pytest.mark.parametrize(("keep_days", "left"), [(30, b""), (365, b"{}"), (0, b"{}")])
def test_payloads_go_after_keep_days(tmp_path: Path, keep_days: int, left: bytes) -> None:
    s = make(Settings.model_validate({"data": tmp_path, "DATABASE_URL": "", "keep_days": keep_days}))
    migrate(s.engine)
    now = time.time_ns() // 1_000_000
    with s.write() as conn:
        deliveries.store(conn, Delivery("g-1", "check_run", "completed", 1, 2, None, b"{}"), now - 100 * DAY_MS)
        deliveries.handled(conn, "g-1", now - 100 * DAY_MS)
    _Seldom(asked_at=now, tidied_at=now).round(s)
    with s.read() as conn:
        row = deliveries.get(conn, "g-1")
    assert row is not None
    assert (deliveries.payload(row) if row.payload else b"") == left
    s.engine.dispose()
