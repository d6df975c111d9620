"""Is the database of this program's version? Read from the migrations' files, without importing alembic (PN-1)."""

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.ledger.engine import read

_MIGRATIONS = Path(__file__).parent / "migrations" / "versions"
_REVISION = re.compile(r'^(revision|down_revision)\b[^=\n]*= *"(\w+)"', re.MULTILINE)


def database_state(engine: Engine) -> str:
    """`ok`, or why the database cannot be used by this program."""
    try:
        with read(engine) as conn:
            revision = conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none()
    except SQLAlchemyError:
        return "away, or never migrated"
    return "ok" if revision == newest_revision() else f"at version {revision}, not {newest_revision()}"


@cache
def newest_revision() -> str:
    """The migration that no other one follows."""
    names = [_REVISION.findall(path.read_text()) for path in _MIGRATIONS.glob("*.py")]
    known = {value for found in names for name, value in found if name == "revision"}
    followed = {value for found in names for name, value in found if name == "down_revision"}
    (newest,) = known - followed
    return str(newest)
