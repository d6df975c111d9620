"""A person wrote something: commands in it become rows, all else is left alone (CM-1 to CM-5)."""

from dataclasses import dataclass

from app.commands.parser import ParsedCommand, parse_commands
from app.events.handlers.outcome import Heard, ignored
from app.events.payloads import IssueCommentEvent, ReviewCommentEvent, ReviewEvent
from app.events.payloads.events import Payload
from app.events.payloads.parts import Comment
from app.events.places import Place, keep_pull, know, reader
from app.github import pulls
from app.ledger import commands, issues, outbox, repos
from app.ledger.words import CommandSource, OutboxKind
from app.services import Services

MARKER = "<!-- remedy:"


@dataclass(frozen=True)
class _Said:
    source: CommandSource
    comment: Comment
    number: int
    on_pull: bool


def on_comment_created(s: Services, event: IssueCommentEvent, guid: str) -> Heard:
    """A comment on a pull request, or on an issue that Remedy opened."""
    said = _Said(CommandSource.COMMENT, event.comment, event.issue.number, event.issue.pull_request is not None)
    return _heard(s, event, said)


def on_review_submitted(s: Services, event: ReviewEvent, guid: str) -> Heard:
    return _heard(s, event, _Said(CommandSource.REVIEW, event.review, event.pull_request.number, True))


def on_review_comment_created(s: Services, event: ReviewCommentEvent, guid: str) -> Heard:
    return _heard(s, event, _Said(CommandSource.REVIEW_COMMENT, event.comment, event.pull_request.number, True))


def _heard(s: Services, event: Payload, said: _Said) -> Heard:
    author, app = said.comment.user, said.comment.performed_via_github_app
    if author is None or author.type == "Bot" or (app is not None and app.id == s.settings.app_id):
        return ignored("not a person")
    body = said.comment.body or ""
    if MARKER in body:
        return ignored("our own text")
    found = parse_commands(body)
    if not found:
        return ignored("no command")
    with s.write() as conn:
        place = know(conn, event)
        if place is None:
            return ignored("no installation")
        ours = said.on_pull or issues.find(conn, place.repository_id, said.number) is not None
    if not ours:
        return ignored("not an issue of ours")
    scope_id = _scope(s, place, said)
    return _store(s, place, said, scope_id, found)


def _scope(s: Services, place: Place, said: _Said) -> str | None:
    """The scope of a command; an issue of ours leads to the open run with a step for it (decisions.md, 70)."""
    if not said.on_pull:
        with s.read() as conn:
            return issues.scope_of(conn, place.repository_id, said.number)
    with s.connect(place.installation_id) as github:
        pull = pulls.get_pull(reader(github, place), place.full_name, said.number)
    with s.write() as conn:
        return str(keep_pull(conn, place, pull, s.clock()).id)


def _store(s: Services, place: Place, said: _Said, scope_id: str | None, found: list[ParsedCommand]) -> Heard:
    now, made = s.clock(), []
    author = said.comment.user
    assert author is not None
    with s.write() as conn:
        if scope_id is not None and repos.get_scope(conn, scope_id) is None:
            return ignored("unknown scope")
        for ordinal, command in enumerate(found):
            row_id = commands.store(
                conn,
                source=said.source,
                source_id=str(said.comment.id),
                ordinal=ordinal,
                scope_id=scope_id,
                actor_id=author.id,
                actor=author.login,
                verb=command.verb_text,
                args=command.argument if command.fenced_yaml is None else f"{command.argument}\n{command.fenced_yaml}",
                url=said.comment.html_url or "",
                now=now,
            )
            if row_id is None:
                continue
            made.append(row_id)
            outbox.put(
                conn,
                key=f"react:{said.source}:{said.comment.id}:eyes",
                lane=f"comment:{said.comment.id}",
                kind=OutboxKind.REACT,
                payload={"command_id": row_id, "content": "eyes", "repository_id": place.repository_id},
                installation_id=place.installation_id,
                now=now,
            )
    return Heard(commands=tuple(made), rings=(("deliver", str(place.installation_id)),))
