"""Self-repair of the plan: what its answer does to a stopped run, and who is asked late (T19, T20, T23)."""

from dataclasses import replace

from app.runs.entering import asks_self_repair, enter, step_of
from app.runs.facts import CatchUp, Repaired, Rules, RunEvent, Transition
from app.runs.model import BlockCause, Run, Stage, Status

BY_A_PERSON = "a step of risk production waits for a maintainer"


def repaired(run: Run, fact: Repaired, rules: Rules) -> Transition:
    """T19: a fixed plan goes on where the run stopped; T20: anything else waits for a person.

    The addendum is kept beside the step's prompt by the ledger, so that a revised plan does not lose it (PL-5). A step
    of risk production always waits for a maintainer (SR-9).
    """
    if run.status is not Status.BLOCKED:
        return Transition(run, refused="not blocked")
    step = step_of(run)
    if fact.decision == "fixed" and (step is None or step.risk != "production"):
        event = RunEvent("self_repair.resumed", {"addendum": bool(fact.addendum)})
        return enter(replace(run, restarts=0), run.blocked_stage or Stage.PLAN_REVIEW, rules, event)
    if fact.decision == "failed" and fact.may_reask:
        return Transition(run, events=(RunEvent("turn.restarted", {"code": "self_repair"}),), repair=True)
    if fact.decision == "failed":
        return Transition(run, events=(RunEvent("self_repair.failed", {"feedback": fact.feedback}),))
    feedback = BY_A_PERSON if fact.decision == "fixed" else fact.feedback
    return Transition(run, events=(RunEvent("self_repair.needs_user", {"feedback": feedback}),))


def catch_up(run: Run, fact: CatchUp, rules: Rules) -> Transition:
    """T23: the block of an older version, or of a time without self-repair, is asked about now; nothing else moves."""
    if not catches_up(run, rules):
        return Transition(run, refused="self-repair is not asked")
    run = replace(run, blocked_stage=run.blocked_stage or fact.stage, cause=run.cause or BlockCause.TURN_FAILED)
    event = RunEvent("self_repair.catchup_started", {"stage": str(run.blocked_stage)})
    if run.self_repairs >= rules.self_repairs:
        told = RunEvent("self_repair.needs_user", {"why": "limit"})
        return Transition(run, events=(event, told), repair_not_asked=True)
    return Transition(replace(run, self_repairs=run.self_repairs + 1), events=(event,), repair=True)


def catches_up(run: Run, rules: Rules) -> bool:
    """Whether a late self-repair is wanted: it is on, and the cause asks for it or is not known (an old row)."""
    known = run.cause is None or asks_self_repair(run.cause, run.error)
    return run.status is Status.BLOCKED and rules.self_repair and known
