"""The transition table, row by row (domain.md, 4.3); each case carries the ids it proves."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from app.runs.facts import (
    CatchUp,
    CiEnded,
    Command,
    Ended,
    EngineError,
    Fact,
    HeadMoved,
    ProofDone,
    ProofFailed,
    ProofOrder,
    PublicationOrder,
    Published,
    PublishInterrupted,
    PublishRefused,
    Repaired,
    Rules,
    Start,
    Transition,
    TurnDone,
    TurnFailed,
    TurnOrder,
    Verdict,
)
from app.runs.machine import advance
from app.runs.model import (
    BlockCause,
    Ci,
    Decision,
    ItemKind,
    ProofOutcome,
    Purpose,
    Result,
    Role,
    Run,
    Stage,
    Status,
    Step,
    StepStatus,
)

KIND = {
    Stage.PROVE: ItemKind.PROOF,
    Stage.PUBLISH: ItemKind.PUBLICATION,
    Stage.AWAIT_CI: ItemKind.PUBLICATION,
}
STEP_AT = {
    Stage.AGENT: StepStatus.WORKING,
    Stage.PROVE: StepStatus.PROVING,
    Stage.SUPERVISOR: StepStatus.REVIEWING,
}
RULES = Rules()


def a_run(stage: Stage = Stage.AGENT, steps: int = 1, **changes: object) -> Run:
    """A running run in `stage`, its first step at work where the stage has one; all steps approved after that."""
    at_work = stage in STEP_AT
    done = stage in (Stage.PUBLISH, Stage.AWAIT_CI, Stage.FINAL_REVIEW)
    first = StepStatus.APPROVED if done else STEP_AT.get(stage, StepStatus.PENDING)
    rest = StepStatus.APPROVED if done else StepStatus.PENDING
    made = [Step("s1", first, attempts=int(at_work or done), prompt="one")]
    made += [Step(f"s{n + 2}", rest, attempts=int(done), prompt="more") for n in range(steps - 1)]
    run = Run(
        "R",
        Status.RUNNING,
        stage,
        tuple(made),
        version=7,
        current=0 if at_work else None,
        active_kind=KIND.get(stage, ItemKind.TURN),
        active_id="item",
        ci=Ci.GREEN if stage is Stage.FINAL_REVIEW else None,
    )
    return replace(run, **changes)


def blocked(stage: Stage, cause: BlockCause, **changes: object) -> Run:
    """A run stopped with `blocked_stage`; its step blocked where the stage had one."""
    run = a_run(stage)
    steps = tuple(replace(s, status=StepStatus.BLOCKED) if stage in STEP_AT else s for s in run.steps)
    run = replace(run, status=Status.BLOCKED, stage=Stage.IDLE, blocked_stage=stage, cause=cause, steps=steps)
    return replace(run, active_kind=None, active_id=None, **changes)


def verdict(decision: Decision, feedback: str = "why", **prompts: str) -> TurnDone:
    return TurnDone("item", Verdict(decision, feedback, prompts))


@dataclass(frozen=True)
class Row:
    name: str
    run: Run
    fact: Fact
    status: Status
    stage: Stage
    cause: BlockCause | None = None
    rules: Rules = RULES
    holds: Callable[[Transition], bool] = lambda step: True


def orders(role: Role, purpose: Purpose) -> Callable[[Transition], bool]:
    return lambda step: isinstance(step.order, TurnOrder) and (step.order.role, step.order.purpose) == (role, purpose)


def kinds(step: Transition) -> set[str]:
    return {event.kind for event in step.events}


APPROVE, CORRECT, BLOCK = (verdict(d) for d in Decision)
FRESH = a_run(Stage.PLAN_REVIEW, active_id=None, active_kind=None)
DENIED = Rules(approval="both")

ROWS = [
    Row(
        "T1 the plan goes to the supervisor",
        FRESH,
        Start("x"),
        Status.RUNNING,
        Stage.PLAN_REVIEW,
        holds=orders(Role.SUPERVISOR, Purpose.PLAN),
    ),
    Row(
        "T2 an approved plan starts the first step",
        a_run(Stage.PLAN_REVIEW),
        APPROVE,
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: (
            s.run.steps[0].attempts == 1
            and s.run.steps[0].status is StepStatus.WORKING
            and {"plan.approved", "step.started"} <= kinds(s)
        ),
    ),
    Row(
        "T3 PL-3 feedback is added to every prompt",
        a_run(Stage.PLAN_REVIEW, steps=2),
        CORRECT,
        Status.RUNNING,
        Stage.PLAN_REVIEW,
        holds=lambda s: (
            s.run.round == 1
            and s.run.plan_version == 2
            and all("From the plan review:\nwhy" in step.prompt for step in s.run.steps)
        ),
    ),
    Row(
        "T3 PL-3 only prompts of known steps are replaced",
        a_run(Stage.PLAN_REVIEW),
        verdict(Decision.CORRECT, s1="new", s9="no"),
        Status.RUNNING,
        Stage.PLAN_REVIEW,
        holds=lambda s: [step.prompt for step in s.run.steps] == ["new"],
    ),
    Row(
        "T4 BS-2 a blocked plan", a_run(Stage.PLAN_REVIEW), BLOCK, Status.BLOCKED, Stage.PLAN_REVIEW, BlockCause.VERDICT
    ),
    Row(
        "T5 C9 work goes to the proof, whatever it says",
        a_run(),
        TurnDone("item", text="approved, LGTM"),
        Status.RUNNING,
        Stage.PROVE,
        holds=lambda s: s.order == ProofOrder("step", "s1"),
    ),
    Row(
        "T6 C11 the next step starts",
        a_run(Stage.SUPERVISOR, steps=2, round=2),
        APPROVE,
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: (
            s.run.current == 1
            and s.run.round == 0
            and s.run.steps[0].status is StepStatus.APPROVED
            and s.run.steps[1].status is StepStatus.WORKING
        ),
    ),
    Row(
        "T7 the last step goes to publication",
        a_run(Stage.SUPERVISOR),
        APPROVE,
        Status.RUNNING,
        Stage.PUBLISH,
        holds=lambda s: s.run.current is None and isinstance(s.order, PublicationOrder),
    ),
    Row(
        "T8 C10 correct goes back to the same session",
        a_run(Stage.SUPERVISOR),
        CORRECT,
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: (
            (s.run.round, s.run.steps[0].attempts, s.run.steps[0].feedback) == (1, 2, "why")
            and s.run.steps[0].status is StepStatus.CORRECTING
        ),
    ),
    Row(
        "T9 plan rounds used",
        a_run(Stage.PLAN_REVIEW, round=3),
        CORRECT,
        Status.BLOCKED,
        Stage.PLAN_REVIEW,
        BlockCause.CORRECTION_LIMIT,
    ),
    Row(
        "T9 work rounds used",
        a_run(Stage.SUPERVISOR, round=3),
        CORRECT,
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.CORRECTION_LIMIT,
    ),
    Row(
        "T10 C13 block sends the work back",
        a_run(Stage.SUPERVISOR),
        BLOCK,
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        holds=lambda s: s.run.error == "why" and s.run.steps[0].status is StepStatus.BLOCKED,
    ),
    Row(
        "T11 C12 any final text completes",
        a_run(Stage.FINAL_REVIEW),
        TurnDone("item", text="done"),
        Status.COMPLETED,
        Stage.IDLE,
        holds=lambda s: s.run.result is Result.FIXED and s.run.final_text == "done",
    ),
    Row(
        "T12 no verdict is asked for once more",
        a_run(Stage.SUPERVISOR),
        TurnDone("item", text="LGTM"),
        Status.RUNNING,
        Stage.SUPERVISOR,
        holds=orders(Role.SUPERVISOR, Purpose.REASK),
    ),
    Row(
        "T13 no verdict twice",
        a_run(Stage.SUPERVISOR),
        TurnDone("item", reask=True),
        Status.BLOCKED,
        Stage.SUPERVISOR,
        BlockCause.VERDICT_MISSING,
    ),
    Row(
        "T13 VF-12 result.validation",
        a_run(Stage.PLAN_REVIEW),
        TurnFailed("item", "result.validation"),
        Status.BLOCKED,
        Stage.PLAN_REVIEW,
        BlockCause.VERDICT_MISSING,
    ),
    Row(
        "T14 C20 CR-7 an interrupted review restarts alone",
        a_run(Stage.SUPERVISOR),
        TurnFailed("item", "interrupted"),
        Status.RUNNING,
        Stage.SUPERVISOR,
        holds=lambda s: (
            "supervisor.review_restarted" in kinds(s)
            and s.run.steps[0].attempts == 1
            and isinstance(s.order, TurnOrder)
            and s.order.guard == "interrupted"
        ),
    ),
    Row(
        "T14 CR-5 an interrupted agent goes on, attempts same",
        a_run(),
        TurnFailed("item", "interrupted"),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: s.run.steps[0].attempts == 1 and s.run.restarts == 1,
    ),
    Row(
        "T15 restarts used",
        a_run(restarts=2),
        TurnFailed("item", "interrupted"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.TURN_FAILED,
    ),
    Row(
        "T14 start_failed is tried once",
        a_run(restarts=1),
        TurnFailed("item", "runner.start_failed"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.TURN_FAILED,
    ),
    Row(
        "T15 BS-3 another code",
        a_run(Stage.SUPERVISOR),
        TurnFailed("item", "runner.timeout", "exceeded 5 seconds"),
        Status.BLOCKED,
        Stage.SUPERVISOR,
        BlockCause.TURN_FAILED,
        holds=lambda s: s.run.error.startswith("runner.timeout"),
    ),
    Row(
        "T16 C23 a fault of ours",
        a_run(Stage.PROVE),
        EngineError("KeyError: x"),
        Status.BLOCKED,
        Stage.PROVE,
        BlockCause.CRASH,
    ),
    Row(
        "T16 BS-1 a fault while blocked changes nothing",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        EngineError("x"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        holds=lambda s: kinds(s) == {"tick.failed"},
    ),
    Row(
        "T17 a maintainer blocks",
        a_run(Stage.AWAIT_CI),
        Command("block", "dana"),
        Status.BLOCKED,
        Stage.AWAIT_CI,
        BlockCause.COMMAND,
        holds=lambda s: s.dropped == (ItemKind.PUBLICATION, "item") and not s.repair,
    ),
    Row(
        "T18 C18 production waits",
        replace(a_run(Stage.PLAN_REVIEW), steps=(Step("s1", risk="production"),)),
        APPROVE,
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.NEEDS_APPROVAL,
        holds=lambda s: s.run.steps[0].status is StepStatus.PENDING,
    ),
    Row(
        "T18 policy approval plan",
        a_run(Stage.PLAN_REVIEW),
        APPROVE,
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.NEEDS_APPROVAL,
        DENIED,
    ),
    Row(
        "T21 resume approves the plan",
        blocked(Stage.AGENT, BlockCause.NEEDS_APPROVAL, current=0, steps=(Step("s1"),)),
        Command("resume", "dana"),
        Status.RUNNING,
        Stage.AGENT,
        rules=DENIED,
        holds=lambda s: s.approves == ("plan", "step:s1"),
    ),
    Row(
        "T21 C25 resume after a verdict",
        blocked(Stage.AGENT, BlockCause.VERDICT, round=3),
        Command("resume", "dana", "hint"),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: s.run.round == 0 and s.run.steps[0].attempts == 2 and s.run.hint == "hint",
    ),
    Row(
        "T22 C26 a revised plan",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        Command("resume", "d", plan={"s1": "new"}),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: s.run.steps[0].prompt == "new" and s.run.plan_version == 2,
    ),
    Row(
        "T24 cancel",
        a_run(),
        Command("cancel", "dana"),
        Status.CANCELLED,
        Stage.IDLE,
        holds=lambda s: s.run.cancel_reason == "command" and s.dropped == (ItemKind.TURN, "item"),
    ),
    Row("T24 closed scope", blocked(Stage.AGENT, BlockCause.VERDICT), Ended("closed"), Status.CANCELLED, Stage.IDLE),
    Row(
        "T24 gone installation ends even AWAIT_CI",
        a_run(Stage.AWAIT_CI),
        Ended("uninstalled", hard=True),
        Status.CANCELLED,
        Stage.IDLE,
    ),
    Row(
        "T26 a passed proof asks the supervisor",
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.PASSED),
        Status.RUNNING,
        Stage.SUPERVISOR,
        holds=orders(Role.SUPERVISOR, Purpose.REVIEW),
    ),
    Row(
        "T27 IV-13 a failed proof goes back without a supervisor",
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.FAILED, "grid"),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: orders(Role.AGENT, Purpose.WORK)(s) and s.run.steps[0].feedback == "grid" and s.run.round == 1,
    ),
    Row(
        "T28 proof rounds used",
        a_run(Stage.PROVE, round=3),
        ProofDone("item", ProofOutcome.FAILED),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.CORRECTION_LIMIT,
    ),
    Row(
        "T29 the same again",
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.FAILED, repeated=True),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.NO_PROGRESS,
    ),
    Row(
        "T30 BS-4 a person must accept",
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.NEEDS_HUMAN),
        Status.BLOCKED,
        Stage.SUPERVISOR,
        BlockCause.NEEDS_APPROVAL,
    ),
    Row(
        "T31 a secret never gets near PUBLISH",
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.FORBIDDEN),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.SECRET_FOUND,
    ),
    Row(
        "T32 no proof could be made",
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.NOT_RUN),
        Status.BLOCKED,
        Stage.PROVE,
        BlockCause.PROOF_UNAVAILABLE,
    ),
    Row(
        "T33 CR-6 an interrupted proof restarts",
        a_run(Stage.PROVE),
        ProofFailed("item", "interrupted"),
        Status.RUNNING,
        Stage.PROVE,
        holds=lambda s: s.order == ProofOrder("step", "s1") and s.run.restarts == 1,
    ),
    Row(
        "T34 proof restarts used",
        a_run(Stage.PROVE, restarts=2),
        ProofFailed("item", "interrupted"),
        Status.BLOCKED,
        Stage.PROVE,
        BlockCause.PROOF_FAILED,
    ),
    Row(
        "T35 publication waits for a yes",
        a_run(Stage.SUPERVISOR),
        APPROVE,
        Status.BLOCKED,
        Stage.PUBLISH,
        BlockCause.NEEDS_APPROVAL,
        Rules(approval="publish"),
    ),
    Row(
        "BS-4 PF-14 a tree that a proof left to a person is not published without a yes",
        a_run(Stage.SUPERVISOR),
        APPROVE,
        Status.BLOCKED,
        Stage.PUBLISH,
        BlockCause.NEEDS_APPROVAL,
        Rules(unaccepted=True),
    ),
    Row(
        "PL-9 a retry is no yes to what a proof found",
        a_run(
            Stage.IDLE,
            status=Status.BLOCKED,
            blocked_stage=Stage.PUBLISH,
            cause=BlockCause.NEEDS_APPROVAL,
            current=None,
        ),
        Command("retry", "mo"),
        Status.BLOCKED,
        Stage.PUBLISH,
        BlockCause.NEEDS_APPROVAL,
        Rules(unaccepted=True),
    ),
    Row(
        "T36 pushed: CI is waited for with the same item",
        a_run(Stage.PUBLISH),
        Published("item"),
        Status.RUNNING,
        Stage.AWAIT_CI,
        holds=lambda s: s.order is None and s.run.active_id == "item",
    ),
    Row(
        "T37 handed over",
        a_run(Stage.PUBLISH),
        Published("item", handed_over=True),
        Status.RUNNING,
        Stage.FINAL_REVIEW,
        holds=lambda s: s.run.ci is Ci.NOT_PUSHED,
    ),
    Row(
        "T38 a person pushed to our branch",
        a_run(Stage.PUBLISH),
        PublishRefused("item", BlockCause.HUMAN_PUSHED),
        Status.BLOCKED,
        Stage.PUBLISH,
        BlockCause.HUMAN_PUSHED,
    ),
    Row(
        "T38 another tree is proved again",
        a_run(Stage.PUBLISH),
        PublishRefused("item", BlockCause.TREE_MISMATCH),
        Status.BLOCKED,
        Stage.PROVE,
        BlockCause.TREE_MISMATCH,
    ),
    Row(
        "T39 a moved head is followed",
        a_run(Stage.PUBLISH),
        HeadMoved("b", applies=True),
        Status.RUNNING,
        Stage.PROVE,
        holds=lambda s: s.order == ProofOrder("whole", None) and s.run.head_moves == 1,
    ),
    Row(
        "T40 the whole is proved",
        a_run(Stage.PROVE, steps=1, current=None),
        ProofDone("item", ProofOutcome.PASSED, whole=True),
        Status.RUNNING,
        Stage.PUBLISH,
    ),
    Row(
        "T41 the fix does not fit any more",
        a_run(Stage.PUBLISH),
        HeadMoved("b"),
        Status.CANCELLED,
        Stage.IDLE,
        holds=lambda s: s.run.cancel_reason == "superseded",
    ),
    Row(
        "T41 the whole fails on the new head",
        a_run(Stage.PROVE, current=None),
        ProofDone("item", ProofOutcome.FAILED, whole=True),
        Status.CANCELLED,
        Stage.IDLE,
    ),
    Row(
        "T42 CI concluded",
        a_run(Stage.AWAIT_CI),
        CiEnded("item", Ci.RED_NAMED),
        Status.RUNNING,
        Stage.FINAL_REVIEW,
        holds=lambda s: s.run.ci is Ci.RED_NAMED and "ci.concluded" in kinds(s),
    ),
    Row(
        "T43 no CI ran",
        a_run(Stage.AWAIT_CI),
        CiEnded("item", Ci.NONE),
        Status.RUNNING,
        Stage.FINAL_REVIEW,
        holds=lambda s: "ci.none" in kinds(s),
    ),
    Row(
        "T45 budget used",
        a_run(Stage.PLAN_REVIEW),
        APPROVE,
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.BUDGET_USED,
        Rules(budgets_needed=2, budget_note="money: 3.00 of 3.00 USD"),
    ),
    Row(
        "T46 HM-1 a push is noted, work goes on",
        a_run(),
        HeadMoved("b", applies=True),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: s.order is None and s.run.active_id == "item",
    ),
    Row(
        "T48 the agent asks",
        a_run(),
        TurnDone("item", question="which side counts?"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.QUESTION,
    ),
    Row(
        "T49 the last look may fail",
        a_run(Stage.FINAL_REVIEW),
        TurnFailed("item", "runner.crashed", fallback="done"),
        Status.COMPLETED,
        Stage.IDLE,
        holds=lambda s: s.run.final_text == "done",
    ),
    Row(
        "T50 publication again, same item",
        a_run(Stage.PUBLISH),
        PublishInterrupted("item", "502", True),
        Status.RUNNING,
        Stage.PUBLISH,
        holds=lambda s: s.run.active_id == "item" and s.order == PublicationOrder(again=True),
    ),
    Row(
        "T50 tries used",
        a_run(Stage.PUBLISH),
        PublishInterrupted("item", "502", False),
        Status.BLOCKED,
        Stage.PUBLISH,
        BlockCause.PUBLISH_FAILED,
    ),
    Row(
        "T51 a rate limit is waited for",
        a_run(),
        TurnFailed("item", "provider.rate_limited", retry_at=99, may_wait=True),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: s.run.restarts == 0 and isinstance(s.order, TurnOrder) and s.order.not_before == 99,
    ),
    Row(
        "T19 C16 repaired plan goes on",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        Repaired("item", "fixed", addendum="so"),
        Status.RUNNING,
        Stage.AGENT,
        holds=lambda s: (
            (s.run.steps[0].prompt, s.run.steps[0].attempts, s.run.steps[0].status) == ("one", 2, StepStatus.CORRECTING)
            and "self_repair.resumed" in kinds(s)
        ),
    ),
    Row(
        "T19 C21 repaired review keeps attempts",
        blocked(Stage.SUPERVISOR, BlockCause.TURN_FAILED),
        Repaired("item", "fixed"),
        Status.RUNNING,
        Stage.SUPERVISOR,
        holds=lambda s: s.run.steps[0].attempts == 1,
    ),
    Row(
        "T20 C17 a person must decide",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        Repaired("item", "needs_user"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        holds=lambda s: kinds(s) == {"self_repair.needs_user"} and not s.repair,
    ),
    Row(
        "T20 SR-10 CR-12 an interrupted self-repair gets one turn more",
        blocked(Stage.AGENT, BlockCause.VERDICT, self_repairs=1),
        Repaired("item", "failed", may_reask=True),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        holds=lambda s: s.repair and s.run.self_repairs == 1,
    ),
    Row(
        "T20 SR-10 then it failed",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        Repaired("item", "failed", "unreadable"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        holds=lambda s: kinds(s) == {"self_repair.failed"} and not s.repair,
    ),
    Row(
        "SR-9 C18 a production step waits for a maintainer whatever is answered",
        blocked(Stage.AGENT, BlockCause.VERDICT, steps=(Step("s1", StepStatus.BLOCKED, 1, "production"),)),
        Repaired("item", "fixed"),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        holds=lambda s: kinds(s) == {"self_repair.needs_user"},
    ),
    Row(
        "T23 C24 an old block is asked about",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        CatchUp(Stage.SUPERVISOR),
        Status.BLOCKED,
        Stage.AGENT,
        BlockCause.VERDICT,
        Rules(self_repair=True),
        holds=lambda s: s.repair and s.run.self_repairs == 1 and kinds(s) == {"self_repair.catchup_started"},
    ),
    Row(
        "T23 BS-6 an old row without a stage gets the inferred one",
        replace(blocked(Stage.AGENT, BlockCause.VERDICT), blocked_stage=None, cause=None),
        CatchUp(Stage.SUPERVISOR),
        Status.BLOCKED,
        Stage.SUPERVISOR,
        BlockCause.TURN_FAILED,
        Rules(self_repair=True),
        holds=lambda s: s.repair,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_of_the_table_moves_the_run_as_written(row: Row) -> None:
    step = advance(row.run, row.fact, row.rules)

    assert not step.refused
    assert step.run.status is row.status
    assert step.run.cause is row.cause
    if row.status is Status.BLOCKED:
        assert (step.run.stage, step.run.blocked_stage) == (Stage.IDLE, row.stage)
    else:
        assert (step.run.stage, step.run.blocked_stage) == (row.stage, None)
    assert step.run.version == row.run.version + 1, "IV-15"
    assert step.events, "IV-15: every transition tells of itself"
    assert (step.run.status is Status.RUNNING) == (step.run.active_id is not None), "IV-1"
    assert row.holds(step)


REFUSALS = [
    Row(
        "T25 an ended run refuses",
        replace(a_run(), status=Status.COMPLETED, stage=Stage.IDLE),
        Command("resume", "d"),
        Status.COMPLETED,
        Stage.IDLE,
    ),
    Row("T47 C29 a late result", a_run(), TurnDone("older"), Status.RUNNING, Stage.AGENT),
    Row("PL-8 C25 resume while running", a_run(), Command("resume", "d"), Status.RUNNING, Stage.AGENT),
    Row(
        "CM-9 block twice", blocked(Stage.AGENT, BlockCause.COMMAND), Command("block", "d"), Status.BLOCKED, Stage.IDLE
    ),
    Row("T24 closing keeps a published fix", a_run(Stage.AWAIT_CI), Ended("closed"), Status.RUNNING, Stage.AWAIT_CI),
    Row(
        "decision 55: a hint never publishes",
        blocked(Stage.PUBLISH, BlockCause.NEEDS_APPROVAL),
        Command("resume", "d", "hm"),
        Status.BLOCKED,
        Stage.IDLE,
    ),
    Row(
        "C27 PL-4 a plan with other steps",
        blocked(Stage.AGENT, BlockCause.VERDICT),
        Command("resume", "d", plan={"s2": "x"}),
        Status.BLOCKED,
        Stage.IDLE,
    ),
    Row(
        "BS-5 no rebase after approval",
        blocked(Stage.PUBLISH, BlockCause.PUBLISH_FAILED),
        Command("resume", "d", plan={"s1": "x"}),
        Status.BLOCKED,
        Stage.IDLE,
    ),
    Row("T1 a run starts once", a_run(Stage.PLAN_REVIEW), Start("x"), Status.RUNNING, Stage.PLAN_REVIEW),
]


@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: row.name)
def test_what_is_refused_changes_nothing(row: Row) -> None:
    step = advance(row.run, row.fact, row.rules)

    assert step.refused
    assert step.run == row.run
    assert step.order is None


def test_decision_55_a_hint_at_an_open_finding_sends_the_work_back() -> None:
    step = advance(blocked(Stage.SUPERVISOR, BlockCause.NEEDS_APPROVAL), Command("resume", "d", "do it in code"), RULES)

    assert (step.run.stage, step.approves) == (Stage.AGENT, ())


def test_SR_5_3_self_repair_is_asked_only_for_causes_that_it_can_help() -> None:
    on = Rules(self_repair=True)
    asked = advance(a_run(Stage.SUPERVISOR), BLOCK, on)
    told = advance(a_run(Stage.PROVE), ProofDone("item", ProofOutcome.NOT_RUN), on)
    stopped = advance(a_run(), Command("block", "dana"), on)

    assert (asked.repair, asked.repair_not_asked) == (True, False)
    assert (told.repair, told.repair_not_asked) == (False, True)
    assert (stopped.repair, stopped.repair_not_asked) == (False, False)
    assert not advance(a_run(Stage.SUPERVISOR), BLOCK, RULES).repair, "SR-1: off means off"


def test_SR_10_IV_17_the_third_self_repair_of_a_run_is_not_asked() -> None:
    on = Rules(self_repair=True)
    second = advance(a_run(Stage.SUPERVISOR, self_repairs=1), BLOCK, on)
    third = advance(a_run(Stage.SUPERVISOR, self_repairs=2), BLOCK, on)

    assert (second.repair, second.run.self_repairs) == (True, 2)
    assert (third.repair, third.repair_not_asked, third.run.self_repairs) == (False, True, 2)
    assert "self_repair.needs_user" in kinds(third)
    lowered = advance(a_run(Stage.SUPERVISOR), BLOCK, Rules(self_repair=True, self_repairs=0))
    assert lowered.repair_not_asked


@pytest.mark.parametrize("code", ["runner.not_ready", "runner.sandbox_unavailable", "runner.auth_required"])
def test_5_3_CR_19_what_only_the_operator_can_cure_is_not_asked(code: str) -> None:
    step = advance(a_run(), TurnFailed("item", code, "why"), Rules(self_repair=True))

    assert (step.run.cause, step.repair, step.repair_not_asked) == (BlockCause.TURN_FAILED, False, True)
    crashed = advance(a_run(), TurnFailed("item", "runner.crashed", "3"), Rules(self_repair=True))
    assert crashed.repair


def test_T23_is_refused_for_a_cause_that_needs_a_person_and_where_it_is_off() -> None:
    waiting = blocked(Stage.PUBLISH, BlockCause.NEEDS_APPROVAL)
    assert advance(waiting, CatchUp(Stage.AGENT), Rules(self_repair=True)).refused
    assert advance(blocked(Stage.AGENT, BlockCause.VERDICT), CatchUp(Stage.AGENT), RULES).refused
    assert advance(a_run(), CatchUp(Stage.AGENT), Rules(self_repair=True)).refused


@pytest.mark.parametrize(
    ("run", "fact", "stage"),
    [
        (a_run(Stage.SUPERVISOR), BLOCK, Stage.AGENT),
        (a_run(Stage.SUPERVISOR, restarts=2), TurnFailed("item", "interrupted"), Stage.SUPERVISOR),
        (a_run(Stage.PROVE), ProofFailed("item", "fault"), Stage.PROVE),
        (a_run(Stage.PUBLISH), PublishRefused("item", BlockCause.NO_PERMISSION), Stage.PUBLISH),
        (a_run(Stage.PLAN_REVIEW), BLOCK, Stage.PLAN_REVIEW),
    ],
    ids=["verdict", "killed review", "failed proof", "refused push", "blocked plan"],
)
def test_C22_BS_2_BS_3_the_stage_to_come_back_to_is_kept_at_the_block(run: Run, fact: Fact, stage: Stage) -> None:
    assert advance(run, fact, RULES).run.blocked_stage is stage


def test_PL_5_C26_a_revised_plan_keeps_attempts_and_approved_steps_and_sets_round_0() -> None:
    done = Step("s1", StepStatus.APPROVED, 2, prompt="old")
    stuck = Step("s2", StepStatus.BLOCKED, 3, prompt="old")
    run = replace(blocked(Stage.AGENT, BlockCause.VERDICT), steps=(done, stuck), current=1, round=3)
    after = advance(run, Command("resume", "d", plan={"s1": "new", "s2": "new"}), RULES).run

    assert after.steps[0] == done
    assert (after.steps[1].prompt, after.steps[1].attempts, after.round) == ("new", 4, 0)


def test_PL_9_retry_goes_back_to_the_agent_and_approves_work_only() -> None:
    waits = blocked(Stage.SUPERVISOR, BlockCause.NEEDS_APPROVAL)
    step = advance(waits, Command("retry", "d"), RULES)
    assert (step.run.stage, step.approves) == (Stage.AGENT, ())

    out = blocked(Stage.PUBLISH, BlockCause.NEEDS_APPROVAL)
    rules = Rules(approval="publish")
    again = advance(out, Command("retry", "d"), rules)
    assert (again.run.status, again.run.cause, again.approves) == (Status.BLOCKED, BlockCause.NEEDS_APPROVAL, ())
    assert advance(out, Command("resume", "d"), rules).approves == ("publish",)
    assert advance(a_run(), Command("retry", "d"), RULES).refused
