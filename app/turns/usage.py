"""What one turn took of money and tokens, as far as its agent says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection

from app.briefs import Case
from app.ledger import sessions, turns
from app.runners.runner import TurnResult, Usage


@dataclass(frozen=True)
class Took:
    """`is_known` is False for a turn that broke off without a word: what was set aside for it then counts."""

    usage: Usage
    session: str = ""
    is_known: bool = True

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    @property
    def usd(self) -> Decimal | None:
        return self.usage.usd

    def as_json(self) -> dict[str, Any]:
        """Kept with the turn; `session` is the agent's own, whose sums these are a part of."""
        one = self.usage
        usd = None if one.usd is None else str(one.usd)
        counts = {"input": one.input, "output": one.output, "cached": one.cached}
        acu = {} if one.acu is None else {"acu": str(one.acu)}
        return {**counts, "usd": usd, "exact": one.exact, "session": self.session, **acu}


def usage_of(conn: Connection, case: Case, result: TurnResult | None) -> Took:
    """What this turn took; None: it was never begun.

    An agent that was started anew tells the sums of its whole session, so those of earlier turns are taken off (RN-5).
    """
    if result is None:
        return Took(Usage(usd=Decimal(0)))
    told = result.usage
    is_known = result.error is None or bool(told.input or told.output or told.usd)
    if result.ref is None:
        return Took(told, is_known=is_known)
    name = result.ref.agent_session_id
    if sessions.get(conn, case.turn.session_id).agent_session_id == name:
        rows = [turn.cost_json for turn in turns.of_run(conn, case.run.id) if turn.session_id == case.turn.session_id]
        told = _without([row for row in rows if row and row.get("session") == name], told)
    return Took(told, name, is_known)


def _without(earlier: Sequence[Mapping[str, Any]], told: Usage) -> Usage:
    """The part after the earlier turns; sums that are smaller than theirs began anew with the process."""
    sums = [sum(int(row[name]) for row in earlier) for name in ("input", "output", "cached")]
    before = Usage(sums[0], sums[1], sums[2])
    money = sum((Decimal(row["usd"]) for row in earlier if row["usd"] is not None), Decimal(0))
    goes_on = told.input + told.output >= before.input + before.output
    tokens = told.since(before) if goes_on else told
    usd = told.usd if told.usd is None or told.usd < money else told.usd - money
    return Usage(tokens.input, tokens.output, tokens.cached, usd, told.exact, told.acu)
