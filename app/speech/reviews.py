"""Send the review whose suggestions are the fix (PB-3)."""

from app.github import pulls
from app.github.pulls import ReviewComment
from app.ledger import publications, runs
from app.ledger.changes import last_diff, suggestions_in
from app.ledger.views import scope_view
from app.render.markers import marker
from app.render.suggestion import render_review, suggestion_block
from app.speech.letter import Dropped, Ending, Letter, Sent


def submit_review(letter: Letter) -> Ending:
    """Once per run, at the commit that was proved; found by its marker if a former try sent it already."""
    s = letter.s
    with s.read() as conn:
        publication = publications.get(conn, letter.told("publication_id"))
        run = runs.get(conn, publication.run_id)
        view = scope_view(conn, s.store, run.scope_id, s.settings)
        found = suggestions_in(last_diff(conn, run.id))
    if view.number is None or not found:
        return Dropped("no pull request to review")
    mark, mine = marker("review", run.id), f"{s.settings.app_slug}[bot]"
    known = pulls.find_reviews(letter.client, letter.repo, view.number)
    for review in known:
        if review.body.startswith(mark) and review.user is not None and review.user.login == mine:
            return Sent(review.id)
    comments = tuple(
        ReviewComment(path=one["path"], line=one["line"], start_line=one["start"], body=suggestion_block(one["text"]))
        for one in found
    )
    body = render_review(view, len(comments), s.redactor)
    return Sent(pulls.open_review(letter.client, letter.repo, view.number, run.head_sha, body, comments).id)
