"""Several processes and threads on one database: nothing twice, no lock errors."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Connection, Engine, func, select

from app.ledger import deliveries, events, leases, outbox, ready, runs, transitions, turns
from app.ledger.deliveries import Delivery
from app.ledger.engine import read, write
from app.ledger.schema import deliveries as delivery_rows
from app.ledger.schema import run_events
from app.ledger.schema import runs as run_rows
from app.ledger.words import OutboxKind
from app.runs.facts import Start
from tests.unit.ledger.claimers import PATIENT, claim_all, real_now, tick, work_on_turn
from tests.unit.ledger.world import ACME, NOW, a_run, a_scope, a_turn, start

pytestmark = pytest.mark.slow

DELIVERIES = 80
TICKS = 60


def test_four_processes_share_the_work_of_one_database(engine: Engine, url: str) -> None:
    """ST-D5 in small: 0 lock errors (one would be raised here), 0 double claims."""
    with write(engine) as conn:
        for n in range(DELIVERIES):
            deliveries.store(conn, Delivery(f"g{n:03}", "push", "", ACME, None, None, b"{}"), NOW)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        claimed = pool.starmap(claim_all, [(url, f"worker {n}") for n in range(4)])
    everything = [guid for mine in claimed for guid in mine]
    assert sorted(everything) == [f"g{n:03}" for n in range(DELIVERIES)], "each once"
    with read(engine) as conn:
        states = select(delivery_rows.c.state, func.count()).group_by(delivery_rows.c.state)
        assert conn.execute(states).all() == [("HANDLED", DELIVERIES)]


def test_four_processes_tick_one_run_and_each_transition_is_made_once_C28_LE_3_IV_15(engine: Engine, url: str) -> None:
    """Who comes second is overtaken, or late; nothing of it is written."""
    with write(engine) as conn:
        run = transitions.apply(conn, a_run(conn).run_id, Start("x"), PATIENT, NOW).run
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        made = pool.starmap(tick, [(url, run.run_id, TICKS)] * 4)
    with read(engine) as conn:
        told = [event.kind.value for event in events.of_run(conn, run.run_id)]
        asked = turns.of_run(conn, run.run_id)
        assert runs.load(conn, run.run_id).version == TICKS
    assert sum(made) == TICKS - 1
    assert told.count("plan.correction_requested") == TICKS - 1
    assert len(asked) == len({turn.id for turn in asked}) == TICKS


def test_a_process_stopped_past_its_lease_writes_nothing_when_it_goes_on(engine: Engine, url: str) -> None:
    """LE-2, LE-5: SIGSTOP, take-over, SIGCONT; the revived one loses its write and knows it."""
    with write(engine) as conn:
        turn_id = a_turn(conn, a_run(conn))
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=work_on_turn, args=(url, turn_id, theirs))
    process.start()
    try:
        assert pipe.poll(60)
        assert pipe.recv() == "started"
        os.kill(process.pid or 0, signal.SIGSTOP)
        for _ in range(200):
            with write(engine) as conn:
                lost = ready.interrupt_expired(conn, real_now())
            if lost:
                break
            threading.Event().wait(0.05)
        assert [item.item_id for item in lost] == [turn_id]
        before = row_of(engine, turn_id)
        pipe.send("go on")
        os.kill(process.pid or 0, signal.SIGCONT)
        assert pipe.poll(60)
        assert pipe.recv() == [False, True]
        assert row_of(engine, turn_id) == before
    finally:
        process.kill()
        process.join()


def row_of(engine: Engine, turn_id: str) -> tuple[object, ...]:
    with read(engine) as conn:
        return tuple(turns.get(conn, turn_id))


def test_of_twenty_starts_at_the_same_moment_one_makes_a_run(engine: Engine) -> None:
    """IV-14, AC-1: at most one run in RUNNING or BLOCKED per scope."""
    with write(engine) as conn:
        scope_id = a_scope(conn)

    def one_start(conn: Connection) -> bool:
        return start(conn, scope_id).created

    assert sorted(_together(engine, 20, one_start)) == [False] * 19 + [True]
    with read(engine) as conn:
        assert conn.execute(select(func.count()).select_from(run_rows)).scalar() == 1


def test_a_lease_has_one_taker(engine: Engine) -> None:
    """LE-1."""
    names = iter(range(20))

    def take(conn: Connection) -> bool:
        return leases.take(conn, "run:1", f"owner {next(names)}", NOW, 1000) is not None

    assert sum(_together(engine, 20, take)) == 1


def test_two_ticks_on_one_fact_make_one_transition_C28(engine: Engine) -> None:
    """LE-3: the version decides."""
    with write(engine) as conn:
        before = a_run(conn)

    def tick(conn: Connection) -> bool:
        return runs.save(conn, before, replace(before, version=1, round=1), NOW)

    assert sorted(_together(engine, 8, tick)) == [False] * 7 + [True]


def test_events_and_letters_written_at_once_are_numbered_one_by_one(engine: Engine) -> None:
    """IV-15, OB-2: no number twice, none left out."""
    with write(engine) as conn:
        run = a_run(conn)

    def write_both(conn: Connection) -> bool:
        seq = events.append(conn, run.run_id, "issue.seen", {}, None, NOW)
        kind = OutboxKind.REPLY
        outbox.put(conn, key=f"reply:{seq}", lane="1", kind=kind, payload={}, installation_id=ACME, now=NOW)
        return True

    _together(engine, 12, write_both)
    with read(engine) as conn:
        assert [row.seq for row in conn.execute(select(run_events.c.seq).order_by("seq"))] == list(range(1, 13))


def _together(engine: Engine, n: int, act: Callable[[Connection], bool]) -> list[bool]:
    """Let n threads do `act` in a transaction each, at the same moment; what they answered, errors raised."""
    barrier = threading.Barrier(n)
    answers: list[bool] = []
    errors: list[Exception] = []

    def run() -> None:
        barrier.wait()
        try:
            with write(engine) as conn:
                answer = act(conn)
            answers.append(answer)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers
