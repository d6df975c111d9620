"""State as GitHub prints it: every function returns all that it knows, the description decides what is sent."""

from tests.github.bodies.actions import artifact, job, workflow, workflow_run
from tests.github.bodies.checks import annotation, check_run, check_suite
from tests.github.bodies.commits import commit, diff_entry, simple_commit
from tests.github.bodies.people import app, installation, node_id, organization, user
from tests.github.bodies.repositories import branch, content_entry, repository
from tests.github.bodies.threads import comment, issue, label, pull, pull_minimal, reaction, review, review_comment

__all__ = [
    "annotation",
    "app",
    "artifact",
    "branch",
    "check_run",
    "check_suite",
    "comment",
    "commit",
    "content_entry",
    "diff_entry",
    "installation",
    "issue",
    "job",
    "label",
    "node_id",
    "organization",
    "pull",
    "pull_minimal",
    "reaction",
    "repository",
    "review",
    "review_comment",
    "simple_commit",
    "user",
    "workflow",
    "workflow_run",
]
