"""A worker dies at any moment, another goes on: the same end, and nothing twice (issue 2; domain.md, 13)."""

from collections.abc import Callable
from typing import Any

import pytest

from app.github import comments
from app.ledger import leases
from app.runs.model import ItemStatus, Stage
from tests.journeys.deadly import DeadlyWorld, Trap
from tests.journeys.outcome import assert_repaired
from tests.journeys.steps import a_red_pull
from tests.journeys.victim import COMMIT, Point

Make = Callable[[], DeadlyWorld]

STAGES = {
    "intake, the event is heard and not yet ticked off (CR-2)": Trap("intake", Point("jobs.intake:deliveries.handled")),
    "diagnose, the failures are read and not yet kept (CR-3)": Trap("diagnose", Point("jobs.diagnose:keep_groups")),
    "diagnose, the run is there and nobody rang (CR-15)": Trap("diagnose", Point("jobs.diagnose:_ring", "before")),
    "PLAN_REVIEW, the supervisor speaks (CR-4)": Trap(
        "turn", Point("app.turns.keeping:Diary.__call__"), Stage.PLAN_REVIEW
    ),
    "AGENT, the agent is at work (CR-5)": Trap("turn", Point("app.turns.keeping:Diary.__call__", nth=2), Stage.AGENT),
    "AGENT, the work is done and not yet taken (CR-5)": Trap("turn", Point("jobs.turn:drive"), Stage.AGENT),
    "AGENT, the work is taken and not yet kept (CR-5)": Trap("turn", Point("jobs.turn:harvest"), Stage.AGENT),
    "PROVE, the second test run begins (CR-6)": Trap(
        "prove", Point("app.workspace.grid.cells:run_suite", "before", 2), Stage.PROVE
    ),
    "PROVE, measured and not yet kept (CR-6)": Trap("prove", Point("jobs.prove:measure"), Stage.PROVE),
    "SUPERVISOR, the verdict is not yet kept (CR-7)": Trap("turn", Point("jobs.turn:drive"), Stage.SUPERVISOR),
    "PUBLISH, before the push (CR-8)": Trap(
        "publish", Point("app.workspace.checkout:Mirror.push", "before"), Stage.PUBLISH
    ),
    "PUBLISH, between push and row (CR-9)": Trap("publish", Point("app.workspace.checkout:Mirror.push"), Stage.PUBLISH),
    "AWAIT_CI, CI is seen and not yet kept (CR-10)": Trap("advance", Point("jobs.advance:ci_of"), Stage.AWAIT_CI),
    "FINAL_REVIEW, the last words are not yet kept (CR-11)": Trap("turn", Point("jobs.turn:drive"), Stage.FINAL_REVIEW),
}

SHARES = [list(STAGES)[n::3] for n in range(3)]
"""Neighbours die in different runs: a run whose work is lost three times on the way to one proof has ended (T15)."""


@pytest.mark.parametrize("moments", SHARES, ids=["first share", "second share", "third share"])
def test_workers_are_killed_in_every_stage(moments: list[str], a_deadly_world: Make) -> None:
    world = a_deadly_world()
    world.set_traps(STAGES[where] for where in moments)
    number = a_red_pull(world)

    world.step_until_quiet()

    world.assert_all_met()
    assert_repaired(world, number)


@pytest.mark.long
@pytest.mark.parametrize("where", STAGES)
def test_a_worker_is_killed_in(where: str, a_deadly_world: Make) -> None:
    world = a_deadly_world()
    world.set_traps([STAGES[where]])
    number = a_red_pull(world)

    world.step_until_quiet()

    world.assert_all_met()
    assert_repaired(world, number)


LETTERS = {
    "the comment": "app.speech.scope:comments.open_comment",
    "the check": "app.speech.scope:checks.open_check",
    "the issue": "app.speech.issues:github.open_issue",
    "the pull request": "app.speech.pulls:pulls.open_pull",
}


