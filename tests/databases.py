"""Migrated databases for tests: a SQLite file is copied from one that was migrated once in this process."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from sqlalchemy import Engine, make_url

from app.ledger.engine import migrate, open_engine


@cache
def template() -> Path:
    """A SQLite file at the newest version, without rows; nobody may write to it."""
    folder = tempfile.mkdtemp(prefix="remedy-template-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, "remedy.db")
    engine = open_engine(f"sqlite:///{path}")
    migrate(engine)
    engine.dispose()
    return path


def a_ledger(url: str) -> Engine:
    """The engine of a new database at the newest version."""
    engine = open_engine(url)
    if engine.dialect.name == "sqlite":
        shutil.copy(template(), str(make_url(url).database))
    else:
        migrate(engine)
    return engine
