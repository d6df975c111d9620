"""Open, edit and close issues and pull requests; comments, labels and reactions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.github import events
from tests.github.core.messages import Refused, invalid
from tests.github.core.state import App, Comment, Label, Reaction, Repository, Thread, User

if TYPE_CHECKING:
    from tests.github.world import World

BODY_LIMIT = 65_536
TITLE_LIMIT = 1024
LABELS_LIMIT = 100


def new_thread(
    world: "World", repository: Repository, title: str, body: str | None, author: tuple[User, App | None]
) -> Thread:
    """An issue without its event; a pull request is built on one."""
    check_text(title, "Issue", "title", TITLE_LIMIT)
    check_text(body, "Issue", "body", BODY_LIMIT)
    now = world.clock.now_ms()
    number = max(repository.threads, default=0) + 1
    user, app = author
    thread = Thread(world.state.new_id(), number, repository, user, title, body, now, now, app)
    repository.threads[number] = thread
    return thread


@dataclass(frozen=True)
class Wish:
    """What somebody who opens an issue says."""

    title: str
    body: str | None = None
    labels: tuple[str, ...] = ()
    assignees: tuple[User, ...] = ()


def open_issue(world: "World", repository: Repository, wish: Wish, author: tuple[User, App | None]) -> Thread:
    """Raises Refused(410) where issues are switched off (F-I5)."""
    if not repository.has_issues:
        raise Refused(410, "Issues has been disabled in this repository.")
    labels = [label_named(world, repository, name) for name in dict.fromkeys(wish.labels)]
    thread = new_thread(world, repository, wish.title, wish.body, author)
    thread.labels, thread.assignees = labels, [*wish.assignees]
    events.issues(world, "opened", thread, thread.user)
    return thread


def edit(world: "World", thread: Thread, actor: User, **changes: Any) -> None:
    """Set title or body; one `edited` event with what it was before."""
    for name, value in changes.items():
        check_text(value, "Issue", name, BODY_LIMIT if name == "body" else TITLE_LIMIT)
    before = {}
    for name, value in changes.items():
        if getattr(thread, name) != value:
            before[name] = {"from": getattr(thread, name) or ""}
            setattr(thread, name, value)
    if before:
        touch(world, thread)
        emit(world, "edited", thread, actor, {"changes": before})


def set_state(world: "World", thread: Thread, state: str, actor: User, reason: str | None = None) -> None:
    """Close or reopen; nothing happens when it is so already."""
    if thread.state == state:
        return
    touch(world, thread)
    thread.state = state
    closed = state == "closed"
    thread.closed_at = world.clock.now_ms() if closed else None
    thread.closed_by = actor if closed else None
    if thread.pull is None:
        thread.state_reason = (reason or "completed") if closed else "reopened"
    emit(world, "closed" if closed else "reopened", thread, actor)


def emit(world: "World", action: str, thread: Thread, actor: User, extra: dict[str, Any] | None = None) -> None:
    if thread.pull is not None:
        events.pull_request(world, action, thread.pull, actor, extra)
    else:
        events.issues(world, action, thread, actor, extra)


def add_comment(world: "World", thread: Thread, body: str, author: tuple[User, App | None]) -> Comment:
    check_text(body, "IssueComment", "body", BODY_LIMIT)
    now = world.clock.now_ms()
    comment = Comment(world.state.new_id(), thread, author[0], body, now, now, author[1])
    thread.comments.append(comment)
    world.state.comments[comment.id] = comment
    touch(world, thread)
    events.issue_comment(world, "created", comment, author[0])
    return comment


def edit_comment(world: "World", comment: Comment, body: str, actor: User) -> None:
    """An unchanged body sends the event all the same, as hiding a comment can (F-E4)."""
    check_text(body, "IssueComment", "body", BODY_LIMIT)
    before, comment.body = comment.body, body
    comment.updated_at = world.clock.now_ms()
    events.issue_comment(world, "edited", comment, actor, {"changes": {"body": {"from": before}}})


def delete_comment(world: "World", comment: Comment, actor: User) -> None:
    comment.thread.comments.remove(comment)
    del world.state.comments[comment.id]
    events.issue_comment(world, "deleted", comment, actor)


def label_named(world: "World", repository: Repository, name: str) -> Label:
    """The label of this name, made when it is missing."""
    if len(name) > 50:
        raise invalid("Label", "name", message="name is too long (maximum is 50 characters)")
    if name not in repository.labels:
        repository.labels[name] = Label(world.state.new_id(), name)
    return repository.labels[name]


def set_labels(world: "World", thread: Thread, names: list[str], actor: User) -> None:
    """The labels become exactly these; one event for each that came or went."""
    wanted = [label_named(world, thread.repository, name) for name in dict.fromkeys(names)]
    if len(wanted) > LABELS_LIMIT:
        raise invalid("Issue", "labels", message="an issue takes at most 100 labels")
    before, thread.labels = thread.labels, wanted
    touch(world, thread)
    for action, first, second in (("labeled", wanted, before), ("unlabeled", before, wanted)):
        for label in (label for label in first if label not in second):
            emit(world, action, thread, actor, {"label": _label(world, thread, label)})


def react(world: "World", reactions: list[Reaction], content: str, actor: User) -> tuple[Reaction, bool]:
    """The person's reaction, and whether it is new (F-I4)."""
    for found in reactions:
        if found.user is actor and found.content == content:
            return found, False
    made = Reaction(world.state.new_id(), actor, content, world.clock.now_ms())
    reactions.append(made)
    return made, True


def touch(world: "World", thread: Thread) -> None:
    thread.updated_at = world.clock.now_ms()


def check_text(text: str | None, resource: str, name: str, limit: int) -> None:
    """Lengths that GitHub states in prose only (F-I1, F-I2)."""
    if text is not None and len(text) > limit:
        raise invalid(resource, name, "custom", f"{name} is too long (maximum is {limit} characters)")
    if resource == "IssueComment" and not (text or "").strip():
        raise invalid(resource, name, "missing_field", "body can't be blank")


def _label(world: "World", thread: Thread, label: Label) -> dict[str, Any]:
    from tests.github.bodies import label as body

    return body(world, thread.repository, label)
