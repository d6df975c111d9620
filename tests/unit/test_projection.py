"""Each reachable state of scope and run has exactly one text, one check and one whose turn it is (PJ-14)."""

from dataclasses import replace
from itertools import cycle, product

import pytest

from app.render import render_check, render_comment
from app.runs.model import BlockCause, Cause, Ci, DiagnosisState, Outcome, Result, Stage, Status
from app.runs.projection import State, Turn, project, state_of
from app.runs.view import RunView, ScopeView
from tests.unit.render.views import (
    BASE_RED,
    FLAKY,
    INFRA,
    PROVEN,
    SCOPE,
    STALE,
    UNDECIDED,
    blocked,
    done,
    published,
    running,
)

pytestmark = pytest.mark.slow


def scope(run: RunView | None = None, **changes: object) -> ScopeView:
    return replace(SCOPE, run=run, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", DiagnosisState)
def test_an_open_diagnosis_is_state_01_and_a_waiting_one_07_pj_1(state: DiagnosisState) -> None:
    open_ones = {DiagnosisState.COLLECTING, DiagnosisState.READING, DiagnosisState.MEASURING}
    expected = State.FIXING if state is DiagnosisState.WAITING else State.DIAGNOSING
    if state in open_ones or state is DiagnosisState.WAITING:
        assert state_of(scope(state=state, outcome=None)) is expected


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_of_a_diagnosis_has_its_state_pj_8_pj_9(outcome: Outcome) -> None:
    expected = {
        Outcome.NOT_ENABLED: None,
        Outcome.NOTHING_FAILED: State.NOTHING,
        Outcome.STALE_BASE: State.STALE_BASE,
        Outcome.NEEDS_MAINTAINER: State.PLAN_REVIEW,
        Outcome.INFRASTRUCTURE: State.INFRASTRUCTURE,
        Outcome.MISCONFIGURED: State.MISCONFIGURED,
        Outcome.AMBIGUOUS_SCOPE: State.MISCONFIGURED,
        Outcome.LOG_UNAVAILABLE: State.LOG_UNAVAILABLE,
        Outcome.NO_TESTS_RECOGNISED: State.LOG_UNAVAILABLE,
        Outcome.LIMIT_REACHED: State.BUDGET,
        Outcome.CI_WAITS_FOR_APPROVAL: State.NO_CI,
        Outcome.SUPERSEDED: State.SUPERSEDED,
        Outcome.RUN_STARTED: State.DIAGNOSING,
        Outcome.ATTACHED: State.DIAGNOSING,
        Outcome.NOT_OURS: State.FLAKY,
    }
    view = scope(outcome=outcome, groups=(FLAKY,))
    assert state_of(view) is expected[outcome]
    shown = project(view)
    if outcome is Outcome.NOT_ENABLED:
        assert shown is None
        with pytest.raises(ValueError):
            render_comment(view)
        return
    assert shown is not None
    assert render_comment(view).count("**Nothing for you") + render_comment(view).count("turn:**") == 1
    assert render_check(view).title
    if outcome in (Outcome.STALE_BASE, Outcome.NEEDS_MAINTAINER):
        assert shown.conclusion == "action_required"
    elif outcome not in (Outcome.RUN_STARTED, Outcome.ATTACHED, Outcome.SUPERSEDED):
        assert shown.conclusion == "neutral"


def test_not_ours_is_told_by_cause() -> None:
    for groups, expected in (
        ((FLAKY,), State.FLAKY),
        ((BASE_RED, FLAKY), State.BASE_RED),
        ((UNDECIDED,), State.FLAKY),
        ((STALE,), State.STALE_BASE),
        ((INFRA,), State.INFRASTRUCTURE),
        ((), State.FLAKY),
    ):
        assert state_of(scope(outcome=Outcome.NOT_OURS, groups=groups)) is expected


def every_run() -> list[RunView]:
    """Every (status, stage, cause, result) that `runs/machine` can reach, and more."""
    stages = [stage for stage in Stage if stage is not Stage.IDLE]
    runs = [running(stage=stage, round=n, rounds=4) for stage, n in product(stages, (0, 1, 3))]
    runs += [running(stage=stage, lost_at=1, restarts=1) for stage in stages]
    runs += [
        blocked(cause, stage, repair_state=repair, repair_n=n)
        for cause, stage, (repair, n) in product(
            BlockCause, stages, (("", 0), ("RUNNING", 1), ("NEEDS_USER", 1), ("FAILED", 2), ("SUCCEEDED", 2))
        )
    ]
    runs += [done(result) for result in Result]
    reasons = ("superseded", "superseded_green", "scope_closed", "command", "installation_gone", "human_pushed")
    runs += [running(status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason=reason) for reason in reasons]
    return runs


def test_no_reachable_run_is_without_a_text_ux_s5() -> None:
    modes = ("stacked_pr", "commit", "suggestions", "patch")
    stopped = [run for run in every_run() if run.status is Status.BLOCKED]
    others = [run for run in every_run() if run.status is not Status.BLOCKED]
    # A stopped run comes with five kinds of repair, so that modes in turn meet every cause at every stage.
    for run, mode in (*product(others, modes), *zip(stopped, cycle(modes), strict=False)):
        ci = Ci.NONE.value if run.result is Result.CI_UNKNOWN else Ci.GREEN.value
        view = replace(PROVEN, run=run, publication=published(mode, ci=ci, places=(("a.py", 1),)))
        shown = project(view)
        assert shown is not None
        assert render_comment(view).startswith("<!-- remedy:status ")
        assert render_check(view).title


def test_no_publication_and_no_proof_yet_still_has_a_text_ux_s5() -> None:
    for run in every_run():
        view = scope(run)
        assert render_comment(view) and render_check(view).summary


@pytest.mark.parametrize(
    "mode,expected", [("stacked_pr", "12"), ("suggestions", "14"), ("patch", "15"), ("commit", "16")]
)
def test_a_fixed_run_by_mode_pj_4_pj_5(mode: str, expected: str) -> None:
    view = replace(PROVEN, run=done(Result.FIXED), publication=published(mode, places=(("a.py", 1),)))
    shown = project(view)
    assert shown is not None and shown.state.value.startswith(expected)
    assert shown.conclusion == ("success" if mode == "commit" else "action_required")
    merged = project(replace(view, fixed_in_head=True))
    assert merged is not None and merged.state is State.COMPLETED and merged.conclusion == "success"


def test_other_results_are_neutral_pj_6() -> None:
    for result in (Result.FIXED_OTHER_RED, Result.NOT_FIXED, Result.CI_UNKNOWN):
        shown = project(replace(PROVEN, run=done(result), publication=published("stacked_pr")))
        assert shown is not None and (shown.status, shown.conclusion) == ("completed", "neutral")


def test_a_cancelled_run_is_cancelled_pj_7() -> None:
    for reason, state in (
        ("superseded", State.SUPERSEDED),
        ("command", State.STOPPED),
        ("scope_closed", State.SUPERSEDED),
    ):
        shown = project(scope(running(status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason=reason)))
        assert shown is not None and (shown.state, shown.conclusion) == (state, "cancelled")


def test_waiting_for_ci_is_in_progress_in_every_mode() -> None:
    """decisions.md, 27: 12 is in progress until CI ends."""
    for mode in ("stacked_pr", "commit"):
        shown = project(replace(PROVEN, run=running(stage=Stage.AWAIT_CI), publication=published(mode)))
        assert shown is not None and (shown.state, shown.status) == (State.PUBLISHED, "in_progress")


def test_a_running_plan_repair_is_in_progress_pj_2_ux_r1() -> None:
    shown = project(scope(blocked(BlockCause.VERDICT, repair_state="RUNNING", repair_n=1)))
    assert shown is not None
    assert (shown.state, shown.status, shown.alert, shown.hand_over) == (
        State.REPAIRING_PLAN,
        "in_progress",
        False,
        False,
    )


def test_the_hand_over_goes_out_only_when_the_repair_is_over_ux_o_ux_r5() -> None:
    """UX-R1 to UX-R8."""
    steps = [
        (blocked(BlockCause.VERDICT, repair_state="RUNNING", repair_n=1), State.REPAIRING_PLAN, False),
        (running(repair_state="SUCCEEDED", repair_n=1, repair_fresh=True, round=2), State.PLAN_REPAIRED, False),
        (running(repair_state="SUCCEEDED", repair_n=1, round=2), State.CORRECTING, False),
        (blocked(BlockCause.VERDICT, repair_state="NEEDS_USER", repair_n=2), State.BLOCKED, True),
        (blocked(BlockCause.VERDICT, repair_state="FAILED", repair_n=2), State.BLOCKED, True),
        (blocked(BlockCause.COMMAND), State.STOPPED, False),
        (blocked(BlockCause.BUDGET_USED), State.BUDGET, True),
    ]
    for run, state, hand_over in steps:
        shown = project(scope(run))
        assert shown is not None and (shown.state, shown.hand_over) == (state, hand_over)
    used_up = scope(blocked(BlockCause.VERDICT, repair_state="SUCCEEDED", repair_n=2))
    assert "Plan repair: 2 of 2 used" in render_comment(used_up)
    assert "Plan repair failed" in render_comment(scope(steps[4][0]))


def test_a_scope_that_is_off_shows_stopped_but_an_ended_run_keeps_its_text() -> None:
    """decisions.md, 54."""
    assert state_of(scope(blocked(BlockCause.VERDICT), off_by="dana")) is State.STOPPED
    assert state_of(scope(off_by="dana", state=DiagnosisState.READING, outcome=None)) is State.STOPPED
    over = replace(PROVEN, run=done(Result.FIXED), publication=published("stacked_pr"), off_by="dana")
    assert state_of(over) is State.STACKED_PULL


def test_a_new_diagnosis_replaces_the_text_of_an_ended_run() -> None:
    over = replace(PROVEN, run=done(Result.FIXED), publication=published("stacked_pr"))
    assert state_of(replace(over, state=DiagnosisState.READING, outcome=None)) is State.DIAGNOSING
    for outcome in (None, Outcome.RUN_STARTED, Outcome.ATTACHED, Outcome.NOTHING_FAILED):
        assert state_of(replace(over, state=DiagnosisState.DONE, outcome=outcome)) is State.STACKED_PULL
    newer = replace(over, state=DiagnosisState.DONE, outcome=Outcome.NOT_OURS, groups=(FLAKY,))
    assert state_of(newer) is State.FLAKY


def test_trouble_with_the_runner_is_nobodys_turn() -> None:
    shown = project(scope(blocked(BlockCause.TURN_FAILED)))
    assert shown is not None
    assert (shown.turn, shown.alert, shown.hand_over, shown.conclusion) == (Turn.NOBODY_YET, False, False, "neutral")


def test_without_the_permission_to_run_jobs_again_it_is_the_authors_turn() -> None:
    """decisions.md, 6."""
    for outcome, groups in ((Outcome.NOT_OURS, (FLAKY,)), (Outcome.INFRASTRUCTURE, (INFRA,))):
        without = project(scope(outcome=outcome, groups=groups))
        with_it = project(scope(outcome=outcome, groups=groups, rerun=True))
        assert without is not None and with_it is not None
        assert (without.turn, with_it.turn) == (Turn.AUTHOR, Turn.NOBODY)


def test_causes_of_a_scope_without_the_flaky_one_do_not_claim_it() -> None:
    text = render_comment(scope(outcome=Outcome.NOT_OURS, groups=(UNDECIDED,)))
    assert Cause.NOT_DECIDED.value not in text and "cause not decided" in text
    assert "did not cause" not in text
