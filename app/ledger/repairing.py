"""Carry what a transition means for self-repair into its rows and its turn (domain.md, 10)."""

from sqlalchemy import Connection

from app.ledger import events, repairs, repos, runs, schema, sessions, spending, turns
from app.ledger.rows import Row, lock
from app.ledger.rules import limits_of, runner_of
from app.ledger.turns import NewTurn
from app.ledger.words import EventKind, SelfRepairStatus
from app.runs.facts import Command, Fact, Repaired, Transition
from app.runs.model import Purpose, Role, Run, Status, StepStatus
from app.settings import Settings

ENDS = {
    "self_repair.resumed": SelfRepairStatus.SUCCEEDED,
    "self_repair.needs_user": SelfRepairStatus.NEEDS_USER,
    "self_repair.failed": SelfRepairStatus.FAILED,
}
"""What the machine said about an answer, as the status of its row."""


def turn_of(run: Run) -> str:
    """The turn of a self-repair that this version of the run asked for (domain.md, 14)."""
    return f"{run.run_id}-{run.version}"


def is_late(conn: Connection, run: Run, fact: Repaired) -> bool:
    """The self-repair that answers was settled meanwhile, or the run went on without it (SR-11, T47)."""
    lock(conn, schema.runs, run.run_id)  # a person who switches Remedy off at this moment comes first, or after
    waiting = repairs.running(conn, run.run_id)
    return run.status is not Status.BLOCKED or waiting is None or waiting.turn_id != fact.item_id


def keep(conn: Connection, before: Run, step: Transition, fact: Fact, settings: Settings, now: int) -> None:
    """Asked, asked again, answered, not asked, or overruled by a person; call it in the transition's transaction."""
    run, asked = step.run, repairs.running(conn, step.run.run_id)
    if isinstance(fact, Repaired) and asked is not None:
        if step.repair:
            _queue(conn, run, asked.session_id, settings, now)
            repairs.asked_again(conn, asked, turn_of(run))
            return
        _answered(conn, before, step, fact, asked)
    elif before.status is Status.BLOCKED and (isinstance(fact, Command) or run.status is not Status.BLOCKED):
        overrule(conn, run.run_id, now)
    if step.repair:
        session_id = _session(conn, run, settings, now)
        _queue(conn, run, session_id, settings, now)
        repairs.started(conn, run, session_id, turn_of(run), now)
    elif step.repair_not_asked:
        repairs.not_asked(conn, run, now)


def _answered(conn: Connection, before: Run, step: Transition, fact: Repaired, asked: Row) -> None:
    """The status of the row is what the machine made of the answer (SR-9)."""
    kinds = {event.kind: event for event in step.events}
    kind = next(kind for kind in ENDS if kind in kinds)
    feedback = str(kinds[kind].details.get("feedback", fact.feedback))
    repairs.ended(conn, asked, ENDS[kind], feedback, fact.addendum)
    if ENDS[kind] is SelfRepairStatus.SUCCEEDED and fact.addendum:
        _keep_addendum(conn, before, fact.addendum)


def _session(conn: Connection, run: Run, settings: Settings, now: int) -> str:
    """A conversation of its own, never that of the step or the supervisor (SR-2)."""
    repository = repos.get_repository(conn, runs.get(conn, run.run_id).repository_id)
    return str(
        sessions.create(conn, run.run_id, Role.SELF_REPAIR, runner_of(repository, Role.SELF_REPAIR, settings), now)
    )


def overrule(conn: Connection, run_id: str, now: int) -> None:
    """A person's word, or the end of the run, comes before what a self-repair may still say (SR-11)."""
    lock(conn, schema.runs, run_id)
    if repairs.supersede(conn, run_id, now):
        events.append(conn, run_id, EventKind.SELF_REPAIR_OWNER_RESOLVED, {}, None, now)


def _queue(conn: Connection, run: Run, session_id: str, settings: Settings, now: int) -> None:
    """A turn of its own session about the step where the run stopped (SR-2); the run itself stays without an item."""
    about = None if run.current is None else run.steps[run.current].step_id
    turn = NewTurn(turn_of(run), run.run_id, session_id, Role.SELF_REPAIR, Purpose.REPAIR, about)
    turns.create(conn, turn, now)
    repository = repos.get_repository(conn, runs.get(conn, run.run_id).repository_id)
    spending.reserve(conn, run.run_id, turn.key, limits_of(repository, settings), now)


def _keep_addendum(conn: Connection, run: Run, text: str) -> None:
    """SR-6: beside the prompt of the step where the run stopped, of every open step where the plan itself did."""
    stopped = None if run.current is None else run.steps[run.current].step_id
    for row in runs.steps_of(conn, run.run_id):
        if row.step_id == stopped or (stopped is None and row.status is not StepStatus.APPROVED):
            runs.annotate_step(conn, run.run_id, row.step_id, addenda=[*(row.addenda or ()), text])
