"""Reactions on issues, comments and review comments."""

from typing import Any

from tests.github import bodies
from tests.github.acts import threads
from tests.github.call import Call
from tests.github.core.messages import Answer, Refused, not_found
from tests.github.core.state import Reaction

GROUP = "reactions"


def create_for_issue(call: Call) -> Any:
    return _create(call, call.thread.reactions)


def list_for_issue(call: Call) -> Any:
    return _list(call, call.thread.reactions)


def delete_for_issue(call: Call) -> Any:
    return _delete(call, call.thread.reactions)


def create_for_issue_comment(call: Call) -> Any:
    return _create(call, call.comment.reactions)


def list_for_issue_comment(call: Call) -> Any:
    return _list(call, call.comment.reactions)


def delete_for_issue_comment(call: Call) -> Any:
    return _delete(call, call.comment.reactions)


def create_for_pull_request_review_comment(call: Call) -> Any:
    return _create(call, _of_review_comment(call))


def list_for_pull_request_review_comment(call: Call) -> Any:
    return _list(call, _of_review_comment(call))


def delete_for_pull_request_comment(call: Call) -> Any:
    return _delete(call, _of_review_comment(call))


def _create(call: Call, reactions: list[Reaction]) -> Answer:
    made, is_new = threads.react(call.world, reactions, call.body["content"], call.actor)
    return Answer(201 if is_new else 200, bodies.reaction(call.world, made))


def _list(call: Call, reactions: list[Reaction]) -> Any:
    found = [one for one in reactions if call.query.get("content") in (None, one.content)]
    return call.page(found, lambda one: bodies.reaction(call.world, one))


def _delete(call: Call, reactions: list[Reaction]) -> Answer:
    for one in reactions:
        if one.id == call.params["reaction_id"]:
            if one.user is not call.actor:
                raise Refused(403, "Resource not accessible by integration")
            reactions.remove(one)
            return Answer(204)
    raise not_found()


def _of_review_comment(call: Call) -> list[Reaction]:
    found = call.world.state.review_comments.get(call.params["comment_id"])
    if found is None or found.pull.repository is not call.repository:
        raise not_found()
    return found.reactions
