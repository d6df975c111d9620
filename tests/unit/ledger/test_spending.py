"""Money, tokens and time of a run: what is set aside, what was taken, how many budgets that needs (T45, W72)."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, update

from app.ledger import leases, spending, turns, work
from app.ledger.leases import Holder
from app.ledger.rules import limits_of
from app.ledger.schema import turns as turns_table
from app.runs.model import ItemKind, Run
from app.settings import Limits, Settings
from tests.unit.ledger.world import NOW, a_run, a_turn

LIMITS = Limits(run_usd=Decimal(3), run_tokens=1000, run_s=60)


def a_spent_turn(conn: Connection, run: Run, tokens: int, usd: str | None, seconds: int = 0) -> str:
    turn_id = a_turn(conn, run)
    spending.reserve(conn, run.run_id, turn_id, LIMITS, NOW)
    times = {"started_at": NOW, "finished_at": NOW + seconds * 1000}
    conn.execute(update(turns_table).where(turns_table.c.id == turn_id).values(**times))
    spending.settle(conn, turn_id, tokens, None if usd is None else Decimal(usd), NOW)
    return turn_id


def of(conn: Connection, run: Run, limits: Limits = LIMITS) -> dict[str, spending.Measure]:
    return {one.name: one for one in spending.measures(conn, run.run_id, limits)}


def test_a_run_begins_with_all_of_its_first_budget(conn: Connection) -> None:
    run = a_run(conn)
    assert {one.needed for one in of(conn, run).values()} == {1}
    assert spending.seconds_left(conn, run.run_id, LIMITS) == 60
    assert spending.measures(conn, run.run_id, Limits(run_s=None)) == []


def test_the_next_turn_is_thought_to_take_as_much_as_the_largest_W72(conn: Connection) -> None:
    run = a_run(conn)
    a_spent_turn(conn, run, 300, "1.00")
    assert of(conn, run)["Money"].needed == 1
    a_spent_turn(conn, run, 100, "1.00")
    assert of(conn, run)["Money"].needed == 1, "3.00 of 3.00 is within the budget"
    a_spent_turn(conn, run, 100, "0.10")
    money = of(conn, run)["Money"]
    assert (money.needed, money.used, money.next) == (2, 2_100_000, 1_000_000)
    note = spending.note([money], 1)
    assert note == "money: 2.10 of 3.00 USD, and one turn more may take 1.00 USD"
    assert spending.note([money], 2) == ""


def test_used_up_to_the_last_is_used_up(conn: Connection) -> None:
    run = a_run(conn)
    a_spent_turn(conn, run, 0, "0", seconds=60)
    assert of(conn, run)["Time"].needed == 2
    assert spending.note([of(conn, run)["Time"]], 1) == "time: 1 of 1 min"
    assert spending.seconds_left(conn, run.run_id, LIMITS) == 0


def test_money_of_an_agent_that_does_not_tell_is_at_least(conn: Connection) -> None:
    run = a_run(conn)
    a_spent_turn(conn, run, 600, None)
    a_spent_turn(conn, run, 600, "4.00")
    assert spending.spent_of(of(conn, run)["Money"], 1) == "at least 4.00 of 3.00 USD"
    assert spending.spent_of(of(conn, run)["Tokens"], 2) == "1 200 of 2 000 tokens"


def test_a_turn_whose_worker_was_lost_counts_as_what_was_set_aside(conn: Connection) -> None:
    run = a_run(conn)
    a_spent_turn(conn, run, 400, "1.00")
    turn_id = a_turn(conn, run)
    spending.reserve(conn, run.run_id, turn_id, LIMITS, NOW)
    assert of(conn, run)["Tokens"].used == 800, "set aside while it waits and works"
    epoch = leases.take(conn, f"turn:{turn_id}", "me", NOW, 8000)
    assert epoch is not None and turns.start(conn, turn_id, Holder("me", epoch), NOW)
    work.cancel(conn, ItemKind.TURN, turn_id, NOW)
    assert of(conn, run)["Tokens"].used == 800


def test_lost_work_that_is_found_late_counts_to_its_deadline(conn: Connection) -> None:
    """The machine was down for a day."""
    run = a_run(conn)
    turn_id = a_turn(conn, run)
    times = {"started_at": NOW, "deadline_at": NOW + 9000, "finished_at": NOW + 86_400_000, "error_code": "interrupted"}
    conn.execute(update(turns_table).where(turns_table.c.id == turn_id).values(**times))
    assert of(conn, run)["Time"].used == 9000


def test_a_turn_that_never_began_takes_nothing(conn: Connection) -> None:
    run = a_run(conn)
    a_spent_turn(conn, run, 400, "1.00")
    turn_id = a_turn(conn, run)
    spending.reserve(conn, run.run_id, turn_id, LIMITS, NOW)
    work.cancel(conn, ItemKind.TURN, turn_id, NOW)
    assert of(conn, run)["Tokens"].used == 400


@pytest.mark.parametrize(
    ("operator", "policy", "holds"),
    [
        (Limits(), {"run_usd": 2}, 2),
        (Limits(run_usd=Decimal(1)), {"run_usd": 2.5}, 1),
        (Limits(run_usd=Decimal(3)), {"run_usd": 2.5}, 2.5),
        (Limits(run_usd=Decimal(3)), {}, 3),
        (Limits(), {}, None),
    ],
)
def test_a_repository_may_only_lower_a_budget_S37(operator: Limits, policy: dict[str, float], holds: float) -> None:
    repository: Any = SimpleNamespace(policy_json={"limits": policy})
    assert limits_of(repository, Settings(limits=operator)).run_usd == holds
