"""Checks that stand where no work is: on a head that a newer commit replaced, and in the merge queue."""

from app.render.check import CheckBody
from app.render.engine import parts_of

QUEUE_KEY = "merge-queue"


def render_moved_check(old_sha: str, new_sha: str, external_id: str, home: str) -> CheckBody:
    """The check of `old_sha`, closed because work goes on at `new_sha` (decisions.md, row 57)."""
    parts = parts_of("checks/moved.j2", {"newer": new_sha[:7]})
    return CheckBody(old_sha, external_id, home, "completed", "cancelled", parts["title"], parts["summary"], "", ())


def render_queue_check(sha: str, home: str) -> CheckBody:
    """A neutral check at the head of a merge group (decisions.md, row 73)."""
    parts = parts_of("checks/queue.j2", {})
    return CheckBody(sha, QUEUE_KEY, home, "completed", "neutral", parts["title"], parts["summary"], "", ())
