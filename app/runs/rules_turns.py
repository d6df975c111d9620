"""What a finished or failed turn does to a run (T1 to T15, T48, T49, T51)."""

from dataclasses import replace

from app.runs.entering import block, block_spent, enter, is_spent, step_of, turn, with_step, work_again
from app.runs.facts import Rules, RunEvent, Start, Transition, TurnDone, TurnFailed, Verdict
from app.runs.model import BlockCause, Ci, Decision, Purpose, Result, Run, Stage, Status, StepStatus

RESULT_OF_CI = {
    Ci.GREEN: Result.FIXED,
    Ci.RED_OTHER: Result.FIXED_OTHER_RED,
    Ci.RED_NAMED: Result.NOT_FIXED,
    Ci.NONE: Result.CI_UNKNOWN,
    Ci.WAITING_APPROVAL: Result.CI_UNKNOWN,
    Ci.UNFINISHED: Result.CI_UNKNOWN,
    Ci.NOT_PUSHED: Result.HANDED_OVER,
}
"""PB-9."""

RESTARTS = frozenset({"interrupted", "runner.session_lost", "runner.start_failed"})
PASSES = frozenset({"provider.rate_limited", "gateway.unreachable"})
TIMEOUT = "runner.timeout"
"""What a turn ends with when its time is over, be it its own or what was left of the run's."""
RESTART_EVENT = {Stage.AGENT: "step.turn_restarted", Stage.SUPERVISOR: "supervisor.review_restarted"}


def start(run: Run, fact: Start, rules: Rules) -> Transition:
    """T1: the plan goes to the supervisor."""
    if run.status is not Status.RUNNING or run.active_id is not None:
        return Transition(run, refused="already started")
    return enter(run, Stage.PLAN_REVIEW, rules, RunEvent("run.started", {"by": fact.actor}))


def done(run: Run, fact: TurnDone, rules: Rules) -> Transition:
    """A turn's answer: work goes to the proof, a verdict moves the run, a final text ends it."""
    if run.stage is Stage.AGENT:
        return _work_done(run, fact, rules)
    if run.stage is Stage.FINAL_REVIEW:
        return complete(run, fact.text)
    if fact.verdict is None:
        return _no_verdict(run, fact, rules)
    return _on_plan(run, fact.verdict, rules) if run.stage is Stage.PLAN_REVIEW else _on_work(run, fact.verdict, rules)


def failed(run: Run, fact: TurnFailed, rules: Rules) -> Transition:
    """A turn without an answer: started again, waited for, or the run stops with the reason."""
    if run.stage is not Stage.FINAL_REVIEW and fact.code in {*RESTARTS, *PASSES, TIMEOUT} and is_spent(run, rules):
        return block_spent(run, run.stage, rules)
    allowed = 1 if fact.code == "runner.start_failed" else rules.restarts
    if fact.code in RESTARTS and run.restarts < allowed:
        kind = RESTART_EVENT.get(run.stage, "turn.restarted")
        guard = "session_lost" if fact.code == "runner.session_lost" else "interrupted"
        after = replace(run, restarts=run.restarts + 1)
        event = RunEvent(kind, {"code": fact.code, "restart": after.restarts})
        return Transition(after, turn(after, run.stage, guard), (event,))
    if fact.code in PASSES and fact.may_wait:
        event = RunEvent("turn.restarted", {"code": fact.code, "not_before": fact.retry_at})
        return Transition(run, turn(run, run.stage, "", fact.retry_at), (event,))
    if run.stage is Stage.FINAL_REVIEW:
        return complete(run, fact.fallback)
    if fact.code == "result.validation" and run.stage in (Stage.PLAN_REVIEW, Stage.SUPERVISOR):
        return block(run, run.stage, BlockCause.VERDICT_MISSING, fact.error, rules)
    return block(run, run.stage, BlockCause.TURN_FAILED, f"{fact.code}: {fact.error}".rstrip(": "), rules)


