"""Both databases for every test of the ledger: fresh ones, copied from a migrated template."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine

from app.ledger.engine import migrate, open_engine
from tests.databases import template
from tests.postgres import a_database, execute, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server, with `{}` for the name of a database."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres: str) -> str:
    execute(postgres, "CREATE DATABASE ledger_template")
    engine = open_engine(postgres.format("ledger_template"))
    migrate(engine)
    engine.dispose()
    return "ledger_template"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables."""
    if backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
    else:
        with a_database(request.getfixturevalue("postgres"), "template1") as url:
            yield url


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database without rows."""
    if backend == "sqlite":
        shutil.copy(template(), tmp_path / "ledger.db")
        yield f"sqlite:///{tmp_path / 'ledger.db'}"
    else:
        newest = request.getfixturevalue("postgres_template")
        with a_database(request.getfixturevalue("postgres"), newest) as url:
            yield url


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def shared_sqlite() -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{template()}")
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def shared_postgresql(postgres: str, postgres_template: str) -> Iterator[Engine]:
    with a_database(postgres, postgres_template) as url:
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
