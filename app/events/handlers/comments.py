"""A person wrote something: commands in it become rows, all else is left alone (CM-1 to CM-5)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.commands.parser import ParsedCommand, parse_commands
from app.events.handlers.outcome import Heard, ignored
from app.events.payloads import IssueCommentEvent, ReviewCommentEvent, ReviewEvent
from app.events.payloads.events import Payload
from app.events.payloads.parts import Comment
from app.events.places import Place, is_on, keep_branch, keep_pull, know, policy_at, reader
from app.github import pulls, repositories
from app.ledger import commands, issues, outbox, repos
from app.ledger.rows import Row
from app.ledger.words import CommandSource, OutboxKind
from app.policy import Policy, PolicyError
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
    if author is None or (app is not None and app.id == s.settings.app_id):
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
    scope, policy = _scope(s, place, said)
    if author.type == "Bot" and author.id not in _bots(policy):
        return ignored("a bot that policy does not list")
    if scope is None:
        return ignored("the branch of the issue is gone")
    return _store(s, place, said, (scope, is_on(policy)), found)


def _bots(policy: Policy | PolicyError | None) -> set[int]:
    """Bots that may speak to Remedy, by number; a name with a suffix is nobody's proof (FK-8)."""
    return {bot.id for bot in policy.allowed_bots} if isinstance(policy, Policy) else set()


def _scope(s: Services, place: Place, said: _Said) -> tuple[Row | None, Policy | PolicyError | None]:
    """The scope of a command, and the policy there, both as they are now.

    An issue of ours leads to the one open run with a step for it, else to the default branch (decisions.md, 70).
    """
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        if said.on_pull:
            pull = pulls.get_pull(client, place.full_name, said.number)
            policy = policy_at(s, client, place, pull.base.ref)
            with s.write() as conn:
                return keep_pull(conn, place, pull, s.clock()), policy
        with s.read() as conn:
            running = issues.scopes_of(conn, place.repository_id, said.number)
            repository = repos.get_repository(conn, place.repository_id)
            scope = repos.get_scope(conn, running[0]) if len(running) == 1 else None
        branch = repository.default_branch if repository is not None else "main"
        policy = policy_at(s, client, place, branch if scope is None else scope.base_ref)
        if scope is not None:
            return scope, policy
        found = repositories.get_branch(client, place.full_name, branch)
    if found is None:
        return None, policy
    with s.write() as conn:
        return keep_branch(conn, place, branch, found.sha, s.clock()), policy


def _store(s: Services, place: Place, said: _Said, at: tuple[Row, bool], found: list[ParsedCommand]) -> Heard:
    """A row per command, and the sign that it was heard; where Remedy is not switched on nobody gets a sign (UX-N4)."""
    now, made, (scope, is_on_here) = s.clock(), [], at
    author = said.comment.user
    assert author is not None
    with s.write() as conn:
        for ordinal, command in enumerate(found):
            row_id = commands.store(
                conn,
                source=said.source,
                source_id=str(said.comment.id),
                ordinal=ordinal,
                scope_id=scope.id,
                actor_id=author.id,
                actor=author.login,
                verb=command.verb_text,
                args=command.argument if command.fenced_yaml is None else f"{command.argument}\n{command.fenced_yaml}",
                url=said.comment.html_url or "",
                thread=said.number,
                now=now,
            )
            if row_id is None:
                continue
            made.append(row_id)
            if is_on_here:
                _acknowledge(conn, place, said, row_id, now)
    return Heard(commands=tuple(made), rings=(("deliver", str(place.installation_id)),))


def _acknowledge(conn: Connection, place: Place, said: _Said, row_id: str, now: int) -> None:
    outbox.put(
        conn,
        key=f"react:{said.source}:{said.comment.id}:eyes",
        lane=f"comment:{said.comment.id}",
        kind=OutboxKind.REACT,
        payload={"command_id": row_id, "content": "eyes", "repository_id": place.repository_id},
        installation_id=place.installation_id,
        now=now,
    )
