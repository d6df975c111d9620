"""The schema: what migrations make, what the enums say, what no table may hold."""

from collections.abc import Iterator
from enum import StrEnum
from inspect import getmembers, isclass

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from app.ledger import schema, words
from app.ledger.engine import migrate, open_engine, read, write
from app.ledger.ids import new_id
from app.runs import model

pytestmark = pytest.mark.slow


@pytest.fixture
def empty(empty_url: str) -> Iterator[Engine]:
    engine = open_engine(empty_url)
    yield engine
    engine.dispose()


def test_migrations_make_the_schema_constraint_by_constraint(engine: Engine, empty: Engine) -> None:
    """DB-1: one schema for both databases, and the migrations lead to it."""
    with write(empty) as conn:
        schema.metadata.create_all(conn)
    migrated = _described(engine)
    migrated.pop("alembic_version")
    assert migrated == _described(empty)


def test_migrating_twice_changes_nothing(engine: Engine) -> None:
    before = _described(engine)
    migrate(engine)
    assert _described(engine) == before


def test_the_checks_are_the_words_of_the_enums(engine: Engine) -> None:
    """DB-6: every word of an enum passes its CHECK, and no other word does."""
    columns = [(c, c.type) for t in schema.metadata.tables.values() for c in t.c if isinstance(c.type, sa.Enum)]
    used = set()
    for column, kind in columns:
        enum = kind.enum_class
        assert enum is not None
        used.add(enum)
        assert list(kind.enums) == [word.value for word in enum]
        check = _checks(engine, column.table.name)[f"ck_{column.table.name}_{column.name}"]
        assert sorted(word.value for word in enum) == sorted(_quoted(check)), column
    ours = {kind for _, kind in getmembers(words, isclass) if issubclass(kind, StrEnum) and kind is not StrEnum}
    assert ours <= used, "an enum of the ledger that no column uses"
    assert {model.Status, model.Stage, model.Outcome, model.ProofOutcome} <= used


def test_a_word_outside_its_enum_is_refused_by_the_database(engine: Engine) -> None:
    """DB-6."""
    with pytest.raises(IntegrityError), write(engine) as conn:
        conn.execute(
            sa.text(
                "INSERT INTO deliveries (guid, state, payload, received_at) VALUES ('g', 'DONE', :nothing, 0)"
            ).bindparams(sa.bindparam("nothing", b"", sa.LargeBinary))
        )


def test_our_ids_are_sortable_and_safe_in_names() -> None:
    """DB-4: 26 characters, sorted by time, letters and digits only."""
    ids = [new_id(now) for now in (0, 1, 1_700_000_000_000, 1_700_000_000_001, (1 << 48) - 1)]
    assert ids == sorted(ids)
    assert all(len(one) == 26 and one.isalnum() and one.isascii() for one in ids)
    assert len({new_id(5) for _ in range(1000)}) == 1000


def test_times_are_big_integers_and_called_at() -> None:
    """DB-5: UTC milliseconds."""
    for table in schema.metadata.tables.values():
        for column in table.c:
            if column.name == "at" or column.name.endswith("_at"):
                assert isinstance(column.type, sa.BigInteger), column


def test_no_column_is_made_for_a_secret() -> None:
    """DB-7: tokens and secrets are never columns; of a run-scoped token only the hash."""
    named = [
        f"{table.name}.{column.name}"
        for table in schema.metadata.tables.values()
        for column in table.c
        if any(word in column.name for word in ("secret", "token", "password", "private_key"))
    ]
    assert named == ["spend.tokens"], "a count, not a secret"


def test_what_belongs_to_an_installation_says_so() -> None:
    """DB-8: aggregates carry installation_id; their parts are reached through them."""
    parts = {"issues", "issue_failures", "test_history"}
    for table in schema.metadata.tables.values():
        if {"repository_id", "scope_id"} & set(table.c.keys()) and table.name not in parts | {"commands"}:
            assert "installation_id" in table.c, table.name


def _described(engine: Engine) -> dict[str, object]:
    inspector = sa.inspect(engine)
    return {
        table: {
            "columns": [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in inspector.get_columns(table)],
            "key": inspector.get_pk_constraint(table),
            "foreign": sorted(inspector.get_foreign_keys(table), key=lambda f: str(f["name"])),
            "checks": _checks(engine, table),
            "indexes": _indexes(engine, table),
        }
        for table in inspector.get_table_names()
    }


def _checks(engine: Engine, table: str) -> dict[str, str]:
    return {str(c["name"]): c["sqltext"] for c in sa.inspect(engine).get_check_constraints(table)}


def _indexes(engine: Engine, table: str) -> list[str]:
    """The definitions as the database keeps them, with the predicates of partial indexes."""
    where = {
        "sqlite": "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_master WHERE type = 'index' AND tbl_name = :t",
        "postgresql": "SELECT indexdef FROM pg_indexes WHERE tablename = :t",
    }[engine.dialect.name]
    unique = [str(u["column_names"]) for u in sa.inspect(engine).get_unique_constraints(table)]
    with read(engine) as conn:
        return sorted([*unique, *conn.execute(sa.text(where), {"t": table}).scalars()])


def _quoted(check: str) -> list[str]:
    return check.split("'")[1::2]
