"""A note of an agent on the issue of the failure that it repairs: one per turn, marked as the agent's words."""

from app.github import comments
from app.ledger import issues, turns
from app.render.markers import marker
from app.render.reply import render_note
from app.speech.letter import Dropped, Ending, Letter, Sent


def send(letter: Letter) -> Ending:
    """Open it unless it is there already; an issue without a number was never opened."""
    turn_id = letter.told("turn_id")
    with letter.s.read() as conn:
        issue = issues.get(conn, letter.told("issue_id"))
        run_id = turns.get(conn, turn_id).run_id
    if issue.number is None:
        return Dropped("the issue was never opened")
    known = comments.find_our_comment(
        letter.client, letter.repo, issue.number, letter.s.settings.app_id, marker("note", turn_id)
    )
    if known is not None:
        return Sent(known.id)
    text = render_note(letter.told("text"), run_id, turn_id, letter.s.redactor)
    return Sent(comments.open_comment(letter.client, letter.repo, issue.number, text).id)
