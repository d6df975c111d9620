"""Self-repair in rows: asked once per block, answered once, overruled by people, caught up late (domain.md, 10)."""

import pytest
from sqlalchemy import Connection, update

from app.ledger import events, repairing, repairs, repos, runs, sessions, transitions, turns
from app.ledger.rows import Row
from app.ledger.rules import limits_of, rules_of
from app.ledger.schema import repositories
from app.ledger.schema import runs as runs_table
from app.ledger.schema import turns as turns_table
from app.runs.facts import CatchUp, Command, Ended, EngineError, Fact, Repaired, Start, TurnDone, TurnFailed, Verdict
from app.runs.model import BlockCause, Decision, ItemStatus, Role, Run, Stage, Status
from app.settings import Settings
from tests.unit.ledger.world import NOW, SHOP, a_run, a_scope

ON = Settings(agent="a/b/agent", supervisor="a/b/judge", self_repair=True)
OFF = Settings(self_repair=False)


def go(conn: Connection, run: Run, fact: Fact, settings: Settings = ON, now: int = NOW) -> Run:
    return transitions.apply(conn, run.run_id, fact, settings, now).run


def blocked_plan(conn: Connection, settings: Settings = ON) -> Run:
    """A run whose plan the supervisor blocked."""
    run = go(conn, a_run(conn), Start("x"), settings)
    verdict = Verdict(Decision.BLOCK, "two texts disagree")
    return go(conn, run, TurnDone(str(run.active_id), verdict), settings, NOW + 1)


def rows(conn: Connection, run: Run) -> list[tuple[str, str | None]]:
    return [(row.status.value, row.turn_id) for row in repairs.of_run(conn, run.run_id)]


def kinds(conn: Connection, run: Run) -> list[str]:
    return [event.kind.value for event in events.of_run(conn, run.run_id)]


def the_turn(conn: Connection, run: Run) -> Row:
    asked = repairs.running(conn, run.run_id)
    assert asked is not None
    return turns.get(conn, asked.turn_id)


def test_sr_1_sr_2_a_block_that_it_can_help_with_asks_a_session_of_its_own_C14_C15(conn: Connection) -> None:
    run = blocked_plan(conn)

    asked = the_turn(conn, run)
    session = sessions.get(conn, asked.session_id)
    assert (run.status, run.blocked_stage, run.active_id) == (Status.BLOCKED, Stage.PLAN_REVIEW, None)
    assert (asked.role, session.role, session.runner_id) == (Role.SELF_REPAIR, Role.SELF_REPAIR, "a/b/judge")
    assert asked.session_id != runs.get(conn, run.run_id).supervisor_session_id
    assert kinds(conn, run)[-2:] == ["run.blocked", "self_repair.started"]


def test_sr_1_off_means_no_row_and_no_third_session_C14(conn: Connection) -> None:
    run = blocked_plan(conn, OFF)
    assert rows(conn, run) == []

    conn.execute(update(repositories).values(policy_json={"self_repair": False}))
    assert not rules_of(conn, run.run_id, ON).self_repair, "a repository may switch it off"


def test_t19_sr_6_sr_7_fixed_goes_on_where_it_stopped_with_the_addendum_C16(conn: Connection) -> None:
    run = blocked_plan(conn)
    after = go(conn, run, Repaired(the_turn(conn, run).id, "fixed", "why", "The empty list counts."))

    assert (after.status, after.stage) == (Status.RUNNING, Stage.PLAN_REVIEW)
    assert [row.addenda for row in runs.steps_of(conn, run.run_id)] == [["The empty list counts."]] * 2
    assert [row.prompt for row in runs.steps_of(conn, run.run_id)] == ["repair a", "repair b"]
    assert [status for status, _ in rows(conn, run)] == ["SUCCEEDED"]
    assert "self_repair.resumed" in kinds(conn, run)


