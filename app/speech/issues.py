"""Send the life of an issue: opened once, edited, closed by evidence, opened again (IT-27, IT-28)."""

from collections.abc import Mapping

from app.github import comments
from app.github import issues as github
from app.ledger import diagnoses, incidents, issues, repos, transitions
from app.ledger.history import seen_rows
from app.ledger.rows import Row
from app.ledger.rules import policy_of
from app.ledger.views import group_view, scope_view
from app.ledger.words import EventKind
from app.render.issue import Closing, ClosingKind, Reopening, render_closing, render_issue, render_reopening
from app.render.links import links_of
from app.render.markers import marker
from app.runs.view import ScopeView
from app.speech.letter import Dropped, Ending, Letter, Sent

COLOUR = "ededed"
CLOSINGS: Mapping[str, ClosingKind] = {"green": "pull_green", "closed": "pull_closed", "base": "base_green"}


def open_issue(letter: Letter) -> Ending:
    """One issue per failure group; our own marker is looked for before anything is created."""
    issue, view = _read(letter)
    if issue.number is not None:
        return update_issue(letter)
    title, body = _text(letter, issue, view)
    mark = marker("issue", issue.fingerprint)
    slug = letter.s.settings.app_slug
    known = github.find_our_issue(letter.client, letter.repo, slug, mark)
    if known is None or known.state != "open":
        known = github.open_issue(letter.client, letter.repo, title, body, _labels(letter, issue))
    with letter.s.write() as conn:
        issues.numbered(conn, issue.id, known.number)
        for scope_id in {letter.told("scope_id"), *incidents.showing(conn, issue.id)}:
            transitions.show(conn, scope_id, letter.s.clock())
    _note(letter, EventKind.ISSUE_OPENED, known.number)
    return Sent(known.number)


def _labels(letter: Letter, issue: Row) -> tuple[str, ...]:
    """The policy's tags and the tag of the failing tests (A15); without tags no label is put on anything."""
    tags = tuple(policy_of(letter.repository).get("tags") or ())
    group = _group(letter, issue) if tags else None
    if group is None:
        return ()
    with letter.s.read() as conn:
        dedup_tag = diagnoses.get(conn, group.diagnosis_id).dedup_tag
    labels = tuple(dict.fromkeys((*tags, dedup_tag)))
    for label in labels:
        github.open_label(letter.client, letter.repo, label, COLOUR, "")
    return labels


def update_issue(letter: Letter) -> Ending:
    """The table of what was seen, and the state."""
    issue, view = _read(letter)
    if issue.number is None:
        return open_issue(letter)
    _, body = _text(letter, issue, view)
    _note(letter, EventKind.ISSUE_SEEN, issue.number)
    return Sent(github.update_issue(letter.client, letter.repo, issue.number, body).number)


def close_issue(letter: Letter) -> Ending:
    """One line that says by which evidence, then closed; both may be sent twice without effect."""
    issue, view = _read(letter)
    if issue.number is None:
        return Dropped("the issue was never opened")
    shas = tuple(letter.row.payload.get("shas") or ()) or (view.head_sha,)
    closing = Closing(
        kind=CLOSINGS[letter.told("reason")],
        base_ref=view.base_ref,
        number=view.number or 0,
        shas=shas,
        tests=max(1, view.failures_total),
    )
    key = f"{issue.fingerprint}-{letter.row.id}"
    _say_once(letter, issue.number, key, render_closing(closing, key, letter.s.redactor))
    github.close_issue(letter.client, letter.repo, issue.number)
    _note(letter, EventKind.ISSUE_CLOSED, issue.number)
    return Sent(issue.number)


def reopen_issue(letter: Letter) -> Ending:
    """Seen again within 30 days: the same issue, opened again, with where it was seen."""
    issue, view = _read(letter)
    if issue.number is None:
        return Dropped("the issue was never opened")
    github.reopen_issue(letter.client, letter.repo, issue.number)
    group = _group(letter, issue)
    test = group.title if group is not None else issue.fingerprint
    again = Reopening(test, view.base_ref, view.head_sha, view.number or 0)
    key = f"{issue.fingerprint}-{letter.row.id}"
    _say_once(letter, issue.number, key, render_reopening(again, links_of(view), key, letter.s.redactor))
    _note(letter, EventKind.ISSUE_REOPENED, issue.number)
    return update_issue(letter)


def _note(letter: Letter, kind: EventKind, number: int) -> None:
    letter.note(kind, letter.told("scope_id"), number=number)


def _say_once(letter: Letter, number: int, key: str, text: str) -> None:
    mark = marker("closing", key)
    app_id = letter.s.settings.app_id
    if comments.find_our_comment(letter.client, letter.repo, number, app_id, mark) is None:
        comments.open_comment(letter.client, letter.repo, number, text)


def _read(letter: Letter) -> tuple[Row, ScopeView]:
    s = letter.s
    with s.read() as conn:
        issue = issues.get(conn, letter.told("issue_id"))
        return issue, scope_view(conn, s.store, letter.told("scope_id"), s.settings)


def _group(letter: Letter, issue: Row) -> Row | None:
    with letter.s.read() as conn:
        return diagnoses.newest_group_of_issue(conn, issue.id)


def _text(letter: Letter, issue: Row, view: ScopeView) -> tuple[str, str]:
    s = letter.s
    with s.read() as conn:
        group = diagnoses.newest_group_of_issue(conn, issue.id)
        if group is None:
            raise LookupError(issue.id)
        repository = repos.get_repository(conn, issue.repository_id)
        base = f"{s.settings.github.web_url.rstrip('/')}/{repository.full_name if repository is not None else ''}"
        shown = group_view(conn, group, base)
        seen = seen_rows(conn, issue.id)
    return render_issue(shown, view, seen, issue.fingerprint, s.redactor)
