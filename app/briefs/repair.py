"""What a self-repair is told: why the run stopped, our own text about the step, and what happened last (SR-3)."""

import json

from app.briefs.case import Case, task_of
from app.ledger.rounds import first_line
from app.ledger.rows import Row
from app.ledger.words import EventKind
from app.render.prompts.inputs import Form, Rung, SelfRepair, Task
from app.runs.model import ItemStatus, Role

EVENTS = 20
TOLD = frozenset({EventKind.COMMENT_UPDATED, EventKind.CHECK_UPDATED, EventKind.ISSUE_SEEN, EventKind.BUDGET_RESERVED})
"""What says nothing about why a run stopped."""
FEEDBACK_CHARS = 4000


def self_repair(case: Case) -> SelfRepair:
    """The prompt of a self-repair; it sees no code, no log and no evidence id."""
    run, step = case.run, case.step
    cause = "not known" if run.block_cause is None else run.block_cause.value.replace("_", " ")
    return SelfRepair(
        cause=cause,
        stage="unknown" if run.blocked_stage is None else run.blocked_stage.value,
        task=task_of(case) if step is not None else _plan_of(case),
        form=Form(Rung.MARKER),
        feedback=(run.error or ("" if step is None else step.feedback))[:FEEDBACK_CHARS],
        summary=_last_report(case),
        events=tuple(_line(event) for event in [one for one in case.events if one.kind not in TOLD][-EVENTS:]),
    )


def _plan_of(case: Case) -> Task:
    """Where the plan itself stopped the run there is no current step: the first one stands for it."""
    first = case.steps[0]
    return Task(first.step_id, first.prompt, addenda=tuple(str(text) for text in first.addenda or ()))


def _last_report(case: Case) -> str:
    work = [turn for turn in case.before if turn.role is Role.AGENT and turn.status is ItemStatus.DONE]
    return first_line(work[-1]) if work else ""


def _line(event: Row) -> str:
    """One line of the run's history; details are ours, short and without text of an agent."""
    known = {name: value for name, value in (event.details or {}).items() if name not in ("feedback", "error", "by")}
    return f"{event.kind.value} {json.dumps(known, sort_keys=True)[:120]}" if known else str(event.kind.value)
