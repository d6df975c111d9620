"""Runs of the repositories that somebody may read, for the front page: rows, counts and money over those alone."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from app.ledger import diagnoses, publications
from app.ledger.rows import Row
from app.ledger.rules import rules_of
from app.ledger.schema import failure_groups, failures, repositories, scopes, turns
from app.ledger.schema import runs as runs_table
from app.ledger.sheet import money
from app.runs.model import Cause, Result, Status
from app.settings import Settings

MOST = 100
WEEK_MS = 7 * 24 * 3600 * 1000
MONTH_MS = 30 * 24 * 3600 * 1000

STATES = {
    "waiting": (Status.BLOCKED,),
    "running": (Status.RUNNING,),
    "ended": (Status.COMPLETED, Status.CANCELLED),
    "completed": (Status.COMPLETED,),
    "cancelled": (Status.CANCELLED,),
}
"""The words of `?state=`."""


@dataclass(frozen=True)
class Wanted:
    """What the filter asks for; empty means all. `text` is part of a test's name, a pull request or a commit."""

    repository: str = ""
    state: str = ""
    cause: str = ""
    text: str = ""


@dataclass(frozen=True)
class RunLine:
    """One run in a list."""

    run_id: str
    repository: str
    scope: str
    head_ref: str
    status: Status
    stage: str
    blocked_stage: str
    cause: str
    result: str
    mode: str
    """How the fix was published, as long as it is not in the head yet."""
    cancel_reason: str
    failing: int
    causes: tuple[Cause, ...]
    round: int
    rounds: int
    usd: Decimal | None
    updated_at: int

    def as_json(self) -> dict[str, Any]:
        """The same facts for scripts."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**plain, "status": self.status.value, "causes": list(self.causes), "usd": _text(self.usd)}


@dataclass(frozen=True)
class Board:
    """The three lists and the numbers of the tiles; `names` are the repositories to choose from."""

    waiting: tuple[RunLine, ...]
    working: tuple[RunLine, ...]
    ended: tuple[RunLine, ...]
    names: tuple[str, ...]
    repaired: int
    handed_over: int
    stopped: int
    usd: Decimal
    older: bool = False


def board_of(conn: Connection, readable: Collection[int], wanted: Wanted, settings: Settings, now: int) -> Board:
    """Everything of the front page, computed over the readable repositories only (UX-P5)."""
    where = _where(readable, wanted)
    waiting = tuple(_lines(conn, settings, and_(where, runs_table.c.status == Status.BLOCKED), oldest=True))
    working = tuple(_lines(conn, settings, and_(where, runs_table.c.status == Status.RUNNING)))
    over = runs_table.c.status.in_(STATES["ended"])
    recent = and_(where, over, runs_table.c.updated_at >= now - WEEK_MS)
    ended = tuple(_lines(conn, settings, recent))
    mine = _where(readable, Wanted())
    week = _results(conn, and_(mine, over, runs_table.c.updated_at >= now - WEEK_MS))
    good = {Result.FIXED, Result.FIXED_OTHER_RED}
    return Board(
        waiting=waiting,
        working=working,
        ended=ended,
        names=tuple(names_of(conn, readable)),
        repaired=sum(n for (status, result), n in week.items() if status is Status.COMPLETED and result in good),
        handed_over=sum(n for (status, result), n in week.items() if status is Status.COMPLETED and result not in good),
        stopped=sum(n for (status, _), n in week.items() if status is Status.CANCELLED),
        usd=_spent(conn, readable, now - MONTH_MS),
        older=_any_older(conn, and_(where, over, runs_table.c.updated_at < now - WEEK_MS)),
    )


def lines_of(conn: Connection, readable: Collection[int], wanted: Wanted, settings: Settings) -> list[RunLine]:
    """The newest runs that the filter lets through."""
    return list(_lines(conn, settings, _where(readable, wanted)))


def names_of(conn: Connection, readable: Collection[int]) -> list[str]:
    """Names of the readable repositories that Remedy is installed on."""
    mine = (repositories.c.id.in_(readable), repositories.c.removed_at.is_(None))
    rows = select(repositories.c.full_name).where(*mine).order_by(func.lower(repositories.c.full_name))
    return list(conn.execute(rows).scalars())


def _where(readable: Collection[int], wanted: Wanted) -> ColumnElement[bool]:
    parts: list[ColumnElement[bool]] = [runs_table.c.repository_id.in_(readable)]
    if wanted.repository:
        parts.append(func.lower(repositories.c.full_name) == wanted.repository.lower())
    if wanted.state in STATES:
        parts.append(runs_table.c.status.in_(STATES[wanted.state]))
    if wanted.cause in set(Cause):
        of_cause = select(failure_groups.c.diagnosis_id).where(failure_groups.c.cause == Cause(wanted.cause))
        parts.append(runs_table.c.diagnosis_id.in_(of_cause))
    if wanted.text:
        parts.append(_matches(wanted.text))
    return and_(*parts)


def _matches(text: str) -> ColumnElement[bool]:
    named = select(failures.c.diagnosis_id).where(failures.c.test_id.icontains(text, autoescape=True))
    return or_(
        runs_table.c.diagnosis_id.in_(named),
        runs_table.c.id == text,
        runs_table.c.head_sha.startswith(text.lower(), autoescape=True),
        scopes.c.key.in_((f"pr:{text.lstrip('#')}", f"branch:{text}")),
    )


def line_of(conn: Connection, run_id: str, settings: Settings) -> RunLine:
    """One run as it stands in a list; NoResultFound for an unknown one."""
    return _line(conn, conn.execute(_joined().where(runs_table.c.id == run_id)).one(), settings)


def _joined() -> Select[Any]:
    head = (scopes.c.head_sha.label("scope_sha"), scopes.c.green_sha)
    named = (repositories.c.full_name, scopes.c.key, scopes.c.head_ref, *head)
    return (
        select(runs_table, *named)
        .join(repositories, repositories.c.id == runs_table.c.repository_id)
        .join(scopes, scopes.c.id == runs_table.c.scope_id)
    )


def _lines(
    conn: Connection, settings: Settings, where: ColumnElement[bool], *, oldest: bool = False
) -> Iterator[RunLine]:
    order = runs_table.c.updated_at.asc() if oldest else runs_table.c.updated_at.desc()
    rows = _joined().where(where, repositories.c.removed_at.is_(None)).order_by(order, runs_table.c.id).limit(MOST)
    for row in conn.execute(rows).all():
        yield _line(conn, row, settings)


def _line(conn: Connection, row: Row, settings: Settings) -> RunLine:
    causes = [group.cause for group in diagnoses.groups_of(conn, row.diagnosis_id)]
    return RunLine(
        run_id=row.id,
        repository=row.full_name,
        scope=row.key,
        head_ref=row.head_ref,
        status=row.status,
        stage=row.stage.value,
        blocked_stage="" if row.blocked_stage is None else row.blocked_stage.value,
        cause="" if row.block_cause is None else row.block_cause.value,
        result="" if row.result is None else row.result.value,
        mode=_waiting_mode(conn, row),
        cancel_reason=row.cancel_reason,
        failing=diagnoses.get(conn, row.diagnosis_id).failures_total,
        causes=tuple(dict.fromkeys(causes)),
        round=row.round + 1,
        rounds=rules_of(conn, row.id, settings).rounds + 1,
        usd=_usd(conn, turns.c.run_id == row.id),
        updated_at=row.updated_at,
    )


def _waiting_mode(conn: Connection, row: Row) -> str:
    published = publications.of_run(conn, row.id)
    mode = published[-1].mode.value if published else ""
    return "" if mode == "commit" or (row.green_sha and row.green_sha == row.scope_sha) else mode


def _usd(conn: Connection, where: ColumnElement[bool]) -> Decimal | None:
    """What these turns said they cost; None when none of them said it."""
    told = [money((cost or {}).get("usd")) for cost in conn.execute(select(turns.c.cost_json).where(where)).scalars()]
    known = [usd for usd in told if usd is not None]
    return sum(known, Decimal(0)) if known else None


def _spent(conn: Connection, readable: Collection[int], since: int) -> Decimal:
    mine = select(runs_table.c.id).where(runs_table.c.repository_id.in_(readable))
    return _usd(conn, and_(turns.c.run_id.in_(mine), turns.c.created_at >= since)) or Decimal(0)


def _results(conn: Connection, where: ColumnElement[bool]) -> dict[tuple[Status, Result | None], int]:
    columns = (runs_table.c.status, runs_table.c.result)
    rows = select(*columns, func.count()).where(where).group_by(*columns)
    return {(status, result): n for status, result, n in conn.execute(rows).all()}


def _any_older(conn: Connection, where: ColumnElement[bool]) -> bool:
    return conn.execute(_joined().where(where).limit(1)).first() is not None


def _text(usd: Decimal | None) -> str | None:
    return None if usd is None else str(usd)
