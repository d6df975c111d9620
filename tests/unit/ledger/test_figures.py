"""Figures for operators, alike in both databases; no label can hold a person's text (RD6)."""

from sqlalchemy import Connection, update

from app.ledger import deliveries, figures, ready, repos
from app.ledger.deliveries import Delivery
from app.ledger.schema import runs, spend, turns
from app.ledger.words import SpendState
from app.runs.model import BlockCause, ItemStatus, Stage, Status
from tests.unit.ledger.world import ACME, NOW, SHOP, a_run, a_scope, a_turn


def test_what_waits_and_for_how_long(conn: Connection) -> None:
    assert {job: found.count for job, found in ready.depth(conn, NOW).items() if found.count} == {}
    for guid, at in (("g-1", NOW - 9_000), ("g-2", NOW - 1_000)):
        deliveries.store(conn, Delivery(guid, "check_run", "completed", 1, 2, None, b"{}"), at)
    a_turn(conn, a_run(conn))
    found = ready.depth(conn, NOW + 500)
    assert (found["intake"].count, found["intake"].age_ms) == (2, 9_500)
    assert (found["turn"].count, found["turn"].age_ms, found["diagnose"].count) == (1, 500, 1)
    assert figures.last_delivery_at(conn) == NOW - 1_000
    assert figures.count_deliveries(conn) == {("check_run", "RECEIVED"): 2}


def test_runs_by_what_they_do_and_why_they_stand(conn: Connection) -> None:
    a_run(conn, a_scope(conn, "pr:1"))
    blocked = a_run(conn, a_scope(conn, "pr:2"))
    ended = a_run(conn, a_scope(conn, "pr:3"))
    stop = {"status": Status.BLOCKED, "blocked_stage": Stage.AGENT, "block_cause": BlockCause.COMMAND}
    conn.execute(update(runs).where(runs.c.id == blocked.run_id).values(**stop))
    words = {"status": Status.CANCELLED, "cancel_reason": "a person's own words"}
    conn.execute(update(runs).where(runs.c.id == ended.run_id).values(**words))
    assert figures.count_runs(conn) == {
        ("RUNNING", "PLAN_REVIEW", ""): 1,
        ("BLOCKED", "AGENT", str(BlockCause.COMMAND.value)): 1,
        ("CANCELLED", "PLAN_REVIEW", ""): 1,
    }


def test_turns_are_timed_by_role(conn: Connection) -> None:
    run = a_run(conn)
    for seconds in (3, 40, 7_200):
        done = {"status": ItemStatus.DONE, "started_at": NOW, "finished_at": NOW + seconds * 1000}
        conn.execute(update(turns).where(turns.c.id == a_turn(conn, run)).values(**done))
    times = figures.time_turns(conn)[("SUPERVISOR",)]
    assert (times.count, times.seconds) == (3, 7_243)
    assert dict(zip(figures.BOUNDS_S, times.within, strict=True))[60] == 2
    assert times.within[-1] == 2, "two hours are beyond every bound"


def test_money_and_tokens_by_state(conn: Connection) -> None:
    run = a_run(conn)
    turn_id = a_turn(conn, run)
    for n, (usd, tokens) in enumerate(((1_500_000, 900), (None, 100))):
        row = {"id": f"s{n}", "installation_id": ACME, "repository_id": SHOP, "run_id": run.run_id, "turn_id": turn_id}
        conn.execute(spend.insert().values(**row, state=SpendState.SPENT, usd_micros=usd, tokens=tokens, at=NOW))
    ((state, told),) = figures.sum_spend(conn).items()
    assert (state[0].lower(), told) == ("spent", (1.5, 1_000))


def test_githubs_budget_is_noted_now_and_then(conn: Connection) -> None:
    a_scope(conn)
    for left, at in ((4_000, NOW), (3_990, NOW + 5_000), (3_900, NOW + 10_000)):
        repos.note_calls_left(conn, ACME, left, at, 10_000)
        told = figures.calls_left(conn)[(str(ACME),)]
        assert told == (4_000 if at < NOW + 10_000 else 3_900)
