"""Live progress: the events of a turn as typed steps, readable while it runs, in order, closed with its end."""

from typing import Any

from sqlalchemy import Connection

from app.ledger import events, leases, progress, runner_state, turns
from app.ledger.events import TurnEvent
from app.ledger.leases import Holder
from app.ledger.runner_state import KEYS, Shelf, TooMuch
from app.ledger.turns import TurnEnd
from app.ledger.words import RunnerScope, TurnEventKind, TurnEventSource
from app.runs.model import ItemStatus
from tests.unit.ledger.world import ACME, BLOG, NOW, SHOP, a_run, a_scope, a_turn

HAPPENED: list[tuple[TurnEventKind, dict[str, Any]]] = [
    (TurnEventKind.SESSION_BOUND, {"session": "s-1", "resumed": False}),
    (
        TurnEventKind.PLAN_UPDATED,
        {"steps": [{"what": "read", "status": "completed"}, {"what": "edit", "status": "pending"}]},
    ),
    (TurnEventKind.MESSAGE_COMPLETED, {"text": "Looking."}),
    (TurnEventKind.TOOL_CALL_STARTED, {"call": "c1", "title": "Edit a.py", "kind": "edit"}),
    (
        TurnEventKind.PERMISSION_DECIDED,
        {"call": "c1", "title": "Edit a.py", "rule": "grant_edit", "decision": "allow_once"},
    ),
    (TurnEventKind.TOOL_CALL_COMPLETED, {"call": "c1", "title": "Edit a.py", "ok": True, "output": "1 line"}),
    (TurnEventKind.USAGE_UPDATED, {"used": 100, "size": 200_000}),
]


def written(conn: Connection, turn_id: str) -> None:
    for seq, (kind, data) in enumerate(HAPPENED, 1):
        assert events.append_to_turn(conn, turn_id, TurnEvent(seq, kind, data, TurnEventSource.RUNNER), NOW + seq)


def test_what_an_agent_does_is_read_as_steps_while_it_works(conn: Connection) -> None:
    """Issue 7: message, plan, tool call, permission and usage; RN-11: a tool call by its id."""
    turn_id = a_turn(conn, a_run(conn))
    written(conn, turn_id)
    steps = progress.of_turn(conn, turn_id)
    assert [(step.kind, step.state) for step in steps] == [
        ("session", ""),
        ("plan", ""),
        ("message", ""),
        ("tool", "running"),
        ("permission", "allow_once"),
        ("tool", "done"),
        ("usage", ""),
    ]
    assert steps[1].plan == (("read", "completed"), ("edit", "pending")) and steps[2].text == "Looking."
    assert steps[3].call == steps[5].call == "c1" and steps[5].text == "1 line" and steps[3].title == "Edit a.py"
    assert [step.seq for step in progress.of_turn(conn, turn_id, after=5)] == [6, 7]


def test_a_run_is_read_on_behind_a_cursor(conn: Connection) -> None:
    run = a_run(conn)
    first, second = a_turn(conn, run), a_turn(conn, run)
    written(conn, first)
    written(conn, second)
    everything = progress.of_run(conn, run.run_id)
    assert len(everything) == 14 and {step.turn_id for step in everything[:7]} == {min(first, second)}
    for n, step in enumerate(everything):
        assert progress.of_run(conn, run.run_id, step.cursor) == everything[n + 1 :]
    assert progress.of_run(conn, run.run_id, ("another", 3)) == everything
    assert progress.of_run(conn, "another") == []


def test_the_same_event_twice_is_one_and_nothing_comes_after_the_end(conn: Connection) -> None:
    """RN-13, D13."""
    turn_id = a_turn(conn, a_run(conn))
    event = TurnEvent(1, TurnEventKind.TURN_LOG, {"text": "x"})
    assert events.append_to_turn(conn, turn_id, event, NOW) and not events.append_to_turn(conn, turn_id, event, NOW)
    epoch = leases.take(conn, f"turn:{turn_id}", "me", NOW, 60_000)
    assert epoch is not None
    me = Holder("me", epoch)
    assert turns.start(conn, turn_id, me, NOW) and turns.finish(conn, turn_id, me, TurnEnd(ItemStatus.DONE), NOW)
    assert not events.append_to_turn(conn, turn_id, TurnEvent(2, TurnEventKind.TURN_LOG, {"text": "late"}), NOW)
    assert [row.seq for row in events.of_turn(conn, turn_id)] == [1]


def test_what_a_runner_keeps_is_apart_for_each_repository_runner_and_scope(conn: Connection) -> None:
    """D14, D21, RN-75."""
    a_scope(conn)
    a_scope(conn, repository=BLOG)

    def shelf(scope: RunnerScope, repository: int = SHOP, runner: str = "a/b/c", session: str = "s-1") -> Shelf:
        return Shelf.of(scope, (ACME, repository), runner, session)

    places = [
        shelf(RunnerScope.SESSION),
        shelf(RunnerScope.SESSION, session="s-2"),
        shelf(RunnerScope.RUNNER),
        shelf(RunnerScope.RUNNER, runner="a/b/d"),
        shelf(RunnerScope.REPOSITORY),
        shelf(RunnerScope.REPOSITORY, BLOG),
    ]
    for n, place in enumerate(places):
        runner_state.put(conn, place, "key", {"n": n}, NOW)
    assert [runner_state.get(conn, place, "key") for place in places] == [{"n": n} for n in range(6)]
    assert runner_state.get(conn, shelf(RunnerScope.REPOSITORY, runner="a/b/d"), "key") == {"n": 4}
    runner_state.put(conn, places[0], "key", [1], NOW + 1)
    runner_state.put(conn, places[1], "key", None, NOW + 1)
    assert runner_state.get(conn, places[0], "key") == [1] and runner_state.keys(conn, places[1]) == []


def test_a_shelf_is_bounded(conn: Connection) -> None:
    """D14: 64 KiB for a value, 100 keys."""
    a_scope(conn)
    place = Shelf.of(RunnerScope.RUNNER, (ACME, SHOP), "a/b/c", "")
    for n in range(KEYS):
        runner_state.put(conn, place, f"k{n}", n, NOW)
    for key, value in (("one more", 1), ("k1", "x" * 65_537)):
        try:
            runner_state.put(conn, place, key, value, NOW)
        except TooMuch:
            continue
        raise AssertionError(key)
    runner_state.put(conn, place, "k1", "x" * 65_534, NOW)
