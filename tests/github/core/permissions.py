"""Which permission each operation needs; an operation without a row is not served (github.md D-14, D-17)."""

from collections.abc import Mapping

APP = "app"
NOBODY = "nobody"
ANY_TOKEN = "token"

_READ_REPO = "metadata=read"

# An alternative is `permission=level`; alternatives are joined by `; ` as GitHub's header joins them.
NEEDS: Mapping[str, str] = {
    "apps/get-authenticated": APP,
    "apps/list-installations": APP,
    "apps/get-installation": APP,
    "apps/create-installation-access-token": APP,
    "apps/delete-installation": APP,
    "apps/suspend-installation": APP,
    "apps/unsuspend-installation": APP,
    "apps/get-repo-installation": APP,
    "apps/get-org-installation": APP,
    "apps/get-user-installation": APP,
    "apps/get-webhook-config-for-app": APP,
    "apps/update-webhook-config-for-app": APP,
    "apps/list-webhook-deliveries": APP,
    "apps/get-webhook-delivery": APP,
    "apps/redeliver-webhook-delivery": APP,
    "apps/create-from-manifest": NOBODY,
    "apps/list-repos-accessible-to-installation": ANY_TOKEN,
    "apps/revoke-installation-access-token": ANY_TOKEN,
    "apps/list-installations-for-authenticated-user": ANY_TOKEN,
    "apps/list-installation-repos-for-authenticated-user": ANY_TOKEN,
    "users/get-authenticated": ANY_TOKEN,
    "meta/root": NOBODY,
    "meta/get": NOBODY,
    "rate-limit/get": ANY_TOKEN,
    "users/get-by-username": ANY_TOKEN,
    "actions/get-workflow-run": "actions=read",
    "actions/get-workflow-run-attempt": "actions=read",
    "actions/list-workflow-runs-for-repo": "actions=read",
    "actions/list-workflow-runs": "actions=read",
    "actions/list-repo-workflows": "actions=read",
    "actions/list-jobs-for-workflow-run": "actions=read",
    "actions/list-jobs-for-workflow-run-attempt": "actions=read",
    "actions/get-job-for-workflow-run": "actions=read",
    "actions/download-job-logs-for-workflow-run": "actions=read",
    "actions/download-workflow-run-logs": "actions=read",
    "actions/download-workflow-run-attempt-logs": "actions=read",
    "actions/list-workflow-run-artifacts": "actions=read",
    "actions/list-artifacts-for-repo": "actions=read",
    "actions/get-artifact": "actions=read",
    "actions/download-artifact": "actions=read",
    "actions/re-run-workflow": "actions=write",
    "actions/re-run-workflow-failed-jobs": "actions=write",
    "actions/re-run-job-for-workflow-run": "actions=write",
    "actions/cancel-workflow-run": "actions=write",
    "checks/create": "checks=write",
    "checks/update": "checks=write",
    "checks/get": "checks=read",
    "checks/list-annotations": "checks=read",
    "checks/list-for-ref": "checks=read",
    "checks/list-suites-for-ref": "checks=read",
    "checks/get-suite": "checks=read",
    "checks/list-for-suite": "checks=read",
    "checks/create-suite": "checks=write",
    "checks/rerequest-suite": "checks=write",
    "checks/rerequest-run": "checks=write",
    "issues/list-for-repo": "issues=read",
    "issues/get": "issues=read; pull_requests=read",
    "issues/create": "issues=write",
    "issues/update": "issues=write; pull_requests=write",
    "issues/list-comments": "issues=read; pull_requests=read",
    "issues/list-comments-for-repo": "issues=read; pull_requests=read",
    "issues/get-comment": "issues=read; pull_requests=read",
    "issues/create-comment": "issues=write; pull_requests=write",
    "issues/update-comment": "issues=write; pull_requests=write",
    "issues/delete-comment": "issues=write; pull_requests=write",
    "issues/list-labels-for-repo": "issues=read; pull_requests=read",
    "issues/get-label": "issues=read; pull_requests=read",
    "issues/create-label": "issues=write; pull_requests=write",
    "issues/update-label": "issues=write; pull_requests=write",
    "issues/list-labels-on-issue": "issues=read; pull_requests=read",
    "issues/add-labels": "issues=write; pull_requests=write",
    "issues/set-labels": "issues=write; pull_requests=write",
    "issues/remove-label": "issues=write; pull_requests=write",
    "issues/add-assignees": "issues=write; pull_requests=write",
    "reactions/create-for-issue": "issues=write; pull_requests=write",
    "reactions/list-for-issue": "issues=read; pull_requests=read",
    "reactions/delete-for-issue": "issues=write; pull_requests=write",
    "reactions/create-for-issue-comment": "issues=write; pull_requests=write",
    "reactions/list-for-issue-comment": "issues=read; pull_requests=read",
    "reactions/delete-for-issue-comment": "issues=write; pull_requests=write",
    "reactions/create-for-pull-request-review-comment": "pull_requests=write",
    "reactions/list-for-pull-request-review-comment": "pull_requests=read",
    "reactions/delete-for-pull-request-comment": "pull_requests=write",
    "pulls/list": "pull_requests=read",
    "pulls/get": "pull_requests=read",
    "pulls/create": "pull_requests=write",
    "pulls/update": "pull_requests=write",
    "pulls/update-branch": "pull_requests=write",
    "pulls/list-commits": "pull_requests=read",
    "pulls/list-files": "pull_requests=read",
    "pulls/check-if-merged": "pull_requests=read",
    "pulls/list-reviews": "pull_requests=read",
    "pulls/get-review": "pull_requests=read",
    "pulls/create-review": "pull_requests=write",
    "pulls/list-review-comments": "pull_requests=read",
    "pulls/get-review-comment": "pull_requests=read",
    "pulls/create-review-comment": "pull_requests=write",
    "pulls/update-review-comment": "pull_requests=write",
    "git/get-ref": "contents=read",
    "git/list-matching-refs": "contents=read",
    "git/create-ref": "contents=write",
    "git/update-ref": "contents=write",
    "git/delete-ref": "contents=write",
    "git/get-commit": "contents=read",
    "git/get-tree": "contents=read",
    "git/get-blob": "contents=read",
    "repos/get": _READ_REPO,
    "repos/get-collaborator-permission-level": _READ_REPO,
    "repos/list-pull-requests-associated-with-commit": "pull_requests=read; contents=read",
    "repos/get-branch": "contents=read",
    "repos/list-branches": "contents=read",
    "repos/get-branch-rules": _READ_REPO,
    "repos/get-commit": "contents=read",
    "repos/list-commits": "contents=read",
    "repos/compare-commits-with-basehead": "contents=read",
    "repos/get-content": "contents=read",
    "repos/create-or-update-file-contents": "contents=write",
    "repos/get-combined-status-for-ref": "statuses=read",
}

_LEVELS = {"read": 1, "write": 2, "admin": 3}


def grants(granted: Mapping[str, str], needs: str) -> bool:
    """Whether any alternative of `needs` is covered by the permissions of a token."""
    return any(_covers(granted, *alternative.split("=")) for alternative in needs.split("; "))


def covers(granted: Mapping[str, str], permission: str, level: str) -> bool:
    return _covers(granted, permission, level)


def _covers(granted: Mapping[str, str], permission: str, level: str) -> bool:
    held = "read" if permission == "metadata" else granted.get(permission)
    return held is not None and _LEVELS[held] >= _LEVELS[level]


# What an app needs to hear an event (github.md, F-E1 and F-E3).
HEARS: Mapping[str, str] = {
    "check_run": "checks=read",
    "check_suite": "checks=read",
    "workflow_run": "actions=read",
    "workflow_job": "actions=read",
    "issue_comment": "issues=read; pull_requests=read",
    "issues": "issues=read",
    "label": "metadata=read",
    "pull_request": "pull_requests=read",
    "pull_request_review": "pull_requests=read",
    "pull_request_review_comment": "pull_requests=read",
    "push": "contents=read",
    "merge_group": "merge_queues=read",
}
