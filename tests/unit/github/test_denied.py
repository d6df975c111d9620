"""403 in words: GH-22, GH-24."""

import pytest

from app.github.denied import accepted_permissions, permission_for, refusal, ungranted
from app.github.errors import InstallationGone, PermissionMissing
from app.github.retry import Answer

NEEDS = [
    ("GET", "/repos/o/r/check-runs/1", "checks: read"),
    ("GET", "/repos/o/r/commits/abc/check-runs", "checks: read"),
    ("GET", "/repos/o/r/commits/abc/check-suites", "checks: read"),
    ("POST", "/repos/o/r/check-runs", "checks: write"),
    ("PATCH", "/repos/o/r/check-runs/1", "checks: write"),
    ("GET", "/repos/o/r/actions/jobs/1/logs", "actions: read"),
    ("POST", "/repos/o/r/actions/runs/1/rerun-failed-jobs", "actions: write"),
    ("GET", "/repos/o/r/commits/abc/pulls", "pull_requests: read"),
    ("GET", "/repos/o/r/commits/abc", "contents: read"),
    ("GET", "/repos/o/r/pulls/1/files", "pull_requests: read"),
    ("POST", "/repos/o/r/pulls", "pull_requests: write"),
    ("PUT", "/repos/o/r/pulls/1/update-branch", "pull_requests: write"),
    ("GET", "/repos/o/r/issues/1/comments", "issues: read"),
    ("POST", "/repos/o/r/issues/comments/1/reactions", "issues: write"),
    ("POST", "/repos/o/r/labels", "issues: write"),
    ("GET", "/repos/o/r/contents/.github%2Fremedy.yml", "contents: read"),
    ("GET", "/repos/o/r/branches/main", "contents: read"),
    ("GET", "/repos/o/r/collaborators/x/permission", "metadata: read"),
    ("GET", "/repos/o/r", "metadata: read"),
    ("GET", "/app", None),
    ("DELETE", "/repos/o/r", None),
]


@pytest.mark.parametrize("case", NEEDS, ids=lambda case: f"{case[0]} {case[1]}")
def test_our_table_names_the_permission(case):
    method, path, permission = case
    assert permission_for(method, path) == permission


def test_githubs_own_list_is_read_with_its_alternatives():
    assert accepted_permissions("issues=write") == "issues: write"
    assert accepted_permissions("pull_requests=write,contents=read; issues=write") == (
        "pull_requests: write and contents: read, or issues: write"
    )
    assert accepted_permissions("") == accepted_permissions(" ; ,") == ""


def test_what_was_not_granted_is_named():
    """GH-34."""
    asked = {"checks": "write", "contents": "read", "issues": "write"}
    assert ungranted(asked, {"checks": "read", "contents": "write"}) == "checks: write and issues: write"
    assert ungranted(asked, {"checks": "write", "contents": "read", "issues": "admin"}) == ""


def test_a_call_outside_the_table_is_named_by_itself():
    answer = Answer(403, {}, {"message": "Resource not accessible by integration"})
    error = refusal("GET", "/orgs/o/members", answer, "")
    assert isinstance(error, PermissionMissing)
    assert str(error) == (
        "Remedy lacks `the permission for GET /orgs/o/members` on this repository. "
        "An owner can accept it in the installation's settings."
    )


def test_a_suspended_installation_is_gone():
    """GH-8, GH-24."""
    answer = Answer(403, {}, {"message": "This installation has been suspended"})
    assert isinstance(refusal("GET", "/repos/o/r", answer, ""), InstallationGone)