def complete(run: Run, text: str) -> Transition:
    """T11, T49: the end; the result comes from CI, never from the text."""
    result = RESULT_OF_CI[run.ci or Ci.NOT_PUSHED]
    after = replace(run, status=Status.COMPLETED, stage=Stage.IDLE, result=result, final_text=text or result.value)
    return Transition(after, events=(RunEvent("run.completed", {"result": result.value}),))


def _work_done(run: Run, fact: TurnDone, rules: Rules) -> Transition:
    if fact.question:
        return block(run, Stage.AGENT, BlockCause.QUESTION, fact.question, rules)
    step = step_of(run)
    name = "" if step is None else step.step_id
    return enter(run, Stage.PROVE, rules, RunEvent("step.work_finished", {"step": name}))


def _no_verdict(run: Run, fact: TurnDone, rules: Rules) -> Transition:
    if fact.reask:
        return block(run, run.stage, BlockCause.VERDICT_MISSING, "the supervisor gave no valid verdict", rules)
    if is_spent(run, rules):
        return block_spent(run, run.stage, rules)
    order = replace(turn(run, run.stage), purpose=Purpose.REASK, guard="reask")
    return Transition(run, order, (RunEvent("turn.restarted", {"code": "verdict_missing"}),))


def _on_plan(run: Run, verdict: Verdict, rules: Rules) -> Transition:
    if verdict.decision is Decision.APPROVE:
        first = replace(run, round=0, restarts=0, current=0)
        return enter(first, Stage.AGENT, rules, RunEvent("plan.approved"))
    if verdict.decision is Decision.BLOCK:
        return block(run, Stage.PLAN_REVIEW, BlockCause.VERDICT, verdict.feedback, rules)
    if run.round + 1 > rules.rounds:
        return block(run, Stage.PLAN_REVIEW, BlockCause.CORRECTION_LIMIT, verdict.feedback, rules)
    steps = tuple(replace(step, prompt=_revised(step.step_id, step.prompt, verdict)) for step in run.steps)
    after = replace(run, steps=steps, round=run.round + 1, plan_version=run.plan_version + 1, restarts=0)
    event = RunEvent("plan.correction_requested")
    if is_spent(run, rules):
        return block_spent(after, Stage.PLAN_REVIEW, rules, event)
    return Transition(after, turn(after, Stage.PLAN_REVIEW), (event,))


def _revised(step_id: str, prompt: str, verdict: Verdict) -> str:
    """PL-3: a whole new text for a known step, else the feedback under a fixed heading."""
    if verdict.prompts:
        return verdict.prompts.get(step_id, prompt)
    return f"{prompt}\n\nFrom the plan review:\n{verdict.feedback}"


def _on_work(run: Run, verdict: Verdict, rules: Rules) -> Transition:
    step = step_of(run)
    name = "" if step is None else step.step_id
    if verdict.decision is Decision.APPROVE:
        return _approved(run, name, rules)
    if verdict.decision is Decision.BLOCK:
        return block(run, Stage.AGENT, BlockCause.VERDICT, verdict.feedback, rules)
    return corrected(run, verdict.feedback, "supervisor", rules)


def corrected(run: Run, feedback: str, source: str, rules: Rules, *events: RunEvent) -> Transition:
    """T8, T9, T27, T28: back to the same session while rounds are left, else the run stops at AGENT."""
    if run.round + 1 > rules.rounds:
        return block(
            with_step(run, feedback=feedback), Stage.AGENT, BlockCause.CORRECTION_LIMIT, feedback, rules, *events
        )
    if is_spent(run, rules):
        return block_spent(with_step(run, feedback=feedback), Stage.AGENT, rules, *events)
    event = RunEvent("step.correction_requested", {"source": source, "round": run.round + 1})
    return work_again(replace(run, round=run.round + 1), feedback, *events, event)


def _approved(run: Run, name: str, rules: Rules) -> Transition:
    run = with_step(run, status=StepStatus.APPROVED, feedback="")
    run = replace(run, round=0, restarts=0)
    event = RunEvent("step.approved", {"step": name})
    following = (run.current or 0) + 1
    if following < len(run.steps):
        return enter(replace(run, current=following), Stage.AGENT, rules, event)
    return enter(replace(run, current=None), Stage.PUBLISH, rules, event, RunEvent("publish.started"))
