"""Issues and their comments."""

from typing import Any

from tests.github import bodies
from tests.github.acts import threads
from tests.github.call import Call
from tests.github.core.messages import Answer, Refused, invalid
from tests.github.core.state import Thread, User

GROUP = "issues"


def list_for_repo(call: Call) -> Any:
    """Pull requests are issues too; newest first unless `direction=asc`."""
    query = call.query
    state, labels = query.get("state", "open"), [name for name in query.get("labels", "").split(",") if name]
    found = [
        thread
        for thread in call.repository.threads.values()
        if state in ("all", thread.state)
        and query.get("creator") in (None, thread.user.login)
        and all(any(label.name == name for label in thread.labels) for name in labels)
    ]
    field = {"updated": "updated_at", "comments": "comments"}.get(query.get("sort", ""), "created_at")
    found.sort(key=lambda thread: (_key(thread, field), thread.number), reverse=query.get("direction") != "asc")
    return call.page(found, lambda thread: bodies.issue(call.world, thread))


def get(call: Call) -> Any:
    return bodies.issue(call.world, call.thread)


def create(call: Call) -> Any:
    body = call.body
    wish = threads.Wish(
        title=str(body["title"]),
        body=body.get("body"),
        labels=tuple(_label_names(body.get("labels") or [])),
        assignees=tuple(_people(call, body.get("assignees") or [])),
    )
    return bodies.issue(call.world, threads.open_issue(call.world, call.repository, wish, call.author))


def update(call: Call) -> Any:
    thread, body = call.thread, call.body
    changes = {key: body[key] for key in ("title", "body") if key in body}
    threads.edit(call.world, thread, call.actor, **changes)
    if "labels" in body:
        threads.set_labels(call.world, thread, _label_names(body["labels"]), call.actor)
    if "assignees" in body:
        thread.assignees = _people(call, body["assignees"])
    if "state" in body:
        threads.set_state(call.world, thread, body["state"], call.actor, body.get("state_reason"))
    return bodies.issue(call.world, thread)


def add_assignees(call: Call) -> Any:
    people = _people(call, call.body.get("assignees") or [])
    call.thread.assignees += [who for who in people if who not in call.thread.assignees]
    return bodies.issue(call.world, call.thread)


def list_comments(call: Call) -> Any:
    return call.page(call.thread.comments, lambda comment: bodies.comment(call.world, comment))


def list_comments_for_repo(call: Call) -> Any:
    found = [comment for comment in call.world.state.comments.values() if comment.thread.repository is call.repository]
    return call.page(found, lambda comment: bodies.comment(call.world, comment))


def get_comment(call: Call) -> Any:
    return bodies.comment(call.world, call.comment)


def create_comment(call: Call) -> Any:
    comment = threads.add_comment(call.world, call.thread, call.body["body"], call.author)
    return bodies.comment(call.world, comment)


def update_comment(call: Call) -> Any:
    _may_change(call)
    threads.edit_comment(call.world, call.comment, call.body["body"], call.actor)
    return bodies.comment(call.world, call.comment)


def delete_comment(call: Call) -> Any:
    threads.delete_comment(call.world, call.comment, call.actor)
    return Answer(204)


def _may_change(call: Call) -> None:
    """An app edits what it wrote itself; a person's words stay hers."""
    if call.comment.user is not call.actor:
        raise Refused(403, "Resource not accessible by integration")


def _people(call: Call, logins: list[str]) -> list[User]:
    if len(logins) > 10:
        raise invalid("Issue", "assignees")
    return [call.world.state.users[login] for login in logins if login in call.world.state.users]


def _label_names(labels: list[Any]) -> list[str]:
    return [label if isinstance(label, str) else label["name"] for label in labels]


def _key(thread: Thread, field: str) -> int:
    value = getattr(thread, field)
    return len(value) if isinstance(value, list) else value
