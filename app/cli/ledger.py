"""The ledger for a command: one transaction that reads, or one that may write."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.cli.environment import read_settings
from app.errors import UserError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from app.ledger.evidence import Store


@contextmanager
def reading() -> "Iterator[tuple[Connection, Store]]":
    """A connection that only reads, and the files; raises UserError when there is no database of this version."""
    from app.ledger.engine import read
    from app.ledger.evidence import Store

    with _opened() as engine, read(engine) as conn:
        yield conn, Store(read_settings().data / "evidence")


@contextmanager
def writing() -> "Iterator[Connection]":
    """As `reading`, for one transaction that may write."""
    from app.ledger.engine import write

    with _opened() as engine, write(engine) as conn:
        yield conn


@contextmanager
def _opened() -> "Iterator[Engine]":
    from sqlalchemy.exc import ArgumentError, DBAPIError

    from app.ledger.engine import open_engine

    try:
        engine = open_engine(read_settings().database)
        yield engine
        engine.dispose()
    except ArgumentError:
        raise UserError("DATABASE_URL is no address of a database.") from None
    except DBAPIError:
        raise UserError("The database does not answer, or is of another version: `remedy migrate`.") from None
