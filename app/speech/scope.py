"""Send the sticky comment and the check of a scope: what is true now, not what was true when the row was written."""

import hashlib
from dataclasses import replace

from app.github import checks, comments, pulls
from app.github.calls import Listing
from app.github.checks import ActionWrite, AnnotationWrite, CheckWrite
from app.github.errors import GitHubError
from app.ledger import diagnoses, repos, runs
from app.ledger import told as told_of
from app.ledger.rows import Row
from app.ledger.rules import policy_of
from app.ledger.views import check_key, scope_view
from app.ledger.words import EventKind, ScopeState
from app.render.check import CheckBody, render_check
from app.render.check_closed import render_moved_check, render_queue_check
from app.render.comment import render_comment
from app.render.markers import marker
from app.render.reply import render_doubled
from app.runs.projection import Projection, State, Turn, project
from app.runs.view import ScopeView
from app.speech import handover
from app.speech.letter import Dropped, Ending, Letter, NotNow, Sent


class Stale(Exception):
    """What was to be said is about a thread that moved on; its own event brings the new text (OB-8)."""


def upsert_comment(letter: Letter) -> Ending:
    """Create or edit the one comment of a pull request; edits are paced, a final state never waits (OB-3)."""
    s = letter.s
    scope, view = _scope(letter)
    shown = project(view)
    if shown is None or view.number is None:
        return Dropped("nothing to say")
    if scope.comment_id is None and (why := _keeps_quiet(letter, scope, shown)):
        return Dropped(why)
    if _was_deleted(letter, scope):
        return Dropped("a person deleted the comment")
    text = render_comment(view, s.redactor)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if digest == scope.comment_hash:
        return Dropped("unchanged")
    paced = (scope.comment_at or 0) + int(s.settings.times.comment_pace_s * 1000)
    if paced > s.clock() and shown.status != "completed":
        return NotNow(paced, "edits are paced")
    try:
        comment_id = _write_comment(letter, scope, view, text)
    except Stale as why:
        return Dropped(str(why))
    with s.write() as conn:
        if comment_id is None:
            repos.comment_deleted(conn, scope.id, s.clock())
            return Dropped("a person deleted the comment")
        repos.set_comment(conn, scope.id, comment_id, digest, s.clock())
    letter.note(EventKind.COMMENT_UPDATED, scope.id, comment=comment_id)
    if shown.status == "completed":
        _fold_doubles(letter, view, comment_id)
    return Sent(comment_id)


def _keeps_quiet(letter: Letter, scope: Row, shown: Projection) -> str:
    """Why no first comment is written; empty: write it. It comes with the diagnosis, or after two minutes."""
    wish = policy_of(letter.repository).get("comment", "always")
    if wish == "never" or (wish == "when_needed" and shown.turn not in (Turn.AUTHOR, Turn.MAINTAINER)):
        return "the repository asks for no comment"
    if scope.state is not ScopeState.OPEN:
        return "the pull request is closed"
    if shown.opens:
        return ""
    with letter.s.read() as conn:
        told = diagnoses.last(conn, scope.id, scope.head_sha)
    first_at = letter.s.clock() - int(letter.s.settings.times.first_comment_s * 1000)
    is_late = shown.state is State.DIAGNOSING and told is not None and told.created_at <= first_at
    return "" if is_late else "no comment for this state"


def _write_comment(letter: Letter, scope: Row, view: ScopeView, text: str) -> int | None:
    """The comment's id; None when the one we knew is gone. The thread is read again before the first word (OB-8)."""
    if scope.comment_id is not None:
        try:
            return comments.update_comment(letter.client, letter.repo, scope.comment_id, text).id
        except GitHubError as error:
            if error.status in (404, 410):
                return None
            raise
    number = view.number or 0
    pull = pulls.get_pull(letter.client, letter.repo, number)
    if not pull.is_open or pull.head.sha != view.head_sha:
        raise Stale("the pull request moved on")
    known = next(iter(_ours(letter, view)), None)
    if known is not None:
        return comments.update_comment(letter.client, letter.repo, known.id, text).id
    return comments.open_comment(letter.client, letter.repo, number, text).id


def _ours(letter: Letter, view: ScopeView) -> Listing[comments.Comment]:
    """Our status comments in the thread, oldest first; more than one if a list was behind when we looked (GH-16)."""
    mark, app_id = marker("status", view.scope_key), letter.s.settings.app_id
    return comments.find_our_comments(letter.client, letter.repo, view.number or 0, app_id, mark)


