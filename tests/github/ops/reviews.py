"""Reviews of pull requests and comments on their lines."""

from typing import Any

from tests.github import bodies
from tests.github.acts import pulls, threads
from tests.github.call import Call
from tests.github.core.messages import Refused, invalid, not_found
from tests.github.core.state import ReviewComment

GROUP = "pulls"
_STATES = {"APPROVE": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented", None: "pending"}


def list_reviews(call: Call) -> Any:
    return call.page(call.pull.reviews, lambda review: bodies.review(call.world, review))


def get_review(call: Call) -> Any:
    for review in call.pull.reviews:
        if review.id == call.params["review_id"]:
            return bodies.review(call.world, review)
    raise not_found()


def create_review(call: Call) -> Any:
    body = call.body
    if body.get("event") in ("REQUEST_CHANGES", "COMMENT") and not (body.get("body") or body.get("comments")):
        raise Refused(422, "Unprocessable Entity")
    review = pulls.add_review(call.world, call.pull, _STATES[body.get("event")], body.get("body") or "", call.author)
    for comment in body.get("comments") or []:
        place = (comment["path"], comment.get("line") or comment.get("position") or 1)
        pulls.add_review_comment(call.world, review, place, comment["body"])
    return bodies.review(call.world, review)


def list_review_comments(call: Call) -> Any:
    return call.page(call.pull.review_comments, lambda comment: bodies.review_comment(call.world, comment))


def get_review_comment(call: Call) -> Any:
    return bodies.review_comment(call.world, _comment(call))


def create_review_comment(call: Call) -> Any:
    """A comment on a line, or with `in_reply_to` an answer to one (F-I10)."""
    body = call.body
    reply_to = body.get("in_reply_to")
    first = call.world.state.review_comments.get(reply_to) if reply_to is not None else None
    if reply_to is not None and (first is None or first.pull is not call.pull):
        raise invalid("PullRequestReviewComment", "in_reply_to")
    place = (first.path, first.line) if first is not None else (body["path"], body.get("line") or 1)
    review = pulls.add_review(call.world, call.pull, "commented", "", call.author)
    comment = pulls.add_review_comment(call.world, review, place, body["body"], first.id if first else None)
    return bodies.review_comment(call.world, comment)


def update_review_comment(call: Call) -> Any:
    found = _comment(call)
    threads.check_text(call.body["body"], "PullRequestReviewComment", "body", threads.BODY_LIMIT)
    found.body, found.updated_at = call.body["body"], call.world.clock.now_ms()
    return bodies.review_comment(call.world, found)


def _comment(call: Call) -> ReviewComment:
    found = call.world.state.review_comments.get(call.params["comment_id"])
    if found is None or found.pull.repository is not call.repository:
        raise not_found()
    return found
