"""The column kinds of the ledger: text, words of a closed set, GitHub's ids, times, JSON."""

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Enum,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    TypeDecorator,
    false,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.ledger.storable import storable

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite has JSON functions on text; PostgreSQL gets its binary form (DB-1).
_JSON = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class _Text(TypeDecorator[str]):
    """Text from anywhere: what the database could not keep is replaced before it is sent."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


def key(name: str = "id") -> Column[str]:
    """A text primary key: one of our own ids, or a part of a composite key."""
    return Column(name, _Text, primary_key=True)


def github_key() -> Column[int]:
    """GitHub's number as the primary key."""
    return Column("id", BigInteger, primary_key=True, autoincrement=False)


def text(name: str, default: str = "") -> Column[str]:
    return Column(name, _Text, nullable=False, default=default, server_default=default)


def maybe_text(name: str) -> Column[str | None]:
    return Column(name, _Text)


def words(
    name: str, of: type[StrEnum], *, null: bool = False, default: StrEnum | None = None, part_of_key: bool = False
) -> Column[Any]:
    """Text with a CHECK made from the enum; rows give its members (DB-6)."""
    kind = Enum(of, name=name, native_enum=False, create_constraint=True, length=40, values_callable=list)
    return Column(name, kind, nullable=null, default=default, primary_key=part_of_key)


def number(name: str, default: int = 0) -> Column[int]:
    """A small count."""
    return Column(name, Integer, nullable=False, default=default, server_default=str(default))


def number_key(name: str) -> Column[int]:
    """A count as a part of a composite primary key."""
    return Column(name, Integer, primary_key=True, autoincrement=False)


def big(name: str, *, null: bool = True) -> Column[Any]:
    """GitHub's ids, sizes in bytes."""
    return Column(name, BigInteger, nullable=null)


def time(name: str, *, null: bool = True) -> Column[Any]:
    """UTC milliseconds (DB-5); the name ends in `_at`, or is `at`."""
    return Column(name, BigInteger, nullable=null)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, default=False, server_default=false())


def json(name: str, *, null: bool = True) -> Column[Any]:
    return Column(name, _JSON, nullable=null)


def blob(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)


def ref(name: str, target: str, *, null: bool = False, part_of_key: bool = False) -> Column[Any]:
    """A foreign key to `table.id`; GitHub's ids are numbers, ours are text."""
    kind = BigInteger() if target in ("installations.id", "repositories.id") else Text()
    return Column(name, kind, ForeignKey(target), nullable=null, primary_key=part_of_key)
