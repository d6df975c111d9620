"""Counts and times of all that the ledger holds, for operators: no name of a person, a repository or a test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, String, Table, case, cast, func, select

from app.ledger.schema import deliveries, diagnoses, failure_groups, installations, outbox, proofs, runs, spend, turns

BOUNDS_S = (5, 15, 60, 180, 600, 1800, 3600)

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Times:
    """How long something took: `within` counts those not longer than each of `BOUNDS_S`."""

    within: Sequence[int]
    count: int
    seconds: float


def count_deliveries(conn: Connection) -> dict[Labels, int]:
    """By event and state."""
    return _count(conn, deliveries, deliveries.c.event, deliveries.c.state)


def last_delivery_at(conn: Connection) -> int | None:
    """UTC milliseconds of the newest accepted delivery."""
    found = conn.execute(select(func.max(deliveries.c.received_at))).scalar()
    return None if found is None else int(found)


def count_runs(conn: Connection) -> dict[Labels, int]:
    """By status, the stage where a run stands or stopped, and what stopped or ended it."""
    stage = func.coalesce(runs.c.blocked_stage, runs.c.stage)
    why = func.coalesce(cast(runs.c.block_cause, String), cast(runs.c.result, String))
    return _count(conn, runs, runs.c.status, stage, why)


def count_diagnoses(conn: Connection) -> dict[Labels, int]:
    """By state and outcome."""
    return _count(conn, diagnoses, diagnoses.c.state, diagnoses.c.outcome)


def count_causes(conn: Connection) -> dict[Labels, int]:
    """Groups of failures by whose fault they are."""
    return _count(conn, failure_groups, failure_groups.c.cause)


def count_letters(conn: Connection) -> dict[Labels, int]:
    """Intended writes to GitHub, by kind and state."""
    return _count(conn, outbox, outbox.c.kind, outbox.c.state)


def time_turns(conn: Connection) -> dict[Labels, Times]:
    """Turns that ended, by role."""
    return _time(conn, turns, turns.c.role)


def time_proofs(conn: Connection) -> dict[Labels, Times]:
    """Proofs that ended, by kind."""
    return _time(conn, proofs, proofs.c.kind)


def sum_spend(conn: Connection) -> dict[Labels, tuple[float, int]]:
    """Money in USD and tokens, by state: reserved for a turn, spent by it, released again."""
    sums = select(spend.c.state, func.sum(spend.c.usd_micros), func.sum(spend.c.tokens)).group_by(spend.c.state)
    return {(_word(row[0]),): (int(row[1] or 0) / 1_000_000, int(row[2] or 0)) for row in conn.execute(sums)}


def calls_left(conn: Connection) -> dict[Labels, int]:
    """GitHub's budget as it last said, by installation."""
    known = select(installations.c.id, installations.c.calls_left).where(installations.c.calls_left.is_not(None))
    return {(str(row.id),): int(row.calls_left) for row in conn.execute(known)}


def _count(conn: Connection, table: Table, *by: ColumnElement[Any]) -> dict[Labels, int]:
    rows = conn.execute(select(*by, func.count()).select_from(table).group_by(*by)).all()
    return {tuple(_word(value) for value in row[:-1]): int(row[-1]) for row in rows}


def _time(conn: Connection, table: Table, by: ColumnElement[Any]) -> dict[Labels, Times]:
    took = table.c.finished_at - table.c.started_at
    within = [func.sum(case((took <= bound * 1000, 1), else_=0)) for bound in BOUNDS_S]
    ended = table.c.finished_at.is_not(None) & table.c.started_at.is_not(None)
    rows = conn.execute(select(by, func.count(), func.sum(took), *within).where(ended).group_by(by)).all()
    return {(_word(row[0]),): Times([int(n) for n in row[3:]], int(row[1]), int(row[2]) / 1000) for row in rows}


def _word(value: Any) -> str:
    return "" if value is None else str(getattr(value, "value", value))
