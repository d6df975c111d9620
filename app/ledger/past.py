"""One repository's part of the ledger as it stood at a moment, in a database of its own: for what is only tried."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, Engine, Table, select

from app.ledger.engine import foreign_keys_off, read
from app.ledger.schema import (
    diagnoses,
    failure_groups,
    failures,
    installations,
    issue_failures,
    issues,
    publications,
    repositories,
    runs,
    scopes,
    steps,
    test_history,
)

_AT_A_TIME = 500


def copy_past(source: Engine, target: Engine, repository_id: int, at: int) -> None:
    """Fill an empty, migrated SQLite ledger with what was known before `at` (UTC milliseconds).

    Rows that changed since are copied as they are now: the ledger keeps no older version of them.
    """
    with read(source) as old, target.connect() as new, foreign_keys_off(new), new.begin():
        for table, wanted in _wanted(repository_id, at):
            _copy(old, new, table, wanted)


def _wanted(repository_id: int, at: int) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    here = select(scopes.c.id).where(scopes.c.repository_id == repository_id)
    told = select(diagnoses.c.id).where(diagnoses.c.scope_id.in_(here), diagnoses.c.created_at < at)
    began = select(runs.c.id).where(runs.c.repository_id == repository_id, runs.c.created_at < at)
    owner = select(repositories.c.installation_id).where(repositories.c.id == repository_id)
    yield installations, installations.c.id.in_(owner)
    yield repositories, repositories.c.id == repository_id
    yield scopes, scopes.c.repository_id == repository_id
    yield issues, (issues.c.repository_id == repository_id) & (issues.c.created_at < at)
    yield issue_failures, issue_failures.c.repository_id == repository_id
    yield diagnoses, diagnoses.c.id.in_(told)
    yield failure_groups, failure_groups.c.diagnosis_id.in_(told)
    yield failures, failures.c.diagnosis_id.in_(told)
    yield test_history, (test_history.c.repository_id == repository_id) & (test_history.c.at < at)
    yield runs, runs.c.id.in_(began)
    yield steps, steps.c.run_id.in_(began)
    yield publications, publications.c.run_id.in_(began)


def _copy(old: Connection, new: Connection, table: Table, wanted: ColumnElement[bool]) -> None:
    for rows in old.execute(select(table).where(wanted)).mappings().partitions(_AT_A_TIME):
        new.execute(table.insert(), [dict(row) for row in rows])
