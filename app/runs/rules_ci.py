"""Publication, CI and heads that move (T36 to T46, T50)."""

from dataclasses import replace

from app.runs.entering import block, proof_started, turn
from app.runs.facts import (
    CiEnded,
    HeadMoved,
    ProofOrder,
    PublicationOrder,
    Published,
    PublishInterrupted,
    PublishRefused,
    Rules,
    RunEvent,
    Transition,
)
from app.runs.model import BlockCause, Ci, Run, Stage
from app.runs.rules_commands import cancel

TIMEOUTS = frozenset({Ci.NONE, Ci.WAITING_APPROVAL, Ci.UNFINISHED})


def published(run: Run, fact: Published, rules: Rules) -> Transition:
    """T36: wait for CI of the pushed SHA, with the publication still active; T37: handed over, straight to the end."""
    event = RunEvent("publish.done", {"handed_over": fact.handed_over})
    if run.stage is not Stage.PUBLISH:
        return Transition(run, refused="not publishing")
    if fact.handed_over:
        after = replace(run, stage=Stage.FINAL_REVIEW, ci=Ci.NOT_PUSHED, restarts=0)
        return Transition(after, turn(after, Stage.FINAL_REVIEW), (event,))
    return Transition(replace(run, stage=Stage.AWAIT_CI, restarts=0), events=(event, RunEvent("ci.waiting")))


def refused(run: Run, fact: PublishRefused, rules: Rules) -> Transition:
    """T38: a tree that is not the proven one is proved again on resume, all else is published again on resume."""
    stage = Stage.PROVE if fact.why is BlockCause.TREE_MISMATCH else Stage.PUBLISH
    return block(run, stage, fact.why, fact.error, rules, RunEvent("publish.refused", {"why": fact.why.value}))


def interrupted(run: Run, fact: PublishInterrupted, rules: Rules) -> Transition:
    """T50: the same publication again while tries are left."""
    if fact.may_retry and run.stage is Stage.PUBLISH:
        event = RunEvent("turn.restarted", {"code": "publication", "error": fact.error})
        return Transition(run, PublicationOrder(again=True), (event,))
    return refused(run, PublishRefused(fact.item_id, BlockCause.PUBLISH_FAILED, fact.error), rules)


def ended(run: Run, fact: CiEnded, rules: Rules) -> Transition:
    """T42, T43: the last look, with what CI said or why it said nothing."""
    if run.stage is not Stage.AWAIT_CI:
        return Transition(run, refused="not waiting for CI")
    kind = "ci.none" if fact.ci in TIMEOUTS else "ci.concluded"
    after = replace(run, stage=Stage.FINAL_REVIEW, ci=fact.ci, restarts=0)
    return Transition(after, turn(after, Stage.FINAL_REVIEW), (RunEvent(kind, {"ci": fact.ci.value}),))


def head_moved(run: Run, fact: HeadMoved, rules: Rules) -> Transition:
    """T46: noted before PUBLISH; T39: followed by a proof of the whole; T41: the newer commit takes over."""
    event = RunEvent("head.moved", {"sha": fact.sha})
    if run.stage in (Stage.AWAIT_CI, Stage.FINAL_REVIEW) or run.blocked_stage is not None:
        return Transition(run, refused="nothing to follow")
    if run.stage is not Stage.PUBLISH:
        return Transition(run, events=(event,))
    if fact.applies and run.head_moves < rules.head_moves:
        after = replace(run, stage=Stage.PROVE, head_moves=run.head_moves + 1)
        order = ProofOrder("whole", None)
        return Transition(after, order, (event, proof_started(order)))
    return cancel(run, "superseded", event)
