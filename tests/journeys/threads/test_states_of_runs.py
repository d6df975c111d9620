"""Stories of runs, with an agent and proofs: comment and check of every state on the way, kept as text (UX-S1, UX-S4).

CI is told by word, so that each story decides what it says about the fix.
"""

from collections.abc import Callable
from typing import Any

import pytest

from app.ledger import leases, turns
from app.ledger.leases import Holder
from app.ledger.views import scope_view
from app.runs.projection import State, project
from jobs.sweep import sweep
from tests.demo import shop
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.threads.shown import assert_as_agreed, shown
from tests.journeys.world import AUTHOR, MAINTAINER, REPO, fix

Make = Callable[..., Place]
RIGHT = fix(shop.SECOND_TRY)
FIXED = {"do": "fixed", "addendum": "An empty list has one page. All else stays."}
MOST = 400


def state_of(place: Place) -> State | None:
    s = place.world.services
    with s.read() as conn:
        found = project(scope_view(conn, s.store, place.world.scope(1).id, s.settings))
    return None if found is None else found.state


def walk(place: Place, told: dict[State, str], until: State | None = None) -> None:
    """Run everything, agents too; `told` gets the first text of each state, once all of it has been said."""
    for _ in range(MOST):
        place.github.settle()
        ready = place.world.ready()
        job = next((one for one in ready if one[0] in ("intake", "deliver")), None)
        if job is None:
            state = state_of(place)
            if state is not None and state not in told:
                told[state] = shown(place, 1)
            if state is until is not None:
                return
            job = next(iter(ready), None)
        if job is not None:
            place.world.run(*job)
        elif not _later(place):
            assert until is None, f"{until} never came, {state_of(place)} is the last"
            return
    raise AssertionError(f"it never ends: {place.world.did[-20:]}")


def _later(place: Place) -> bool:
    for seconds in (1, 5, 30, 90, 400):
        if place.world.ready(seconds):
            place.world.pass_time(seconds)
            return True
    return False


def fix_of(place: Place) -> Any:
    """The pull request of the fix."""
    return next(pull for pull in place.github.pulls(REPO) if pull.head_ref.startswith("remedy/"))


def agreed(told: dict[State, str], *states: State, end: str = "") -> None:
    for state in states:
        assert state in told, f"{state} was never shown: {list(told)}"
        assert_as_agreed(f"run-{state.value}{end}", told[state])


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_fix_is_sent_back_stopped_clarified_approved_published_and_merged(a_red_place: Make) -> None:
    """States 07, 08, 10, 10 applied, 11, 13, 12 and 16; at most two notices of ours (decisions 74, UX-N1)."""
    scenario = {"agent": [RIGHT], "review": ["correct", "block", "approve"], "self_repair": [FIXED]}
    place = a_red_place(scenario, "approval: publish\n", self_repair=True)
    told: dict[State, str] = {}
    walk(place, told, State.FINAL_REVIEW)
    place.github.comment(MAINTAINER, place.thread(1), "/remedy resume")
    walk(place, told, State.PUBLISHED)
    place.github.report_branch_job(MAINTAINER, REPO, fix_of(place).head_ref, name="unit", conclusion="success", log="")
    walk(place, told, State.STACKED_PULL)
    place.github.merge(AUTHOR, f"{REPO}#{fix_of(place).thread.number}")
    place.github.report_job(place.thread(1), name="unit", conclusion="success", log="")
    walk(place, told, State.COMPLETED)

    agreed(told, State.FIXING, State.CORRECTING, State.REPAIRING_PLAN, State.PLAN_REPAIRED, State.FINAL_REVIEW)
    agreed(told, State.PUBLISHED, State.STACKED_PULL, State.COMPLETED)
    assert len(place.comments(1)) <= 2


@pytest.mark.long
def test_the_fix_holds_and_another_job_is_red(a_red_place: Make) -> None:
    """State 17, in mode commit; the job was red before the fix as well."""
    place = a_red_place({"agent": [RIGHT]}, "publish: commit\n")
    place.fail(1, logs.nothing_known(), name="lint")
    told: dict[State, str] = {}
    walk(place, told, State.PUBLISHED)
    place.github.report_job(place.thread(1), name="unit", conclusion="success", log="")
    place.github.report_job(place.thread(1), name="lint", conclusion="failure", log=logs.nothing_known())
    walk(place, told, State.STILL_RED)
    agreed(told, State.PUBLISHED, State.STILL_RED, end="-commit")


def test_the_fix_is_suggested_at_its_lines(a_red_place: Make) -> None:
    """State 14: the review holds the suggestions, the comment says where they are and how they are taken."""
    place = a_red_place({"agent": [RIGHT]}, "publish: suggestions\n")
    told: dict[State, str] = {}
    walk(place, told)
    agreed(told, State.SUGGESTION)
    (review,) = place.github.pull(place.thread(1)).reviews
    assert "This suggestion repairs 1 test failing here." in review.body and len(place.comments(1)) == 1


@pytest.mark.long
def test_no_ci_runs_for_the_fix(a_red_place: Make) -> None:
    """State 23."""
    place = a_red_place({"agent": [RIGHT]})
    told: dict[State, str] = {}
    walk(place, told)
    agreed(told, State.NO_CI)


@pytest.mark.long
def test_our_own_commit_is_red_again_and_the_limit_is_reached(a_red_place: Make) -> None:
    """State 22."""
    place = a_red_place({"agent": [RIGHT]}, "publish: commit\nlimits: {bot_commits: 1}\n")
    told: dict[State, str] = {}
    walk(place, told, State.PUBLISHED)
    place.fail(1)
    walk(place, told, State.BUDGET)
    agreed(told, State.BUDGET)


def test_a_worker_is_lost_and_its_turn_starts_again(a_red_place: Make) -> None:
    """State 24."""
    place = a_red_place({"agent": [RIGHT]})
    told: dict[State, str] = {}
    walk(place, told, State.FIXING)
    turn_id = place.world.turns_of(1)[0].id
    s = place.world.services
    with s.write() as conn:
        epoch = leases.take(conn, f"turn:{turn_id}", "a worker", s.clock(), 1000)
        assert epoch is not None and turns.start(conn, turn_id, Holder("a worker", epoch), s.clock())
    place.world.pass_time(2)
    sweep(s)
    walk(place, told, State.LOST_CONTACT)
    agreed(told, State.LOST_CONTACT)
