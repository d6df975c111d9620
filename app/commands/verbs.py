"""What each verb does, in the transaction that gives the command its outcome; saying it twice says so (CM-9)."""

from functools import partial

from sqlalchemy import Connection

from app.commands.desk import Desk, Said, accepted, no_effect, refused
from app.commands.plan import PlanRefused, read_plan
from app.ledger import deliveries, diagnoses, outbox, repairing, repos, runs, targets, transitions
from app.ledger.rows import Row
from app.ledger.words import CommandOutcome, CommandSource, OutboxKind, OutboxState, ScopeState
from app.runs.facts import Command
from app.runs.model import BlockCause, Outcome, Status
from app.runs.rules_commands import AT_CEILING

HINT_CHARS = 2000
SAID_IN = {
    CommandSource.COMMENT: "issue_comment",
    CommandSource.REVIEW: "pull_request_review",
    CommandSource.REVIEW_COMMENT: "pull_request_review_comment",
}
NOT_UPDATED = "GitHub could not update this branch. Update it by hand, or say `/remedy fix`."
REFUSALS = {
    AT_CEILING: ("other", "The operator allows no more budget for this run."),
    "a hint does not publish": ("hint_on_publish", ""),
    "the steps of the plan differ": ("plan_changed", "the steps of the plan differ"),
    "the work is already approved": ("plan_changed", "the work is already approved"),
}
"""The machine's words as those of `render/reply` (why, reason)."""


def command_block(desk: Desk, conn: Connection) -> Said:
    """T17 while something runs; else the scope is marked off (decisions.md, row 54)."""
    s, now = desk.s, desk.s.clock()
    for told in diagnoses.open_of_scope(conn, desk.scope.id):
        diagnoses.end(conn, told.id, Outcome.SUPERSEDED, now)
    run = runs.active(conn, desk.scope.id)
    if run is not None and run.status is Status.RUNNING:
        fact = Command("block", desk.command.actor, desk.argument[:HINT_CHARS])
        transitions.apply(conn, run.id, fact, s.settings, now, desk.who)
        return accepted(_deliver(desk))
    if run is not None and run.block_cause is BlockCause.COMMAND:
        return no_effect("stopped")
    if not repos.mark_off(conn, desk.scope.id, desk.command.actor, desk.argument[:HINT_CHARS], now):
        return no_effect("stopped")
    if run is not None:
        repairing.overrule(conn, run.id, now)
    transitions.show(conn, desk.scope.id, now)
    return accepted(_deliver(desk))


def command_resume(desk: Desk, conn: Connection) -> Said:
    """T21, T22: a stopped run goes on where it stopped; without one, the mark that kept Remedy off is cleared."""
    if len(desk.argument) > HINT_CHARS:
        return refused("other", f"The hint has {len(desk.argument)} characters, at most {HINT_CHARS} are read.")
    was_off = repos.clear_off(conn, desk.scope.id)
    run = runs.active(conn, desk.scope.id)
    if run is None:
        return _update_branch(desk, conn) or _start(desk, conn, was_off=was_off)
    if run.status is not Status.BLOCKED:
        return no_effect("running")
    if was_off and run.block_cause is BlockCause.NEEDS_APPROVAL:
        transitions.show(conn, desk.scope.id, desk.s.clock())
        return accepted(_deliver(desk))
    return _go_on(desk, conn, run, "resume")


def command_fix(desk: Desk, conn: Connection) -> Said:
    """Start on this commit whatever the cause; a stopped run goes back to its agent (decisions.md, 69 and 82)."""
    repos.clear_off(conn, desk.scope.id)
    run = runs.active(conn, desk.scope.id)
    if run is None:
        return _start(desk, conn, was_off=False)
    if run.status is Status.RUNNING:
        return no_effect("running")
    return _go_on(desk, conn, run, "retry")


def command_cancel(desk: Desk, conn: Connection) -> Said:
    """T24: the run is over."""
    run = runs.active(conn, desk.scope.id)
    if run is None:
        return no_effect("nothing_to_cancel")
    fact = Command("cancel", desk.command.actor, desk.argument[:HINT_CHARS])
    transitions.apply(conn, run.id, fact, desk.s.settings, desk.s.clock(), desk.who)
    return accepted(_deliver(desk))


