"""Send the answers to commands: a reaction always, a reply where there is something to say (CM-7, CM-8)."""

from app import __version__
from app.commands.table import COMMANDS, nearest
from app.github import comments
from app.ledger import commands, repos
from app.ledger.rows import Row
from app.ledger.views import scope_view
from app.ledger.words import CommandSource
from app.render.links import links_of
from app.render.markers import marker
from app.render.reply import Denied, Help, HelpRow, Nothing, NotNow, Ping, Reply, Unknown, render_reply
from app.speech import handover, notes
from app.speech.letter import Dropped, Ending, Letter, Sent

PLACE = {CommandSource.COMMENT: "issue", CommandSource.REVIEW_COMMENT: "review"}


def react(letter: Letter) -> Ending:
    """Put a reaction on the command's comment, and take the earlier one away; a review takes none (F-I4)."""
    with letter.s.read() as conn:
        row = commands.get(conn, letter.told("command_id"))
    place = None if row is None else PLACE.get(row.source)
    if row is None or place is None:
        return Dropped("no reaction there")
    comment_id = int(row.source_id)
    content = letter.told("content")
    done = comments.add_reaction(letter.client, letter.repo, comment_id, content, place)  # type: ignore[arg-type]
    if instead := letter.told("instead_of"):
        comments.remove_own_reaction(letter.client, letter.repo, comment_id, instead, place)  # type: ignore[arg-type]
    return Sent(done)


def reply(letter: Letter) -> Ending:
    """One answer per command comment, below it in the thread; the hand-over of a run, or an agent's note."""
    if letter.told("reply") == "handover":
        return handover.send(letter)
    if letter.told("reply") == "note":
        return notes.send(letter)
    s = letter.s
    with s.read() as conn:
        row = commands.get(conn, letter.told("command_id"))
        scope = None if row is None or row.scope_id is None else repos.get_scope(conn, row.scope_id)
        view = None if scope is None else scope_view(conn, s.store, scope.id, s.settings)
    number = None if row is None or view is None else row.thread or view.number
    if row is None or view is None or number is None:
        return Dropped("no thread to answer in")
    key = f"{row.source}:{row.source_id}"
    app_id = s.settings.app_id
    known = comments.find_our_comment(letter.client, letter.repo, number, app_id, marker("reply", key))
    if known is not None:
        return Sent(known.id)
    if letter.told("reply") == "text":
        text = letter.told("text")
    else:
        text = render_reply(_answer(letter, row, view.number or 0), links_of(view), key, s.redactor)
    return Sent(comments.open_comment(letter.client, letter.repo, number, text).id)


def _answer(letter: Letter, row: Row, number: int) -> Reply:
    why, reason = letter.told("why"), letter.told("reason")
    match letter.told("reply"):
        case "help":
            rows = tuple(HelpRow(command.verb, command.who, command.line) for command in COMMANDS)
            return Help(rows, COMMANDS[1].example, number)
        case "denied":
            return Denied(row.verb, row.actor, needs=why, has="read" if why == "write" else "none")
        case "ping":
            return Ping(__version__, int(why) if why else None)
        case "unknown":
            return Unknown(row.verb, tuple(command.verb for command in COMMANDS), nearest(row.verb))
        case "nothing":
            return Nothing(why)  # type: ignore[arg-type]
        case _:
            return NotNow(row.verb, why or "other", reason=reason)  # type: ignore[arg-type]
