"""The state machine of a run: (state, fact) to (next state, work order, events); pure, one call is one transition."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.runs import entering, rules_ci, rules_commands, rules_proof, rules_repair, rules_turns
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
    Published,
    PublishInterrupted,
    PublishRefused,
    Repaired,
    Rules,
    RunEvent,
    Start,
    Transition,
    TurnDone,
    TurnFailed,
)
from app.runs.model import ItemKind, Run, Status

Rule = Callable[[Run, Any, Rules], Transition]

TABLE: Mapping[type[Fact], Rule] = {
    Start: rules_turns.start,
    TurnDone: rules_turns.done,
    TurnFailed: rules_turns.failed,
    ProofDone: rules_proof.done,
    ProofFailed: rules_proof.failed,
    Published: rules_ci.published,
    PublishRefused: rules_ci.refused,
    PublishInterrupted: rules_ci.interrupted,
    CiEnded: rules_ci.ended,
    HeadMoved: rules_ci.head_moved,
    Ended: rules_commands.ended,
    Command: rules_commands.command,
    EngineError: rules_commands.engine_error,
    Repaired: rules_repair.repaired,
    CatchUp: rules_repair.catch_up,
}

_ABOUT_AN_ITEM = (TurnDone, TurnFailed, ProofDone, ProofFailed, Published, PublishRefused, PublishInterrupted, CiEnded)


def advance(run: Run, fact: Fact, rules: Rules) -> Transition:
    """The transition that `fact` causes; `refused` is set, and nothing else, where it causes none.

    A fact about a work item that is not the active one only leaves a trace (T47); an ended run refuses all (T25).
    """
    if run.status in (Status.COMPLETED, Status.CANCELLED):
        return Transition(run, refused="the run has ended")
    if isinstance(fact, _ABOUT_AN_ITEM) and fact.item_id != run.active_id:
        return Transition(run, refused="late result", events=(RunEvent("turn.late_result", {"item": fact.item_id}),))
    step = TABLE[type(fact)](run, fact, rules)
    return step if step.refused else _sealed(run, step)


def _sealed(before: Run, step: Transition) -> Transition:
    """One version up; a new order becomes the one active work item, its id made from run and version (section 14)."""
    version = before.version + 1
    after = replace(step.run, version=version)
    if step.order is not None:
        again = getattr(step.order, "again", False)
        item_id = before.active_id if again else f"{before.run_id}-{version}"
        after = replace(after, active_kind=entering.kind_of(step.order), active_id=item_id)
    elif after.status is not Status.RUNNING:
        after = replace(after, active_kind=None, active_id=None)
    dropped = step.dropped
    gone = before.active_id is not None and after.active_id != before.active_id and after.status is not Status.RUNNING
    if dropped is None and gone and before.active_kind is not None:
        dropped = (ItemKind(before.active_kind), str(before.active_id))
    return replace(step, run=after, dropped=dropped)
