"""The hand-over reply: one short comment per run that names the person whose turn it is, edited when that is over."""

from sqlalchemy import Connection

from app.github import comments, pulls
from app.ledger import outbox, repos, runs
from app.ledger.rows import Row
from app.ledger.rules import policy_of
from app.ledger.views import scope_view
from app.ledger.words import OutboxKind, OutboxState
from app.render.markers import marker
from app.render.reply import render_hand_over, render_hand_over_done
from app.runs.projection import Projection, Turn, project
from app.runs.view import ScopeView
from app.speech.letter import Dropped, Ending, Letter, Sent

NOBODY = ("", "remedy")


def intend(conn: Connection, scope: Row, view: ScopeView, shown: Projection, now: int) -> None:
    """File the reply when a person must act, and its end when that turn has passed; both once per run (UX-N1)."""
    run = view.run
    repository = repos.get_repository(conn, scope.repository_id)
    if run is None or repository is None:
        return
    key = f"handover:{run.run_id}"
    filed = outbox.find(conn, key)
    letter = {"lane": scope.id, "installation_id": scope.installation_id, "now": now}
    payload = {"scope_id": scope.id, "run_id": run.run_id, "reply": "handover"}
    if shown.hand_over and filed is None and policy_of(repository).get("hand_over", True):
        outbox.put(conn, key=key, kind=OutboxKind.REPLY, payload=payload, **letter)
    elif not shown.hand_over and filed is not None and filed.state is OutboxState.DONE:
        outbox.put(conn, key=f"handover_done:{run.run_id}", kind=OutboxKind.HIDE_REPLY, payload=payload, **letter)


def send(letter: Letter) -> Ending:
    """On the pull request, or for a branch on the issue of its first failure (decisions.md, row 70)."""
    s = letter.s
    with s.read() as conn:
        view = scope_view(conn, s.store, letter.told("scope_id"), s.settings)
        scope = repos.get_scope(conn, letter.told("scope_id"))
        run = runs.get(conn, letter.told("run_id"))
    shown = project(view)
    number = _thread(view)
    if scope is None or shown is None or not shown.hand_over or view.run is None or view.run.run_id != run.id:
        return Dropped("the turn has passed")
    if number is None:
        return Dropped("no thread to speak in")
    mark = marker("handover", run.id)
    known = comments.find_our_comment(letter.client, letter.repo, number, s.settings.app_id, mark)
    if known is not None:
        return Sent(known.id)
    login = _whose_turn(letter, view, shown, run)
    if not login:
        return Dropped("nobody is known whose turn it could be")
    text = render_hand_over(view, login, scope.comment_id, s.redactor)
    return Sent(comments.open_comment(letter.client, letter.repo, number, text).id)


def hide(letter: Letter) -> Ending:
    """What is over becomes one line (decisions.md, row 81)."""
    s = letter.s
    with s.read() as conn:
        view = scope_view(conn, s.store, letter.told("scope_id"), s.settings)
    number = _thread(view)
    if number is None:
        return Dropped("no thread to speak in")
    mark = marker("handover", letter.told("run_id"))
    known = comments.find_our_comment(letter.client, letter.repo, number, s.settings.app_id, mark)
    if known is None:
        return Dropped("it was never sent")
    return Sent(comments.update_comment(letter.client, letter.repo, known.id, render_hand_over_done(view)).id)


def _thread(view: ScopeView) -> int | None:
    if view.number is not None:
        return view.number
    return next((group.issue_number for group in view.groups if group.issue_number is not None), None)


def _whose_turn(letter: Letter, view: ScopeView, shown: Projection, run: Row) -> str:
    """The one login to name: who asked for the run when a maintainer is needed, else the author.

    The author of a fork is nobody who could press a button; empty means that nobody is known.
    """
    if shown.turn is Turn.MAINTAINER and run.started_by not in NOBODY:
        return str(run.started_by)
    if view.number is None or (view.is_fork and shown.turn is Turn.MAINTAINER):
        return ""
    pull = pulls.get_pull(letter.client, letter.repo, view.number)
    return pull.user.login if pull.is_open and pull.user is not None and pull.user.type != "Bot" else ""
