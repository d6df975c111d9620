"""Open the database, bring it up to date, and begin transactions that read or write (DB-1, DB-2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url

from app.ledger.storable import to_json

_READS = "remedy_reads"
_MIGRATION_LOCK = 0x52454D45  # any number of ours: one migration at a time on PostgreSQL


def open_engine(url: str, *, timeout_s: float = 10) -> Engine:
    """An engine for a SQLite file or a PostgreSQL database; connects at first use.

    `timeout_s` bounds the wait for another writer. `postgresql://` means the psycopg driver. A missing folder of a
    SQLite file is made. Raises sqlalchemy.exc.ArgumentError for a URL that is not one.
    """
    where = make_url(url)
    if where.get_backend_name() == "sqlite":
        _make_private(Path(where.database or ":memory:"))
        engine = create_engine(where, connect_args={"timeout": timeout_s}, json_serializer=to_json)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    limit_ms = int(timeout_s * 1000)
    options = f"-c lock_timeout={limit_ms} -c timezone=UTC"
    arguments = {"connect_timeout": max(1, round(timeout_s)), "tcp_user_timeout": limit_ms, "options": options}
    where = where.set(drivername="postgresql+psycopg")
    return create_engine(where, connect_args=arguments, json_serializer=to_json, pool_pre_ping=True)


@contextmanager
def write(engine: Engine) -> Iterator[Connection]:
    """One transaction that may write; commits at the end, rolls back on an exception. No network inside (ST-D4)."""
    with engine.begin() as conn:
        yield conn


@contextmanager
def read(engine: Engine) -> Iterator[Connection]:
    """One transaction that only reads; a write inside is an error of the database, so it cannot slip in."""
    with engine.connect().execution_options(**{_READS: True}) as conn, conn.begin():
        if conn.dialect.name == "postgresql":
            conn.exec_driver_sql("SET TRANSACTION READ ONLY")
        yield conn


def migrate(engine: Engine, revision: str = "head") -> None:
    """Bring the schema up to a revision, by default the newest; safe when several processes start at once."""
    from alembic import command  # the web process must not pay for it at start (PN-1)
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.connect() as conn, foreign_keys_off(conn), conn.begin():
        if conn.dialect.name == "postgresql":
            conn.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        config.attributes["connection"] = conn
        command.upgrade(config, revision)


@contextmanager
def foreign_keys_off(conn: Connection) -> Iterator[None]:
    """SQLite changes a table by copying it; that must not look like the loss of all its rows to those that point there.

    The switch has no effect inside a transaction, so it goes around SQLAlchemy's.
    """
    if conn.dialect.name != "sqlite":
        yield
        return
    driver: Any = conn.connection.dbapi_connection
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


def _make_private(path: Path) -> None:
    """Only this user reads the file; SQLite gives its journal the same mode. The pool's users must not (SX-10)."""
    if path.name != ":memory:" and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself; `_begin_sqlite` does
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(conn: Connection) -> None:
    reads = bool(conn.get_execution_options().get(_READS))
    conn.exec_driver_sql(f"PRAGMA query_only={'ON' if reads else 'OFF'}")
    # A read that turns into a write later fails with "database is locked" in spite of the timeout (DB-2).
    conn.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
