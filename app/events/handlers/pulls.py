"""A pull request was opened, moved, edited or closed: keep its facts, and tell the run that works on it."""

from sqlalchemy import Connection

from app.events.green import close_issues, learn_green
from app.events.handlers.outcome import Heard, ignored
from app.events.own_config import mistake_in, note_mistake
from app.events.payloads import PullRequestEvent
from app.events.places import Place, keep_pull, know, reader
from app.github import pulls
from app.ledger import diagnoses, events, outbox, repos, runs, transitions
from app.ledger.rows import Row
from app.ledger.rules import void_approvals
from app.ledger.words import EventKind, OutboxKind, ScopeState
from app.runs.facts import Ended, HeadMoved
from app.runs.model import Outcome, Result, Stage, Status
from app.services import Services

NEWS = frozenset({"opened", "reopened", "synchronize"})


def on_pull_request(s: Services, event: PullRequestEvent, guid: str) -> Heard:
    """Pull requests that Remedy watches, and those that edit its policy; the event is a hint (IT-5)."""
    with s.write() as conn:
        place = know(conn, event)
        before = (
            None if place is None else repos.find_scope(conn, place.repository_id, f"pr:{event.pull_request.number}")
        )
    if place is None or (before is None and event.action not in NEWS):
        return ignored("not watched")
    mistake = None
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        pull = pulls.get_pull(client, place.full_name, event.pull_request.number)
        if pull.is_open and event.action in NEWS:
            mistake = mistake_in(s, client, place, pull)
    if before is None and mistake is None:
        return ignored("not watched")
    now = s.clock()
    with s.write() as conn:
        scope = keep_pull(conn, place, pull, now)
        if scope.state is not ScopeState.OPEN:
            _closed(s, conn, place, scope, now)
        elif before is not None and scope.head_sha != before.head_sha:
            _moved(s, conn, before, scope, now)
    rings = [("deliver", str(place.installation_id))]
    if event.action in NEWS:
        note_mistake(s, scope, mistake)
        # CI of a new head may have been heard of before the head itself.
        rings += learn_green(s, place, scope.head_sha).rings if scope.state is ScopeState.OPEN else ()
    return Heard(rings=tuple(rings))


def _closed(s: Services, conn: Connection, place: Place, scope: Row, now: int) -> None:
    """The end of a scope: its run is cancelled unless the fix is out already, its issues close (T24, IT-28)."""
    for told in diagnoses.open_of_scope(conn, scope.id):
        diagnoses.end(conn, told.id, Outcome.SUPERSEDED, now)
    run = runs.active(conn, scope.id)
    if run is not None:
        transitions.apply(conn, run.id, Ended("scope_closed"), s.settings, now)
    close_issues(conn, place, scope, "closed", now)
    transitions.show(conn, scope.id, now)


def _moved(s: Services, conn: Connection, before: Row, scope: Row, now: int) -> None:
    """A new head: older diagnoses end, the check of the old head is closed, a run follows (decisions.md, 56, 57)."""
    for told in diagnoses.open_of_scope(conn, scope.id):
        if told.head_sha != scope.head_sha:
            diagnoses.end(conn, told.id, Outcome.SUPERSEDED, now)
    if before.check_run_id is not None and before.check_head_sha == before.head_sha:
        outbox.put(
            conn,
            key=f"close_check:{scope.id}:{before.head_sha}",
            lane=scope.id,
            kind=OutboxKind.UPSERT_CHECK,
            payload={"scope_id": scope.id, "old_head": before.head_sha, "check_run_id": before.check_run_id},
            installation_id=scope.installation_id,
            now=now,
        )
    run = runs.active(conn, scope.id)
    if run is None:
        last = runs.last(conn, scope.id)
        if last is not None and last.result is Result.FIXED:
            transitions.show(conn, scope.id, now)
        return
    if void_approvals(conn, run.id, now):
        events.append(conn, run.id, EventKind.APPROVAL_VOIDED, {"head": scope.head_sha}, None, now)
    if scope.is_fork:
        # A maintainer approved the old head; the new one is nobody's word (FK-1).
        transitions.apply(conn, run.id, Ended("superseded", hard=True), s.settings, now)
    elif run.status is Status.RUNNING and run.stage is not Stage.PUBLISH and run.stale_head_sha != scope.head_sha:
        transitions.apply(conn, run.id, HeadMoved(scope.head_sha), s.settings, now)
    transitions.show(conn, scope.id, now)
