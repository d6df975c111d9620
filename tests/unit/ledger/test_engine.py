"""Transactions: how they begin, what a read may not do, what cannot be stored."""

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from app.ledger import events, leases, repos
from app.ledger.engine import open_engine, read, write
from app.ledger.schema import leases as lease_rows
from tests.unit.ledger.world import NOW, a_run


def test_sqlite_is_durable_and_strict(tmp_path: Path) -> None:
    """DB-1: WAL, synchronous=FULL, foreign keys, ten seconds for another writer."""
    engine = open_engine(f"sqlite:///{tmp_path}/new/folder/x.db")
    with read(engine) as conn:
        found = {name: conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in PRAGMAS}
    engine.dispose()
    assert found == PRAGMAS


PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


def test_nobody_else_reads_the_database_file(tmp_path: Path) -> None:
    """Payloads and logs are in it; the users that untrusted code runs as share the machine."""
    engine = open_engine(f"sqlite:///{tmp_path}/data/x.db")
    with write(engine) as conn:
        conn.execute(sa.text("CREATE TABLE t (a)"))
        files = list((tmp_path / "data").iterdir())
        assert {file.name for file in files} >= {"x.db", "x.db-wal"}
        assert {file.stat().st_mode & 0o077 for file in files} == {0}
    engine.dispose()


def test_a_writer_holds_the_pen_from_its_first_read(tmp_path: Path) -> None:
    """DB-2: BEGIN IMMEDIATE, so a second writer waits instead of failing half way."""
    url = f"sqlite:///{tmp_path}/x.db"
    first, second = open_engine(url), open_engine(url, timeout_s=0.05)
    with write(first) as conn:
        conn.execute(sa.text("SELECT 1"))
        with pytest.raises(OperationalError, match="locked"), write(second):
            pass
        with read(second) as reader:
            assert reader.execute(sa.text("SELECT 1")).scalar() == 1
    first.dispose()
    second.dispose()


def test_a_read_cannot_write(engine: Engine) -> None:
    with pytest.raises(DBAPIError), read(engine) as conn:
        leases.take(conn, "run:1", "me", NOW, 1000)
    with write(engine) as conn:
        assert leases.take(conn, "run:1", "me", NOW, 1000) == 1


def test_a_transaction_is_all_or_nothing(engine: Engine) -> None:
    """OB-1 rests on this: a transition and the writes it intends commit together."""
    with pytest.raises(ZeroDivisionError), write(engine) as conn:
        leases.take(conn, "run:1", "me", NOW, 1000)
        raise ZeroDivisionError
    with read(engine) as conn:
        assert conn.execute(sa.select(lease_rows)).all() == []


def test_the_guard_of_a_change_is_its_row_count(engine: Engine) -> None:
    """DB-3: of two threads that change one row under one condition exactly one is first."""
    with write(engine) as conn:
        repos.upsert_installation(conn, 1, "acme")
    barrier, wins = threading.Barrier(2), []

    def claim() -> None:
        barrier.wait()
        with write(engine) as conn:
            free = sa.text("UPDATE installations SET next_write_at = 1 WHERE id = 1 AND next_write_at IS NULL")
            wins.append(conn.execute(free).rowcount)

    threads = [threading.Thread(target=claim) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(wins) == [0, 1]


def test_text_that_a_database_cannot_keep_is_kept_readable(engine: Engine) -> None:
    """Hostile logs hold NUL and halves of surrogate pairs; PostgreSQL refuses both."""
    with write(engine) as conn:
        run = a_run(conn)
        repos.upsert_installation(conn, 33, "a\0b\ud800c")
        events.append(conn, run.run_id, "run.started", {"a\0": ["\0x", "\udfff", "snow ☃ \U0001f600"]}, None, NOW)
    with read(engine) as conn:
        row = repos.get_installation(conn, 33)
        assert row is not None
        assert row.account == "a\ufffdb\ufffdc"
        assert events.of_run(conn, run.run_id)[0].details == {"a\ufffd": ["\ufffdx", "\ufffd", "snow ☃ \U0001f600"]}