def test_the_sender_is_killed_between_request_and_answer_of_every_create_CR_14(a_deadly_world: Make) -> None:
    """Each thing stands at GitHub, and the sender that made it died before it could note it down."""
    world = a_deadly_world()
    world.set_traps(Trap("deliver", Point(place)) for place in LETTERS.values())
    number = a_red_pull(world)

    world.step_until_quiet()

    world.assert_all_met()
    assert_repaired(world, number)


ELSEWHERE = ("issues/create-comment", "checks/create", "issues/create")
"""Also held, without a whole run behind them, by the journeys about GitHub's moods."""


@pytest.mark.parametrize(
    "operation", ["pulls/create", *(pytest.param(name, marks=pytest.mark.long) for name in ELSEWHERE)]
)
def test_an_answer_is_lost_on_the_way_D_35(operation: str, a_deadly_world: Make) -> None:
    """GitHub did it and the connection was cut: nobody died, and nothing may be said twice (OB-5)."""
    world = a_deadly_world()
    world.github.lost_answer(operation)
    number = a_red_pull(world)

    world.step_until_quiet()

    assert_repaired(world, number)


def test_a_tick_is_killed_at_every_stage_before_and_after_its_commit_CR_15(a_deadly_world: Make) -> None:
    """Two ticks on one fact make one transition; a transition that nobody was told of is found (LE-3)."""
    world = a_deadly_world()
    stages = [stage for stage in Stage if stage is not Stage.IDLE]
    moments = [Point(COMMIT, "before", 2), Point("jobs.advance:_apply")]
    world.set_traps(Trap("advance", moment, stage) for stage in stages for moment in moments)
    number = a_red_pull(world)

    world.step_until_quiet()

    world.assert_all_met()
    assert_repaired(world, number)


def test_nobody_else_works_while_the_lease_of_the_dead_lasts_LE_1(a_deadly_world: Make) -> None:
    world = a_deadly_world()
    world.set_traps([STAGES["AGENT, the work is done and not yet taken (CR-5)"]])
    a_red_pull(world)

    world.step_until_quiet()

    assert world.words_while_leased == ["leased"]


@pytest.mark.long
def test_a_restarted_agent_goes_on_in_its_own_workspace_CR_5(a_deadly_world: Make) -> None:
    """The second turn finds the commit of the first one, and the number of attempts stays one."""
    world = a_deadly_world()
    world.set_traps([STAGES["AGENT, the work is done and not yet taken (CR-5)"]])
    number = a_red_pull(world)

    world.step_until_quiet()

    work = [turn for turn in world.turns_of(number) if turn.purpose == "work"]
    assert [(turn.status, turn.error_code) for turn in work] == [
        (ItemStatus.FAILED, "interrupted"),
        (ItemStatus.DONE, ""),
    ]
    assert work[0].session_id == work[1].session_id
    assert "git status" in work[1].prompt and "git status" not in work[0].prompt


def test_a_worker_that_dies_each_time_ends_the_run_and_says_so_T15(a_deadly_world: Make) -> None:
    """An endless loop of deaths ends in a reason that people see, never in silence."""
    world = a_deadly_world()
    world.set_traps([Trap("turn", Point("jobs.turn:drive"), Stage.AGENT, times=9)])
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None
    assert (run.status, run.block_cause) == ("BLOCKED", "turn_failed")
    assert "interrupted" in run.error


def test_a_sender_that_lost_its_lease_notes_nothing_down_LE_2(
    a_deadly_world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was frozen in the middle of a request; whoever took over looks the comment up and does not write another."""
    world = a_deadly_world()
    number = a_red_pull(world)
    real = comments.open_comment

    def frozen(*given: Any) -> Any:
        answer = real(*given)
        monkeypatch.setattr(comments, "open_comment", real)
        world.pass_time(world.settings.times.lease_s + 1)
        with world.services.write() as conn:
            for lease in leases.expired(conn, world.now()):
                assert leases.take(conn, lease, "somebody else", world.now(), 1)
        world.pass_time(1)
        return answer

    monkeypatch.setattr(comments, "open_comment", frozen)
    words, run = [], world.run
    monkeypatch.setattr(world, "run", lambda job, item: words.append(run(job, item)))
    world.step_until_quiet()

    assert words.count("late") == 1
    assert_repaired(world, number)
