"""How a run enters a stage and how it blocks; the two moves that every rule is made of (domain.md, 5.1 and 5.2)."""

from dataclasses import replace
from typing import Any

from app.runs.facts import (
    Order,
    ProofOrder,
    PublicationOrder,
    Rules,
    RunEvent,
    Transition,
    TurnOrder,
)
from app.runs.model import BlockCause, ItemKind, Purpose, Role, Run, Stage, Status, Step, StepStatus

TURN_OF_STAGE = {
    Stage.PLAN_REVIEW: (Role.SUPERVISOR, Purpose.PLAN),
    Stage.AGENT: (Role.AGENT, Purpose.WORK),
    Stage.SUPERVISOR: (Role.SUPERVISOR, Purpose.REVIEW),
    Stage.FINAL_REVIEW: (Role.SUPERVISOR, Purpose.FINAL),
}

ASKS_SELF_REPAIR = frozenset(
    {
        BlockCause.VERDICT,
        BlockCause.CORRECTION_LIMIT,
        BlockCause.NO_PROGRESS,
        BlockCause.VERDICT_MISSING,
        BlockCause.TURN_FAILED,
        BlockCause.CRASH,
        BlockCause.PROOF_FAILED,
    }
)
"""Causes after which a separate session may look at plan and prompt (domain.md, 5.3)."""

NEVER_ASKS = frozenset(
    {
        "runner.not_installed",
        "runner.broken_manifest",
        "runner.not_ready",
        "runner.sandbox_unavailable",
        "runner.auth_required",
        "gateway.tool",
        "remote.refused",
    }
)
"""Codes of a failed turn that only the operator can cure; `error` of the run begins with the code."""


def kind_of(order: Order) -> ItemKind:
    """The kind of work item that an order makes."""
    if isinstance(order, TurnOrder):
        return ItemKind.TURN
    return ItemKind.PROOF if isinstance(order, ProofOrder) else ItemKind.PUBLICATION


def step_of(run: Run) -> Step | None:
    """The current step, or None while all are approved or none has begun."""
    return None if run.current is None else run.steps[run.current]


def with_step(run: Run, **changes: Any) -> Run:
    """The run with its current step changed; unchanged where no step is current."""
    if run.current is None:
        return run
    steps = list(run.steps)
    steps[run.current] = replace(steps[run.current], **changes)
    return replace(run, steps=tuple(steps))


def block(run: Run, stage: Stage, cause: BlockCause, error: str, rules: Rules, *events: RunEvent) -> Transition:
    """BLOCKED(stage, cause): the item is dropped, the step waits unfinished, self-repair is asked where it helps.

    Once the self-repairs of the run are used up a person is needed at once (SR-10).
    """
    step = step_of(run)
    after = run if step is None or step.status is StepStatus.PENDING else with_step(run, status=StepStatus.BLOCKED)
    after = replace(after, status=Status.BLOCKED, stage=Stage.IDLE, blocked_stage=stage, cause=cause, error=error)
    blocked = RunEvent("run.blocked", {"stage": stage.value, "cause": cause.value})
    helps = rules.self_repair and asks_self_repair(cause, error) and not is_spent(run, rules)
    asked = helps and run.self_repairs < rules.self_repairs
    told = rules.self_repair and cause is not BlockCause.COMMAND and not asked
    after = replace(after, self_repairs=run.self_repairs + int(asked))
    started = (RunEvent("self_repair.started", {"n": after.self_repairs}),) if asked else ()
    used_up = (RunEvent("self_repair.needs_user", {"why": "limit"}),) if helps and not asked else ()
    return Transition(after, events=(*events, blocked, *started, *used_up), repair=asked, repair_not_asked=told)


def is_spent(run: Run, rules: Rules) -> bool:
    """Whether the next turn needs more than the budgets that this run was given (T45)."""
    return run.budgets < rules.budgets_needed


def block_spent(run: Run, stage: Stage, rules: Rules, *events: RunEvent) -> Transition:
    """BLOCKED(stage, budget_used): nothing is started; a maintainer may add a budget by resume."""
    used_up = RunEvent("budget.exhausted", {"budgets": run.budgets, "used": rules.budget_note})
    return block(run, stage, BlockCause.BUDGET_USED, rules.budget_note, rules, *events, used_up)


