"""Money, tokens and time of a run: reserved before a turn, settled after it, compared with its budgets (T45)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection, select, update

from app.ledger import events
from app.ledger.rows import Row
from app.ledger.schema import proofs, runs, spend, turns
from app.ledger.schema.work import BEGUN
from app.ledger.words import EventKind, SpendState
from app.settings import Limits

MICROS = 1_000_000
MONEY, TOKENS, TIME = "Money", "Tokens", "Time"


@dataclass(frozen=True)
class Amount:
    """What was used. `told` is False where an agent did not say its cost: then the money is "at least" this."""

    usd_micros: int = 0
    tokens: int = 0
    ms: int = 0
    told: bool = True


@dataclass(frozen=True)
class Measure:
    """One limit of a run: `step` is one budget of it, `used` what is used, `next` what one turn more may need."""

    name: str
    step: int
    used: int
    next: int
    told: bool = True

    @property
    def needed(self) -> int:
        """How many budgets it takes for one turn more."""
        return -(-(self.used + max(1, self.next)) // max(1, self.step))


def used(conn: Connection, run_id: str, but: str = "") -> Amount:
    """All turns and proofs so far; a turn whose worker was lost counts as what was reserved for it.

    `but` leaves out one turn: the one that asks whether it may begin.
    """
    rows = [row for row in _rows(conn, run_id) if row.turn_id != but]
    counted = [row for row in rows if row.state is SpendState.SPENT or _is_at_work(row)]
    return Amount(
        sum(row.usd_micros or 0 for row in counted),
        sum(row.tokens for row in counted),
        _ms(conn, run_id),
        all(row.usd_micros is not None for row in counted if row.state is SpendState.SPENT),
    )


def measures(conn: Connection, run_id: str, limits: Limits, but: str = "") -> Sequence[Measure]:
    """The limits that are set for a run, with what is used of them; the tightest first."""
    so_far, most = used(conn, run_id, but), _largest(conn, run_id)
    return sorted(_measures(so_far, most, limits), key=lambda one: one.used / max(1, one.step), reverse=True)


def note(found: Sequence[Measure], budgets: int) -> str:
    """What of a run's budgets is used up, as people read it; empty while all of it allows one turn more."""
    return "; ".join(f"{one.name.lower()}: {_used_of(one, budgets)}" for one in found if one.needed > budgets)


def amount(one: Measure, value: int) -> str:
    """A value in the unit of its measure: `0.84 USD`, `12 000 tokens`, `60 min` (ux.md, UX-W)."""
    if one.name == MONEY:
        return f"{value / MICROS:.2f} USD"
    if one.name == TIME:
        return f"{value / 60_000:.0f} min"
    return f"{value:,} tokens".replace(",", " ")


def spent_of(one: Measure, budgets: int) -> str:
    """`0.84 of 3.00 USD`; "at least" where an agent does not tell its cost."""
    value, _, _ = amount(one, one.used).rpartition(" ")
    return f"{'' if one.told else 'at least '}{value} of {amount(one, one.step * budgets)}"


def _used_of(one: Measure, budgets: int) -> str:
    more = f", and one turn more may take {amount(one, one.next)}" if one.used < one.step * budgets else ""
    return spent_of(one, budgets) + more


def _measures(so_far: Amount, most: Amount, limits: Limits) -> Iterator[Measure]:
    if limits.run_usd is not None:
        step = int(Decimal(str(limits.run_usd)) * MICROS)
        yield Measure(MONEY, step, so_far.usd_micros, most.usd_micros, so_far.told)
    if limits.run_tokens is not None:
        yield Measure(TOKENS, limits.run_tokens, so_far.tokens, most.tokens)
    if limits.run_s is not None:
        yield Measure(TIME, limits.run_s * 1000, so_far.ms, 0)


def seconds_left(conn: Connection, run_id: str, limits: Limits) -> float | None:
    """How long the next turn may take at most; None where a run's time has no limit."""
    if limits.run_s is None:
        return None
    budgets: int = conn.execute(select(runs.c.budgets).where(runs.c.id == run_id)).scalar_one()
    return max(0.0, budgets * limits.run_s - _ms(conn, run_id) / 1000)


def reserve(conn: Connection, run_id: str, turn_id: str, limits: Limits, now: int) -> None:
    """Set aside for a turn as much as the largest one so far took, in the transaction that orders it (W72)."""
    run = conn.execute(select(runs).where(runs.c.id == run_id)).one()
    most = _largest(conn, run_id)
    where = {"installation_id": run.installation_id, "repository_id": run.repository_id, "run_id": run_id}
    aside = {"usd_micros": most.usd_micros, "tokens": most.tokens}
    conn.execute(
        spend.insert().values(id=turn_id, turn_id=turn_id, **where, state=SpendState.RESERVED, at=now, **aside)
    )
    if limits.run_usd is not None or limits.run_tokens is not None:
        events.append(conn, run_id, EventKind.BUDGET_RESERVED, {"turn": turn_id, **aside}, None, now)


def settle(conn: Connection, turn_id: str, tokens: int, usd: Decimal | None, now: int) -> None:
    """What a turn really took, in the transaction that keeps its end; `usd` None: its agent does not say."""
    micros = None if usd is None else int(usd * MICROS)
    values = {"state": SpendState.SPENT, "tokens": tokens, "usd_micros": micros, "at": now}
    conn.execute(update(spend).where(spend.c.turn_id == turn_id).values(**values))


def release(conn: Connection, turn_id: str, now: int) -> None:
    """A turn that was never begun takes nothing."""
    begun = select(turns.c.id).where(turns.c.id == turn_id, turns.c.started_at.is_not(None))
    mine = (spend.c.turn_id == turn_id, spend.c.state == SpendState.RESERVED, ~begun.exists())
    conn.execute(update(spend).where(*mine).values(state=SpendState.RELEASED, at=now))


def _rows(conn: Connection, run_id: str) -> Sequence[Row]:
    rows = select(spend, turns.c.status, turns.c.started_at).join(turns, turns.c.id == spend.c.turn_id)
    return conn.execute(rows.where(spend.c.run_id == run_id)).all()


def _is_at_work(row: Row) -> bool:
    return row.state is SpendState.RESERVED and (row.status in BEGUN or row.started_at is not None)


def _largest(conn: Connection, run_id: str) -> Amount:
    spent = [row for row in _rows(conn, run_id) if row.state is SpendState.SPENT]
    return Amount(max((row.usd_micros or 0 for row in spent), default=0), max((row.tokens for row in spent), default=0))


def _ms(conn: Connection, run_id: str) -> int:
    """Time of work: of turns and proofs that ended. Waiting for people, for CI and in queues takes none.

    Work whose worker was lost is found later, after hours if the whole machine was down: it counts to its deadline.
    """
    worked = 0
    for table in (turns, proofs):
        rows = select(table).where(
            table.c.run_id == run_id, table.c.started_at.is_not(None), table.c.finished_at.is_not(None)
        )
        for row in conn.execute(rows):
            lost = row.error_code == "interrupted"
            end = min(row.finished_at, row.deadline_at or row.started_at) if lost else row.finished_at
            worked += max(0, end - row.started_at)
    return worked
