"""Migrations: from any earlier revision, with rows in it, and without a cost at start (DB-9, PN-1)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from app.ledger.engine import migrate, open_engine, read, write

pytestmark = pytest.mark.slow

FOLDER = Path(sys.modules["app.ledger.engine"].__file__ or "").parent / "migrations"


def revisions() -> list[str]:
    """All revisions, oldest first."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()][::-1]


@pytest.fixture
def empty(empty_url: str) -> Iterator[Engine]:
    engine = open_engine(empty_url)
    yield engine
    engine.dispose()


@pytest.mark.parametrize("revision", revisions())
def test_an_older_database_is_migrated_with_its_rows(empty: Engine, revision: str) -> None:
    """DB-9, CR-18."""
    migrate(empty, revision)
    with write(empty) as conn:
        conn.execute(sa.text("INSERT INTO installations (id, account) VALUES (7, 'acme')"))
    migrate(empty)
    with read(empty) as conn:
        assert conn.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() == revisions()[-1]
        assert conn.execute(sa.text("SELECT account FROM installations")).scalar() == "acme"


def test_a_migrated_database_minds_its_foreign_keys(empty: Engine) -> None:
    """DB-1: the switch that a migration needs is back on for the connection that the pool keeps."""
    migrate(empty)
    with pytest.raises(IntegrityError), write(empty) as conn:
        conn.execute(sa.text("INSERT INTO repositories (id, installation_id) VALUES (1, 404)"))


def test_nothing_of_the_ledger_imports_alembic_at_start() -> None:
    """PN-1: the web process does not pay for it."""
    modules = [path.stem for path in FOLDER.parent.glob("*.py")]
    code = f"import sys, importlib\nfor m in {modules}: importlib.import_module('app.ledger.' + m)\n"
    code += "assert 'alembic' not in sys.modules"
    root = FOLDER.parent.parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