def command_status(desk: Desk, conn: Connection) -> Said:
    """The status comment is written anew."""
    transitions.show(conn, desk.scope.id, desk.s.clock())
    return accepted(_deliver(desk))


def command_dry_run(desk: Desk, conn: Connection) -> Said:
    """Read the failing checks and show plan and prompts; no runner is called and nothing is written but the answer."""
    now = desk.s.clock()
    if runs.active(conn, desk.scope.id) is not None:
        return no_effect("running")
    diagnosis_id, is_new = diagnoses.open(conn, desk.scope.id, desk.scope.head_sha, now, now)
    if not is_new:
        return refused("not_ready", "The failing checks of this commit are being read.")
    asked = {"asked_by": desk.command.actor, "dry_run": True, "details": {"command": desk.command.id}}
    diagnoses.update_open(conn, diagnosis_id, now, **asked)
    return accepted(("diagnose", diagnosis_id), _deliver(desk))


def command_ping(desk: Desk, conn: Connection) -> Said:
    """Which version answers, and whether anything waits."""
    key = f"{SAID_IN.get(desk.command.source, '')}:{desk.command.source_id}"
    oldest_at = deliveries.oldest_waiting(conn, key)
    return Said(CommandOutcome.ACCEPTED, "ping", str(oldest_at or ""), rings=(_deliver(desk),))


def command_help(desk: Desk, conn: Connection) -> Said:
    return Said(CommandOutcome.ACCEPTED, "help", rings=(_deliver(desk),))


def _update_branch(desk: Desk, conn: Connection) -> Said | None:
    """A branch that is only behind its base is updated, once for one head; CI then speaks anew (IT-26, W22)."""
    scope, key = desk.scope, f"update_branch:{desk.scope.id}:{desk.scope.head_sha}"
    told = diagnoses.last(conn, scope.id, scope.head_sha)
    stale = told is not None and told.outcome is Outcome.STALE_BASE and scope.state is ScopeState.OPEN
    if not stale or scope.is_fork or not scope.key.startswith("pr:"):
        return None
    asked = outbox.find(conn, key)
    if asked is not None:
        return refused("other", NOT_UPDATED) if asked.state is OutboxState.FAILED else no_effect("updating")
    outbox.put(
        conn,
        key=key,
        lane=scope.id,
        kind=OutboxKind.UPDATE_BRANCH,
        payload={"scope_id": scope.id, "head_sha": scope.head_sha},
        installation_id=scope.installation_id,
        now=desk.s.clock(),
    )
    return accepted(_deliver(desk))


def _start(desk: Desk, conn: Connection, *, was_off: bool) -> Said:
    """A new diagnosis of the scope's head, asked for by a person (IT-8, FK-1)."""
    now = desk.s.clock()
    if desk.scope.state is not ScopeState.OPEN:
        return refused("other", "The pull request is not open any more.")
    diagnosis_id, _ = diagnoses.open(conn, desk.scope.id, desk.scope.head_sha, now, now)
    asked = {"asked_by": desk.command.actor, "asked_reason": desk.argument[:HINT_CHARS], "due_at": now}
    diagnoses.update_open(conn, diagnosis_id, now, **asked)
    transitions.show(conn, desk.scope.id, now, comment=was_off)
    return accepted(("diagnose", diagnosis_id), _deliver(desk))


def _go_on(desk: Desk, conn: Connection, run: Row, verb: str) -> Said:
    plan: dict[str, str] = {}
    if desk.plan:
        read = read_plan(desk.plan, runs.steps_of(conn, run.id), partial(targets.same, conn, desk.repository))
        if isinstance(read, PlanRefused):
            return refused("plan_changed", read.why)
        plan = read
    hint = desk.argument[:HINT_CHARS]
    fact = Command("retry" if verb == "retry" else "resume", desk.command.actor, hint, plan)
    step = transitions.apply(conn, run.id, fact, desk.s.settings, desk.s.clock(), desk.who)
    if step.refused:
        return refused(*REFUSALS.get(step.refused, ("other", f"{step.refused}.")))
    return accepted(*transitions.wakes(step), _deliver(desk))


def _deliver(desk: Desk) -> tuple[str, str]:
    return ("deliver", str(desk.scope.installation_id))