def asks_self_repair(cause: BlockCause, error: str) -> bool:
    """Whether a look at plan and prompt can help with this block at all (domain.md, 5.3)."""
    return cause in ASKS_SELF_REPAIR and (
        cause is not BlockCause.TURN_FAILED or error.partition(":")[0] not in NEVER_ASKS
    )


def proof_started(order: ProofOrder) -> RunEvent:
    """What the history says when a proof is ordered."""
    return RunEvent("proof.started", {"kind": order.kind, "step": order.step_id})


def turn(run: Run, stage: Stage, guard: str = "", not_before: int | None = None) -> TurnOrder:
    """The order for the turn that `stage` works with."""
    role, purpose = TURN_OF_STAGE[stage]
    step = step_of(run)
    about = step.step_id if step is not None and stage in (Stage.AGENT, Stage.SUPERVISOR) else None
    return TurnOrder(role, purpose, about, guard, not_before)


def enter(run: Run, stage: Stage, rules: Rules, *events: RunEvent) -> Transition:
    """Go into `stage` as a running run; approvals and budget are asked for first where the stage needs them."""
    run = replace(run, status=Status.RUNNING, stage=stage, error="", blocked_stage=None, cause=None)
    stop = _stop_at_door(run, stage, rules)
    if stop is BlockCause.BUDGET_USED:
        return block_spent(run, stage, rules, *events)
    if stop is not None:
        return block(run, stage, stop, "", rules, *events)
    if stage is Stage.AGENT:
        return _enter_agent(run, rules, *events)
    if stage is Stage.PROVE:
        step = step_of(run)
        order = ProofOrder("whole" if step is None else "step", None if step is None else step.step_id)
        return Transition(with_step(run, status=StepStatus.PROVING), order, (*events, proof_started(order)))
    if stage in (Stage.PUBLISH, Stage.AWAIT_CI):
        # A wait that was left is entered through PUBLISH: the remote is searched first, so nothing is pushed twice.
        return Transition(replace(run, stage=Stage.PUBLISH), PublicationOrder(), events)
    if stage is Stage.SUPERVISOR:
        run = with_step(run, status=StepStatus.REVIEWING)
    return Transition(run, turn(run, stage), events)


def work_again(run: Run, feedback: str, *events: RunEvent) -> Transition:
    """The same session goes on with the current step: one attempt more, with what was wrong (T8, T27)."""
    step = step_of(run)
    attempts = 1 if step is None else step.attempts + 1
    run = with_step(run, status=StepStatus.CORRECTING, attempts=attempts, feedback=feedback)
    run = replace(run, stage=Stage.AGENT, restarts=0)
    return Transition(run, turn(run, Stage.AGENT), events)


def _stop_at_door(run: Run, stage: Stage, rules: Rules) -> BlockCause | None:
    if stage in TURN_OF_STAGE and stage is not Stage.FINAL_REVIEW and is_spent(run, rules):
        return BlockCause.BUDGET_USED
    step = step_of(run)
    if stage is Stage.AGENT and step is not None:
        first = step.attempts == 0 and run.current == 0
        plan_missing = first and rules.approval in ("plan", "both") and "plan" not in rules.approved
        step_missing = step.risk == "production" and f"step:{step.step_id}" not in rules.approved
        if plan_missing or step_missing:
            return BlockCause.NEEDS_APPROVAL
    if stage in (Stage.SUPERVISOR, Stage.PUBLISH) and rules.unaccepted and not rules.approved & {"proof", "publish"}:
        return BlockCause.NEEDS_APPROVAL
    wants_yes = stage is Stage.PUBLISH and rules.approval in ("publish", "both")
    return BlockCause.NEEDS_APPROVAL if wants_yes and "publish" not in rules.approved else None


def _enter_agent(run: Run, rules: Rules, *events: RunEvent) -> Transition:
    if run.current is None:
        return enter(replace(run, current=0), Stage.AGENT, rules, *events)
    step = run.steps[run.current]
    if step.attempts:
        return work_again(run, step.feedback, *events)
    run = with_step(run, status=StepStatus.WORKING, attempts=1)
    return Transition(run, turn(run, Stage.AGENT), (*events, RunEvent("step.started", {"step": step.step_id})))