def _fold_doubles(letter: Letter, view: ScopeView, kept: int) -> None:
    """Leave one status comment: every other of ours becomes one line that points to it (decisions.md, row 81)."""
    for double in _ours(letter, view):
        if double.id != kept:
            comments.update_comment(letter.client, letter.repo, double.id, render_doubled(view))


def _was_deleted(letter: Letter, scope: Row) -> bool:
    """Deleted by a person in this run: not posted again until a newer run (OB-10)."""
    if scope.comment_deleted_at is None:
        return False
    with letter.s.read() as conn:
        last = runs.last(conn, scope.id)
    return last is None or last.created_at <= scope.comment_deleted_at


def upsert_check(letter: Letter) -> Ending:
    """Create or edit our check on the scope's head; close it on a head that is over, or in the merge queue."""
    if letter.told("queue_head"):
        body = render_queue_check(letter.told("queue_head"), letter.s.settings.url)
        return _put_check(letter, None, body)
    if letter.told("old_head"):
        return _close_old(letter)
    scope, view = _scope(letter)
    shown = project(view)
    known = scope.check_run_id if scope.check_head_sha == scope.head_sha else None
    if shown is None or (known is None and not shown.opens_check):
        return Dropped("nothing to say")
    body = render_check(view, letter.s.redactor)
    marked = (scope.notes or {}).get(told_of.ANNOTATED, {}).get("sha") == scope.head_sha
    ending = _put_check(letter, known, replace(body, annotations=()) if marked else body)
    with letter.s.write() as conn:
        handover.intend(conn, scope, view, shown, letter.s.clock())
    if isinstance(ending, Sent) and ending.remote_id is not None:
        with letter.s.write() as conn:
            open_at = None if shown.status == "completed" else letter.s.clock()
            repos.set_check(conn, scope.id, int(ending.remote_id), scope.head_sha, open_at)
            if body.annotations:
                repos.note(conn, scope.id, told_of.ANNOTATED, {"sha": scope.head_sha})
        letter.note(EventKind.CHECK_UPDATED, scope.id, check=ending.remote_id, status=str(shown.status))
    return ending


def _close_old(letter: Letter) -> Ending:
    """The check of a head that a newer commit replaced says where things go on (decisions.md, row 57)."""
    with letter.s.read() as conn:
        scope = repos.get_scope(conn, letter.told("scope_id"))
    if scope is None:
        return Dropped("the scope is gone")
    old = letter.told("old_head")
    body = render_moved_check(old, scope.head_sha, check_key(scope.id, old), letter.s.settings.url)
    return _put_check(letter, int(letter.told("check_run_id")), body)


def _put_check(letter: Letter, known: int | None, body: CheckBody) -> Ending:
    """GitHub adds annotations up, so they go once: a check that has some, by a try that was lost, gets none (F-C4)."""
    client, repo = letter.client, letter.repo
    if known is None:
        found = checks.find_our_check(client, repo, body.head_sha, letter.s.settings.app_id, body.external_id)
        if found is None:
            return Sent(checks.open_check(client, repo, _check_write(body)).id)
        write, known = _check_write(_marked_once(body, found)), found.id
        if found.says(write) and not write.annotations:
            return Sent(known)
    else:
        write = _check_write(_marked_once(body, checks.get_check(client, repo, known)) if body.annotations else body)
    return Sent(checks.update_check(client, repo, known, write).id)


def _marked_once(body: CheckBody, found: checks.CheckRun) -> CheckBody:
    return replace(body, annotations=()) if found.output.annotations_count else body


def _check_write(body: CheckBody) -> CheckWrite:
    return CheckWrite(
        name="Remedy",
        head_sha=body.head_sha,
        external_id=body.external_id,
        status=body.status,
        conclusion=body.conclusion,
        title=body.title,
        summary=body.summary,
        text=body.text,
        details_url=body.details_url,
        actions=tuple(ActionWrite(**vars(action)) for action in body.actions),
        annotations=tuple(
            AnnotationWrite(
                path=note.path,
                start_line=note.line,
                end_line=note.line,
                annotation_level="warning",
                title=note.title,
                message=note.message,
                raw_details=note.raw_details,
            )
            for note in body.annotations
        ),
    )


def _scope(letter: Letter) -> tuple[Row, ScopeView]:
    s = letter.s
    with s.read() as conn:
        view = scope_view(conn, s.store, letter.told("scope_id"), s.settings)
        scope = repos.get_scope(conn, letter.told("scope_id"))
    if scope is None:
        raise LookupError(letter.told("scope_id"))
    return scope, view
