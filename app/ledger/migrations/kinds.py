"""The column kinds that the revisions are written in; frozen: a revision in use never changes, so neither do these."""

from typing import Any

from sqlalchemy import Column, Enum
from sqlalchemy import text as sql

from app.ledger.schema.columns import (
    big,
    blob,
    flag,
    github_key,
    json,
    key,
    maybe_text,
    number,
    number_key,
    ref,
    text,
    time,
)

__all__ = [
    "big",
    "blob",
    "flag",
    "github_key",
    "json",
    "key",
    "maybe_text",
    "number",
    "number_key",
    "one_of",
    "ref",
    "text",
    "time",
    "where",
]


def one_of(name: str, *words: str, null: bool = False, part_of_key: bool = False) -> Column[Any]:
    """Text with a CHECK on the words as they were at that revision."""
    kind = Enum(*" ".join(words).split(), name=name, native_enum=False, create_constraint=True, length=40)
    return Column(name, kind, nullable=null, primary_key=part_of_key)


def where(condition: str) -> dict[str, Any]:
    """The predicate of a partial index, alike in both databases."""
    return {"sqlite_where": sql(condition), "postgresql_where": sql(condition)}
