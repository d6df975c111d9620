"""Rows, and the statements that SQLite and PostgreSQL spell with their own INSERT."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

Row = sa.Row[Any]


def insert(conn: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that knows ON CONFLICT, for the database at hand."""
    return postgresql.insert(table) if conn.dialect.name == "postgresql" else sqlite.insert(table)


def insert_new(conn: Connection, table: Table, **values: object) -> bool:
    """Insert one row unless a unique key of the table is taken; True if it was inserted."""
    statement = insert(conn, table).values(**values).on_conflict_do_nothing()
    return conn.execute(statement.returning(*table.primary_key)).first() is not None


def upsert(conn: Connection, table: Table, keys: dict[str, object], values: dict[str, object]) -> Row:
    """Insert the row, or set `values` where `keys` (a unique key of the table) exist already; the row as it is then."""
    statement = insert(conn, table).values(**keys, **values)
    updated = statement.on_conflict_do_update(index_elements=list(keys), set_=values)
    return conn.execute(updated.returning(*table.c)).one()


def lock(conn: Connection, table: Table, row_id: object) -> None:
    """Let other writers of this row wait until we commit; SQLite has one writer anyway (BEGIN IMMEDIATE)."""
    conn.execute(sa.select(table.c.id).where(table.c.id == row_id).with_for_update())