def test_t20_needs_user_stays_blocked_and_nobody_asks_again_C17(conn: Connection) -> None:
    run = blocked_plan(conn)
    after = go(conn, run, Repaired(the_turn(conn, run).id, "needs_user", "a person must choose"))

    assert (after.status, rows(conn, run)[0][0]) == (Status.BLOCKED, "NEEDS_USER")
    assert repairs.of_run(conn, run.run_id)[0].feedback == "a person must choose"
    assert repairs.unasked(conn) == []


def test_sr_10_cr_12_one_turn_more_then_failed(conn: Connection) -> None:
    run = blocked_plan(conn)
    first = the_turn(conn, run)
    go(conn, run, Repaired(first.id, "failed", may_reask=True))
    second = the_turn(conn, run)
    assert (second.id != first.id, second.session_id) == (True, first.session_id)
    assert repairs.running(conn, run.run_id).reasks == 1  # type: ignore[union-attr]

    go(conn, run, Repaired(second.id, "failed", "unreadable"))
    assert rows(conn, run) == [("FAILED", second.id)]


def test_sr_10_rows_without_a_turn_do_not_count_and_the_third_is_not_asked(conn: Connection) -> None:
    run = blocked_plan(conn)
    for _ in range(2):
        run = go(conn, run, Repaired(the_turn(conn, run).id, "fixed"))
        run = go(conn, run, TurnDone(str(run.active_id), Verdict(Decision.BLOCK, "still")))

    assert [status for status, _ in rows(conn, run)] == ["SUCCEEDED", "SUCCEEDED", "NEEDS_USER"]
    assert (rows(conn, run)[2][1], run.self_repairs) == (None, 2)


@pytest.mark.parametrize(
    "fact",
    [Command("resume", "dana"), Command("retry", "dana"), Command("cancel", "dana"), Ended("closed")],
    ids=["resume", "retry", "cancel", "closed"],
)
def test_sr_11_people_come_first_and_a_late_answer_changes_nothing_C19(conn: Connection, fact: Fact) -> None:
    run = blocked_plan(conn)
    late = the_turn(conn, run)
    after = go(conn, run, fact)

    assert rows(conn, run) == [("SUPERSEDED", late.id)]
    assert turns.get(conn, late.id).status is ItemStatus.CANCELLED
    assert kinds(conn, run).count("self_repair.owner_resolved") == 1

    answer = transitions.apply(conn, run.run_id, Repaired(late.id, "fixed", "", "x"), ON, NOW)
    assert answer.refused and runs.load(conn, run.run_id) == after
    assert kinds(conn, run)[-1] == "turn.late_result"


def test_sr_11_t47_an_answer_of_a_block_before_is_late_as_well(conn: Connection) -> None:
    run = blocked_plan(conn)
    late = the_turn(conn, run)
    run = go(conn, run, Command("resume", "dana"))
    run = go(conn, run, TurnDone(str(run.active_id), Verdict(Decision.BLOCK, "again")))

    assert transitions.apply(conn, run.run_id, Repaired(late.id, "fixed"), ON, NOW).refused
    assert the_turn(conn, run).id != late.id


def test_sr_11_switching_remedy_off_overrules_it_too(conn: Connection) -> None:
    run = blocked_plan(conn)
    late = the_turn(conn, run)
    repairing.overrule(conn, run.run_id, NOW)
    repairing.overrule(conn, run.run_id, NOW)

    assert rows(conn, run) == [("SUPERSEDED", late.id)]
    assert kinds(conn, run).count("self_repair.owner_resolved") == 1
    assert transitions.apply(conn, run.run_id, Repaired(late.id, "fixed"), ON, NOW).refused
    assert repairs.unasked(conn) == [], "nor does the sweep ask again"


