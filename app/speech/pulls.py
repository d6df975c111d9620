"""Send the pull request that holds a fix (PB-5, PB-7)."""

from app.diagnosis.issues import refresh_issues
from app.github import pulls
from app.github.errors import BranchNotUpdated, GitHubError
from app.github.pulls import PullWrite
from app.ledger import diagnoses, events, publications, repos, runs, transitions
from app.ledger.rows import Row
from app.ledger.views import scope_view
from app.ledger.words import EventKind
from app.render.publish import render_pull
from app.runs.view import ScopeView
from app.speech.letter import Dropped, Ending, Letter, Sent
from app.speech.onboarding import propose_policy


def open_pull(letter: Letter) -> Ending:
    """Open it from our branch into the author's; found by its branch if a former try did it already.

    A letter about the policy file is no fix's, and goes its own way.
    """
    if letter.told("policy"):
        return propose_policy(letter)
    s = letter.s
    publication, run, view = _about(letter)
    if publication.pushed_sha is None:
        return Dropped("nothing was pushed")
    found = pulls.find_pull_by_head(letter.client, letter.repo, publication.branch)
    if found is None:
        title, body = render_pull(view, s.redactor)
        write = PullWrite(title=title, body=body, head=publication.branch, base=view.head_ref)
        found = pulls.open_pull(letter.client, letter.repo, write)
    now = s.clock()
    with s.write() as conn:
        publications.pull_opened(conn, publication.id, found.number)
        if publication.pr_number is None:
            events.append(conn, run.id, EventKind.PR_OPENED, {"number": found.number}, None, now)
        transitions.show(conn, run.scope_id, now)
        scope = repos.get_scope(conn, run.scope_id)
        if scope is not None:
            refresh_issues(conn, scope, diagnoses.groups_of(conn, run.diagnosis_id), now)
    return Sent(found.number)


def update_pull(letter: Letter) -> Ending:
    """Its text once CI has spoken."""
    publication, _, view = _about(letter)
    if publication.pr_number is None:
        return Dropped("no pull request was opened")
    title, body = render_pull(view, letter.s.redactor)
    return Sent(pulls.update_pull(letter.client, letter.repo, publication.pr_number, title, body).number)


def update_branch(letter: Letter) -> Ending:
    """GitHub merges the base into the head that the person saw; a head that moved on is left alone."""
    with letter.s.read() as conn:
        scope = repos.get_scope(conn, letter.told("scope_id"))
    head_sha = letter.told("head_sha")
    if scope is None or scope.head_sha != head_sha:
        return Dropped("the head moved")
    number = int(scope.key.removeprefix("pr:"))
    try:
        pulls.update_branch(letter.client, letter.repo, number, head_sha)
    except GitHubError as error:
        if error.status != 422:
            raise
        if pulls.get_pull(letter.client, letter.repo, number).head.sha != head_sha:
            return Dropped("the head moved")
        raise BranchNotUpdated(f"GitHub could not update the branch: {error.message}") from error
    return Sent(number)


def _about(letter: Letter) -> tuple[Row, Row, ScopeView]:
    """The publication, its run, and all that may be said at this moment."""
    with letter.s.read() as conn:
        publication = publications.get(conn, letter.told("publication_id"))
        run = runs.get(conn, publication.run_id)
        return publication, run, scope_view(conn, letter.s.store, run.scope_id, letter.s.settings)
