"""The list of all that Remedy reacts to: (event, action) to the function that hears it."""

from collections.abc import Callable, Mapping
from typing import Any

from app.events.handlers.checks import (
    on_check_run_completed,
    on_check_run_requested_action,
    on_check_run_rerequested,
    on_check_suite_completed,
    on_check_suite_rerequested,
    on_workflow_run_completed,
)
from app.events.handlers.comments import on_comment_created, on_review_comment_created, on_review_submitted
from app.events.handlers.installations import on_installation, on_installation_repositories
from app.events.handlers.merge_groups import on_merge_group_checks_requested, on_merge_group_destroyed
from app.events.handlers.outcome import Heard
from app.events.handlers.pulls import on_pull_request
from app.services import Services

Handler = Callable[[Services, Any, str], Heard]
"""A handler gets the tools of the process, the payload, and the guid of the delivery."""

HANDLERS: Mapping[tuple[str, str], Handler] = {
    ("check_run", "completed"): on_check_run_completed,
    ("check_run", "rerequested"): on_check_run_rerequested,
    ("check_run", "requested_action"): on_check_run_requested_action,
    ("check_suite", "completed"): on_check_suite_completed,
    ("check_suite", "rerequested"): on_check_suite_rerequested,
    ("workflow_run", "completed"): on_workflow_run_completed,
    ("pull_request", "opened"): on_pull_request,
    ("pull_request", "reopened"): on_pull_request,
    ("pull_request", "synchronize"): on_pull_request,
    ("pull_request", "edited"): on_pull_request,
    ("pull_request", "closed"): on_pull_request,
    ("pull_request", "converted_to_draft"): on_pull_request,
    ("pull_request", "ready_for_review"): on_pull_request,
    ("issue_comment", "created"): on_comment_created,
    ("pull_request_review", "submitted"): on_review_submitted,
    ("pull_request_review_comment", "created"): on_review_comment_created,
    ("merge_group", "checks_requested"): on_merge_group_checks_requested,
    ("merge_group", "destroyed"): on_merge_group_destroyed,
    ("installation", "created"): on_installation,
    ("installation", "deleted"): on_installation,
    ("installation", "suspend"): on_installation,
    ("installation", "unsuspend"): on_installation,
    ("installation", "new_permissions_accepted"): on_installation,
    ("installation_repositories", "added"): on_installation_repositories,
    ("installation_repositories", "removed"): on_installation_repositories,
}