def test_5_3_not_asked_is_written_down_at_once_but_not_for_a_persons_block(conn: Connection) -> None:
    run = go(conn, a_run(conn), Start("x"))
    run = go(conn, run, TurnFailed(str(run.active_id), "runner.not_ready", "set KEY"))
    assert rows(conn, run) == [("NEEDS_USER", None)]

    run = go(conn, run, Command("resume", "dana"))
    run = go(conn, run, Command("block", "dana"))
    assert [status for status, _ in rows(conn, run)] == ["SUPERSEDED"]


def test_t23_a_block_of_a_time_when_it_was_off_is_caught_up_once_C24(conn: Connection) -> None:
    run = blocked_plan(conn, OFF)
    assert repairs.unasked(conn) == [run.run_id]

    run = go(conn, run, CatchUp(Stage.AGENT), now=NOW + 2)
    assert (run.status, run.blocked_stage, run.self_repairs) == (Status.BLOCKED, Stage.PLAN_REVIEW, 1)
    assert repairs.unasked(conn) == []
    assert kinds(conn, run)[-1] == "self_repair.catchup_started"


def test_t23_bs_6_db_9_a_row_of_an_old_version_gets_its_stage_and_is_looked_at_C24(conn: Connection) -> None:
    run = blocked_plan(conn, OFF)
    conn.execute(update(runs_table).values(blocked_stage=None, block_cause=None))
    conn.execute(update(turns_table).values(status=ItemStatus.DONE))
    assert repairs.unasked(conn) == [run.run_id]

    run = go(conn, run, CatchUp(repairs.stage_of_old(conn, run.run_id)), now=NOW + 2)
    assert (run.blocked_stage, run.cause) == (Stage.AGENT, BlockCause.TURN_FAILED), "its last turn is done"
    assert the_turn(conn, run).role is Role.SELF_REPAIR


def test_t23_bs_1_an_engine_error_while_blocked_asks_nobody_again(conn: Connection) -> None:
    run = blocked_plan(conn)
    go(conn, run, EngineError("KeyError: x"), now=NOW + 5)
    assert repairs.unasked(conn) == []
    assert runs.load(conn, run.run_id).blocked_stage is Stage.PLAN_REVIEW


def test_t23_never_where_a_person_switched_remedy_off(conn: Connection) -> None:
    run = blocked_plan(conn, OFF)
    repos.mark_off(conn, runs.get(conn, run.run_id).scope_id, "dana", "", NOW)
    assert repairs.unasked(conn) == []


@pytest.mark.parametrize(
    ("role", "status", "step_id", "stage"),
    [
        (Role.AGENT, ItemStatus.FAILED, "s1", Stage.AGENT),
        (Role.SUPERVISOR, ItemStatus.DONE, "s1", Stage.AGENT),
        (Role.SUPERVISOR, ItemStatus.FAILED, "s1", Stage.SUPERVISOR),
        (Role.SUPERVISOR, ItemStatus.FAILED, None, Stage.PLAN_REVIEW),
    ],
)
def test_bs_6_the_stage_of_an_old_row(
    conn: Connection, role: Role, status: ItemStatus, step_id: str | None, stage: Stage
) -> None:
    run = go(conn, a_run(conn), Start("x"))
    last = str(run.active_id)
    conn.execute(update(turns_table).values(role=role, status=status, step_id=step_id).where(turns_table.c.id == last))
    assert repairs.stage_of_old(conn, run.run_id) is stage


def test_section_6_policy_lowers_every_limit_and_raises_none(conn: Connection) -> None:
    a_scope(conn)
    lower = {"rounds": 1, "restarts": 9, "bot_commits": 1, "agent_turn_s": 60, "publication_tries": None}
    conn.execute(update(repositories).values(policy_json={"limits": lower, "max_failures": 5}))
    repository = repos.get_repository(conn, SHOP)
    limits = limits_of(repository, ON)

    assert (limits.rounds, limits.restarts, limits.bot_commits, limits.agent_turn_s) == (1, 2, 1, 60)
    assert (limits.publication_tries, limits.max_failures) == (5, 5)
