"""How the runners did: sessions now, turns of the last 30 days, approved repairs, time and money; numbers alone."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any

from sqlalchemy import Connection, select

from app.ledger.rows import Row
from app.ledger.schema import runners, runs, sessions, turns
from app.ledger.schema.run import ACTIVE
from app.ledger.sheet import money
from app.ledger.words import SessionState
from app.runs.model import ItemStatus, Result, Role
from app.settings import Settings

MONTH_MS = 30 * 24 * 3600 * 1000


@dataclass(frozen=True)
class RunnerLine:
    """One runner. `approved` of `repairs` are runs that it worked in and that ended with a fix."""

    runner_id: str
    roles: tuple[str, ...]
    state: str
    error: str
    version: str
    sessions_now: int
    turns: int
    failed: int
    repairs: int
    approved: int
    median_ms: int | None
    usd_per_repair: Decimal | None

    def as_json(self) -> dict[str, Any]:
        """The same facts for scripts."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**plain, "usd_per_repair": None if self.usd_per_repair is None else str(self.usd_per_repair)}


def runners_seen(conn: Connection, settings: Settings, now: int) -> list[RunnerLine]:
    """Every runner that is chosen, installed, or has worked in the last 30 days."""
    known = {row.id: row for row in conn.execute(select(runners)).all()}
    columns = (turns, sessions.c.runner_id, runs.c.result)
    recent = (
        select(*columns)
        .join(sessions, sessions.c.id == turns.c.session_id)
        .join(runs, runs.c.id == turns.c.run_id)
        .where(turns.c.created_at >= now - MONTH_MS)
    )
    worked: dict[str, list[Row]] = defaultdict(list)
    for row in conn.execute(recent).all():
        worked[row.runner_id].append(row)
    chosen = {settings.agent: "agent", settings.supervisor: "supervisor"}
    ids = sorted({*known, *worked, *(name for name in chosen if name)})
    return [_line(conn, name, known.get(name), worked.get(name, []), settings) for name in ids]


def _line(conn: Connection, name: str, row: Row | None, worked: Sequence[Row], settings: Settings) -> RunnerLine:
    done = [turn for turn in worked if turn.status is ItemStatus.DONE and turn.role is Role.AGENT]
    times = [turn.finished_at - turn.started_at for turn in done if turn.finished_at and turn.started_at]
    repairs = {turn.run_id: turn.result for turn in done}
    costs = [money((turn.cost_json or {}).get("usd")) for turn in worked]
    known = [usd for usd in costs if usd is not None]
    roles = [
        role for role, wanted in (("agent", settings.agent), ("supervisor", settings.supervisor)) if wanted == name
    ]
    return RunnerLine(
        runner_id=name,
        roles=tuple(roles),
        state="chosen" if row is None and roles else "worked before" if row is None else row.state.value,
        error="" if row is None else row.error,
        version="" if row is None else row.version,
        sessions_now=_sessions_now(conn, name),
        turns=len(worked),
        failed=sum(turn.status is ItemStatus.FAILED for turn in worked),
        repairs=len(repairs),
        approved=sum(result in (Result.FIXED, Result.FIXED_OTHER_RED) for result in repairs.values()),
        median_ms=int(median(times)) if times else None,
        usd_per_repair=sum(known, Decimal(0)) / len(repairs) if known and repairs else None,
    )


def _sessions_now(conn: Connection, name: str) -> int:
    rows = (
        select(sessions.c.id)
        .join(runs, runs.c.id == sessions.c.run_id)
        .where(sessions.c.runner_id == name, sessions.c.state == SessionState.OPEN, runs.c.status.in_(ACTIVE))
    )
    return len(conn.execute(rows).all())
