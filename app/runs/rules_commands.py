"""People's words, the end of a scope and our own faults (T16 to T25)."""

from collections.abc import Mapping
from dataclasses import replace

from app.runs.entering import block, enter, is_spent, step_of
from app.runs.facts import Command, Ended, EngineError, Rules, RunEvent, Transition
from app.runs.model import BlockCause, Run, Stage, Status, Step, StepStatus

AT_CEILING = "the budget is at its ceiling"
FINISHED_WORK = frozenset({Stage.PUBLISH, Stage.AWAIT_CI, Stage.FINAL_REVIEW})


def cancel(run: Run, reason: str, *events: RunEvent) -> Transition:
    """CANCELLED: the run is over and says why."""
    after = replace(
        run, status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason=reason, blocked_stage=None, cause=None
    )
    return Transition(after, events=(*events, RunEvent("run.cancelled", {"reason": reason})))


def ended(run: Run, fact: Ended, rules: Rules) -> Transition:
    """T24: a closed scope ends a run, unless its fix is already out and only CI is waited for."""
    if not fact.hard and run.stage in (Stage.AWAIT_CI, Stage.FINAL_REVIEW):
        return Transition(run, refused="the fix is already published")
    return cancel(run, fact.reason)


def engine_error(run: Run, fact: EngineError, rules: Rules) -> Transition:
    """T16: the stage stays the place to come back to; while BLOCKED only a trace is left (BS-1)."""
    if run.status is Status.BLOCKED:
        return Transition(run, events=(RunEvent("tick.failed", {"error": fact.text}),))
    return block(run, run.stage, BlockCause.CRASH, fact.text, rules)


def command(run: Run, fact: Command, rules: Rules) -> Transition:
    """A maintainer's verb; `refused` says why nothing changed."""
    accepted = RunEvent("command.accepted", {"verb": fact.verb, "by": fact.actor, "text": fact.text})
    if fact.verb == "cancel":
        return cancel(run, "command", accepted)
    if fact.verb == "block":
        if run.status is Status.BLOCKED:
            return Transition(run, refused="not running")
        return block(run, run.stage, BlockCause.COMMAND, fact.text, rules, accepted)
    if run.status is not Status.BLOCKED:
        return Transition(run, refused="not blocked")
    return _resume(run, fact, rules, accepted)


def _resume(run: Run, fact: Command, rules: Rules, accepted: RunEvent) -> Transition:
    stage = run.blocked_stage or Stage.PLAN_REVIEW
    approves, refusal = _approvals(run, fact, stage)
    if refusal:
        return Transition(run, refused=refusal)
    budgeted, added = _with_budget(run, rules)
    if added is None:
        return Transition(run, refused=AT_CEILING)
    if fact.verb == "retry" and run.current is not None and stage is not Stage.PLAN_REVIEW:
        stage = Stage.AGENT
    if fact.text and run.cause is BlockCause.NEEDS_APPROVAL and stage is Stage.SUPERVISOR:
        stage = Stage.AGENT
    if fact.plan:
        wrong = _plan_refusal(run, stage, fact.plan)
        if wrong:
            return Transition(run, refused=wrong)
        budgeted = _rebased(budgeted, fact.plan)
        stage = stage if stage is Stage.PLAN_REVIEW else Stage.AGENT
    known = replace(rules, approved=rules.approved | set(approves))
    fresh = replace(budgeted, round=0, restarts=0, hint=fact.text)
    resumed = RunEvent("run.resumed", {"by": fact.actor, "plan_rebased": bool(fact.plan)})
    approved = tuple(RunEvent("approval.recorded", {"what": what, "by": fact.actor}) for what in (*approves, *added))
    return replace(enter(fresh, stage, known, accepted, *approved, resumed), approves=approves)


def _with_budget(run: Run, rules: Rules) -> tuple[Run, tuple[str, ...] | None]:
    """The run with a budget more where that is what it waits for, and its name; None above the operator's ceiling."""
    if run.cause is not BlockCause.BUDGET_USED or not is_spent(run, rules):
        return run, ()
    if rules.budgets_needed > rules.budgets_allowed:
        return run, None
    return replace(run, budgets=rules.budgets_needed), ("budget",)


def _approvals(run: Run, fact: Command, stage: Stage) -> tuple[tuple[str, ...], str]:
    """What a resume approves: all that was asked for, and nothing by a hint (decisions.md, row 55).

    `retry` and a revised plan say that the work may start, never that its proof or its publication is good (PL-9).
    """
    if run.cause is not BlockCause.NEEDS_APPROVAL:
        return (), ""
    step = step_of(run)
    if stage is Stage.AGENT:
        return ("plan",) if step is None else ("plan", f"step:{step.step_id}"), ""
    only_work = fact.verb == "retry" or bool(fact.plan)
    if stage is Stage.PUBLISH:
        return ((), "a hint does not publish") if fact.text else (() if only_work else ("publish",), "")
    return () if fact.text or only_work else ("proof",), ""


def _plan_refusal(run: Run, stage: Stage, plan: Mapping[str, str]) -> str:
    """PL-4, BS-5: only prompts of steps that are not approved may differ."""
    if stage in FINISHED_WORK or (stage is Stage.PROVE and run.current is None):
        return "the work is already approved"
    return "" if set(plan) == {step.step_id for step in run.steps} else "the steps of the plan differ"


def _rebased(run: Run, plan: Mapping[str, str]) -> Run:
    def revised(step: Step) -> Step:
        return step if step.status is StepStatus.APPROVED else replace(step, prompt=plan[step.step_id])

    return replace(run, steps=tuple(revised(step) for step in run.steps), plan_version=run.plan_version + 1)
