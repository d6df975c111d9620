"""Which deliveries are worth a row: the events and actions that a handler exists for (github.md, B10)."""

from collections.abc import Mapping

ACTIONS: Mapping[str, tuple[str, ...]] = {
    "check_run": ("completed", "rerequested", "requested_action"),
    "check_suite": ("completed", "rerequested"),
    "workflow_run": ("completed",),
    "pull_request": (
        "opened",
        "reopened",
        "synchronize",
        "edited",
        "closed",
        "converted_to_draft",
        "ready_for_review",
    ),
    "issue_comment": ("created",),
    "pull_request_review": ("submitted",),
    "pull_request_review_comment": ("created",),
    "merge_group": ("checks_requested", "destroyed"),
    # These two come to every App without being asked for (F-W13).
    "installation": ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"),
    "installation_repositories": ("added", "removed"),
}

HANDLED: frozenset[tuple[str, str]] = frozenset(
    (event, action) for event, actions in ACTIONS.items() for action in actions
)

# A single check run with one of these starts nothing (IT-6, decisions.md 58). A word that is new is looked at.
_QUIET_CONCLUSIONS = frozenset({"success", "neutral", "skipped", "cancelled", "stale"})

# What stands in the body of each event and in no earlier one of this list.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "check_run": ("check_run",),
    "check_suite": ("check_suite",),
    "workflow_run": ("workflow_run",),
    "merge_group": ("merge_group",),
    "issue_comment": ("issue", "comment"),
    "pull_request_review": ("pull_request", "review"),
    "pull_request_review_comment": ("pull_request", "comment"),
    "pull_request": ("pull_request",),
    "installation_repositories": ("repositories_added",),
    "installation": ("installation",),
}


def event_of(body: Mapping[str, object]) -> str:
    """The event of a body without its headers; empty when it looks like none."""
    return next((event for event, parts in _PARTS.items() if all(part in body for part in parts)), "")


def interested(event: str, action: str, conclusion: str | None) -> bool:
    """Whether the delivery is stored; `conclusion` is that of the check it is about, if any."""
    if (event, action) not in HANDLED:
        return False
    return not (event == "check_run" and action == "completed" and conclusion in _QUIET_CONCLUSIONS)
