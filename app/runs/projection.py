"""Which one of the 24 states people are shown for a scope, with its check, its buttons, and whose turn it is; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from app.runs.model import BlockCause, Cause, DiagnosisState, Outcome, Result, Stage, Status
from app.runs.view import RunView, ScopeView

CheckStatus = Literal["in_progress", "completed"]
Conclusion = Literal["action_required", "cancelled", "neutral", "success"]
Button = Literal["fix", "resume", "block"]


class State(StrEnum):
    """The states of ux.md, section 5, and `00-nothing`: nothing failed after all, so what is open is only closed."""

    NOTHING = "00-nothing"
    DIAGNOSING = "01-diagnosing"
    FLAKY = "02-not-yours-flaky"
    BASE_RED = "03-not-yours-base-red"
    INFRASTRUCTURE = "04-not-yours-infra"
    STALE_BASE = "05-not-yours-stale-base"
    PLAN_REVIEW = "06-plan-review"
    FIXING = "07-fixing"
    CORRECTING = "08-correcting"
    BLOCKED = "09-blocked"
    REPAIRING_PLAN = "10-self-repair"
    PLAN_REPAIRED = "10-self-repair-applied"
    FINAL_REVIEW = "11-final-review"
    STACKED_PULL = "12-published-stacked-pr"
    PUBLISHED = "13-published"
    SUGGESTION = "14-published-suggestion"
    TAKE_AWAY = "15-published-take-away-patch"
    COMPLETED = "16-completed"
    STILL_RED = "17-published-ci-still-red"
    SUPERSEDED = "18-superseded"
    STOPPED = "19-stopped-by-person"
    MISCONFIGURED = "20-misconfigured"
    LOG_UNAVAILABLE = "21-log-unavailable"
    BUDGET = "22-budget-exhausted"
    NO_CI = "23-no-ci-ran"
    LOST_CONTACT = "24-lost-contact"


class Turn(StrEnum):
    """Whose turn it is; the four opening phrases of ux.md, section 1."""

    NOBODY = "nobody"
    NOBODY_YET = "nobody_yet"
    AUTHOR = "author"
    MAINTAINER = "maintainer"


@dataclass(frozen=True)
class Projection:
    """How one state is shown. `opens` says whether a comment may be created for it, or only an existing one edited."""

    state: State
    status: CheckStatus
    conclusion: Conclusion | None
    buttons: tuple[Button, ...]
    turn: Turn
    alert: bool = False
    hand_over: bool = False
    opens: bool = True
    opens_check: bool = True


@dataclass(frozen=True)
class _Row:
    """Conclusion (None: in progress), buttons and turn of a state: ux.md, UX-K4 and section 5."""

    conclusion: Conclusion | None
    buttons: tuple[Button, ...]
    turn: Turn
    alert: bool = False
    hand_over: bool = False
    opens: bool = True


_NONE: tuple[Button, ...] = ()
_RESUME_BLOCK: tuple[Button, ...] = ("resume", "block")

ROWS: Mapping[State, _Row] = {
    State.NOTHING: _Row("neutral", _NONE, Turn.NOBODY, opens=False),
    State.DIAGNOSING: _Row(None, ("block",), Turn.NOBODY, opens=False),
    State.FLAKY: _Row("neutral", ("fix",), Turn.NOBODY),
    State.BASE_RED: _Row("neutral", ("fix",), Turn.NOBODY),
    State.INFRASTRUCTURE: _Row("neutral", ("resume",), Turn.NOBODY),
    State.STALE_BASE: _Row("action_required", ("resume",), Turn.AUTHOR, alert=True),
    State.PLAN_REVIEW: _Row("action_required", _RESUME_BLOCK, Turn.MAINTAINER, alert=True, hand_over=True),
    State.FIXING: _Row(None, ("block",), Turn.NOBODY),
    State.CORRECTING: _Row(None, ("block",), Turn.NOBODY),
    State.BLOCKED: _Row("action_required", _RESUME_BLOCK, Turn.MAINTAINER, alert=True, hand_over=True),
    State.REPAIRING_PLAN: _Row(None, _RESUME_BLOCK, Turn.NOBODY),
    State.PLAN_REPAIRED: _Row(None, ("block",), Turn.NOBODY),
    State.FINAL_REVIEW: _Row("action_required", _RESUME_BLOCK, Turn.MAINTAINER, alert=True, hand_over=True),
    State.STACKED_PULL: _Row("action_required", _NONE, Turn.AUTHOR, alert=True),
    State.PUBLISHED: _Row(None, ("block",), Turn.NOBODY_YET),
    State.SUGGESTION: _Row("action_required", _NONE, Turn.AUTHOR, alert=True),
    State.TAKE_AWAY: _Row("action_required", _NONE, Turn.AUTHOR, alert=True, hand_over=True),
    State.COMPLETED: _Row("success", _NONE, Turn.NOBODY),
    State.STILL_RED: _Row("neutral", ("resume",), Turn.NOBODY_YET),
    State.SUPERSEDED: _Row("cancelled", _NONE, Turn.NOBODY),
    State.STOPPED: _Row("cancelled", ("resume",), Turn.NOBODY),
    State.MISCONFIGURED: _Row("neutral", ("resume",), Turn.MAINTAINER),
    State.LOG_UNAVAILABLE: _Row("neutral", ("resume",), Turn.AUTHOR),
    State.BUDGET: _Row("neutral", _RESUME_BLOCK, Turn.MAINTAINER, alert=True, hand_over=True),
    State.NO_CI: _Row("neutral", _NONE, Turn.MAINTAINER, opens=False),
    State.LOST_CONTACT: _Row(None, ("block",), Turn.NOBODY),
}

# Outcomes of a diagnosis beside which the text of an ended run stays.
_SILENT = frozenset({None, Outcome.RUN_STARTED, Outcome.ATTACHED, Outcome.NOTHING_FAILED, Outcome.SUPERSEDED})

# Trouble of Remedy, of the set-up or of money: neutral (domain.md, 5.3; decisions.md, 5).
NEUTRAL_CAUSES = frozenset(
    {
        BlockCause.VERDICT_MISSING,
        BlockCause.TURN_FAILED,
        BlockCause.CRASH,
        BlockCause.PROOF_FAILED,
        BlockCause.PROOF_UNAVAILABLE,
        BlockCause.NO_PERMISSION,
        BlockCause.TREE_MISMATCH,
        BlockCause.PUBLISH_FAILED,
        BlockCause.BUDGET_USED,
    }
)

_AUTHOR_CAUSES = frozenset(
    {BlockCause.VERDICT, BlockCause.CORRECTION_LIMIT, BlockCause.NO_PROGRESS, BlockCause.HUMAN_PUSHED}
)

_MODE_STATES: Mapping[str, State] = {
    "stacked_pr": State.STACKED_PULL,
    "suggestions": State.SUGGESTION,
    "patch": State.TAKE_AWAY,
}

_OUTCOME_STATES: Mapping[Outcome, State] = {
    Outcome.RUN_STARTED: State.DIAGNOSING,
    Outcome.ATTACHED: State.DIAGNOSING,
    Outcome.NOTHING_FAILED: State.NOTHING,
    Outcome.NO_TESTS_RECOGNISED: State.LOG_UNAVAILABLE,
    Outcome.LOG_UNAVAILABLE: State.LOG_UNAVAILABLE,
    Outcome.STALE_BASE: State.STALE_BASE,
    Outcome.INFRASTRUCTURE: State.INFRASTRUCTURE,
    Outcome.NEEDS_MAINTAINER: State.PLAN_REVIEW,
    Outcome.MISCONFIGURED: State.MISCONFIGURED,
    Outcome.AMBIGUOUS_SCOPE: State.MISCONFIGURED,
    Outcome.LIMIT_REACHED: State.BUDGET,
    Outcome.CI_WAITS_FOR_APPROVAL: State.NO_CI,
    Outcome.SUPERSEDED: State.SUPERSEDED,
}


def project(view: ScopeView) -> Projection | None:
    """State, check, buttons and turn of a scope; None where nothing may be written at all (not enabled)."""
    state = state_of(view)
    if state is None:
        return None
    row = ROWS[state]
    shown = Projection(
        state=state,
        status="in_progress" if row.conclusion is None else "completed",
        conclusion=row.conclusion,
        buttons=row.buttons,
        turn=row.turn,
        alert=row.alert,
        hand_over=row.hand_over,
        opens=row.opens,
        opens_check=state is not State.NOTHING,
    )
    return _adjusted(view, shown)


def state_of(view: ScopeView) -> State | None:
    """The one state of (diagnosis, run, publication, person's stop): domain.md, PJ-14; decisions.md, 54, 71 and 72.

    A stop by a person wins over all but a run that has ended; a newer diagnosis wins over a run that has ended, while
    it is open and when it came to something that must be said.
    """
    run = view.run
    ended = run is not None and run.status in (Status.COMPLETED, Status.CANCELLED)
    if view.off_by and not ended:
        return State.STOPPED
    if run is not None and not overtaken(run.status, run.result, view.state, view.outcome):
        return _state_of_run(view, run)
    if view.state is None and view.outcome is None:
        return State.MISCONFIGURED if view.config_in_head is not None else None
    if view.state is DiagnosisState.FAILED:
        return State.MISCONFIGURED
    if view.outcome is None or _is_open(view.state):
        return State.FIXING if view.state is DiagnosisState.WAITING else State.DIAGNOSING
    if view.outcome is Outcome.NOT_ENABLED:
        return None
    if view.outcome is Outcome.NOT_OURS:
        return _state_of_not_ours(view)
    return _OUTCOME_STATES[view.outcome]


def overtaken(status: Status, result: Result | None, state: DiagnosisState | None, outcome: Outcome | None) -> bool:
    """Whether a newer diagnosis has to be told instead of a run that has ended.

    One that found nothing to repair in another job has not: that the fix holds is the news.
    """
    if status not in (Status.COMPLETED, Status.CANCELLED):
        return False
    if result is Result.FIXED_OTHER_RED and outcome is Outcome.NO_TESTS_RECOGNISED:
        return False
    return _is_open(state) or outcome not in _SILENT


def _is_open(state: DiagnosisState | None) -> bool:
    return state not in (None, DiagnosisState.DONE, DiagnosisState.FAILED)


def _state_of_not_ours(view: ScopeView) -> State:
    causes = {group.cause for group in view.groups}
    if view.sightings is not None or view.unasked is not None:
        return State.FLAKY
    for cause, state in (
        (Cause.BASE_RED, State.BASE_RED),
        (Cause.KNOWN_FLAKY, State.FLAKY),
        (Cause.NOT_DECIDED, State.FLAKY),
        (Cause.STALE_BASE, State.STALE_BASE),
        (Cause.INFRASTRUCTURE, State.INFRASTRUCTURE),
    ):
        if cause in causes:
            return state
    return State.FLAKY


def _state_of_run(view: ScopeView, run: RunView) -> State:
    match run.status:
        case Status.RUNNING:
            return _state_of_running(run)
        case Status.BLOCKED:
            return _state_of_blocked(run)
        case Status.COMPLETED:
            return _state_of_completed(view, run)
        case Status.CANCELLED:
            return State.STOPPED if run.cancel_reason == "command" else State.SUPERSEDED


def _state_of_running(run: RunView) -> State:
    if run.lost_at is not None:
        return State.LOST_CONTACT
    if run.stage in (Stage.AWAIT_CI, Stage.FINAL_REVIEW):
        return State.PUBLISHED
    if run.repair_fresh:
        return State.PLAN_REPAIRED
    return State.CORRECTING if run.round > 1 else State.FIXING


def _state_of_blocked(run: RunView) -> State:
    if run.cause is BlockCause.COMMAND:
        return State.STOPPED
    if run.cause is BlockCause.BUDGET_USED:
        return State.BUDGET
    if run.repair_state == "RUNNING":
        return State.REPAIRING_PLAN
    if run.cause is BlockCause.NEEDS_APPROVAL and run.blocked_stage is Stage.AGENT:
        return State.PLAN_REVIEW
    if run.cause is BlockCause.NEEDS_APPROVAL and run.blocked_stage is Stage.PUBLISH:
        return State.FINAL_REVIEW
    return State.BLOCKED


def _state_of_completed(view: ScopeView, run: RunView) -> State:
    mode = view.publication.mode if view.publication is not None else "patch"
    match run.result:
        case Result.FIXED:
            in_head = view.fixed_in_head or mode == "commit"
            return State.COMPLETED if in_head else _MODE_STATES.get(mode, State.STACKED_PULL)
        case Result.HANDED_OVER | None:
            return State.COMPLETED if view.fixed_in_head else _MODE_STATES.get(mode, State.TAKE_AWAY)
        case Result.FIXED_OTHER_RED | Result.NOT_FIXED:
            return State.STILL_RED
        case Result.CI_UNKNOWN:
            return State.NO_CI


def _adjusted(view: ScopeView, shown: Projection) -> Projection:
    """The few states whose check or turn hangs on more than the state."""
    run = view.run
    match shown.state:
        case State.BLOCKED if run is not None and run.cause is not None:
            return _blocked(shown, run.cause)
        case State.FLAKY if view.unasked is not None:
            return replace(shown, turn=Turn.AUTHOR)
        case State.FLAKY if view.sightings is not None:
            return replace(shown, turn=Turn.NOBODY_YET)
        case State.FLAKY | State.INFRASTRUCTURE:
            return replace(shown, opens=False) if view.rerun else replace(shown, turn=Turn.AUTHOR)
        case State.MISCONFIGURED if view.outcome is None and view.state is None:
            return replace(shown, buttons=(), turn=Turn.AUTHOR, opens=False)
        case State.PLAN_REVIEW | State.BUDGET if run is None:
            return replace(shown, buttons=("fix", "block"))
        case State.STILL_RED if view.outcome is Outcome.NO_TESTS_RECOGNISED:
            return replace(shown, turn=Turn.AUTHOR)
        case State.PUBLISHED if view.publication is not None and view.publication.mode == "commit":
            return replace(shown, turn=Turn.AUTHOR)
        case _:
            return shown


def _blocked(shown: Projection, cause: BlockCause) -> Projection:
    if cause is BlockCause.TURN_FAILED:
        return replace(shown, conclusion="neutral", turn=Turn.NOBODY_YET, alert=False, hand_over=False)
    turn = Turn.AUTHOR if cause in _AUTHOR_CAUSES else Turn.MAINTAINER
    conclusion: Conclusion = "neutral" if cause in NEUTRAL_CAUSES else "action_required"
    return replace(shown, conclusion=conclusion, turn=turn)
