"""GitHub's own examples of answers are read by our models, those included that break GitHub's schemas (D-10, D-44)."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from app.events.payloads.parts import Installation
from app.github import actions, apps, artifacts, checks, comments, deliveries, issues, permissions, pulls, repositories
from app.github.comments import _Reaction
from app.github.repositories import _Branch, _File

FILE = Path(__file__).parents[2] / "github" / "description" / "examples.json.gz"
EXAMPLES: dict[str, list[dict[str, Any]]] = json.loads(gzip.decompress(FILE.read_bytes()))

READ_AS: dict[str, tuple[type[BaseModel], str]] = {
    "actions/get-job-for-workflow-run": (actions.Job, ""),
    "actions/get-workflow-run": (actions.WorkflowRun, ""),
    "actions/list-jobs-for-workflow-run": (actions.Job, "jobs"),
    "actions/list-workflow-run-artifacts": (artifacts.Artifact, "artifacts"),
    "actions/list-workflow-runs-for-repo": (actions.WorkflowRun, "workflow_runs"),
    "apps/get-authenticated": (apps.AppFacts, ""),
    "apps/get-installation": (Installation, ""),
    "apps/list-installations": (Installation, "[]"),
    "apps/list-webhook-deliveries": (deliveries.HookDelivery, "[]"),
    "checks/create": (checks.CheckRun, ""),
    "checks/get": (checks.CheckRun, ""),
    "checks/list-annotations": (checks.Annotation, "[]"),
    "checks/list-for-ref": (checks.CheckRun, "check_runs"),
    "checks/list-suites-for-ref": (checks.CheckSuite, "check_suites"),
    "checks/update": (checks.CheckRun, ""),
    "issues/create": (issues.Issue, ""),
    "issues/create-comment": (comments.Comment, ""),
    "issues/get": (issues.Issue, ""),
    "issues/list-comments": (comments.Comment, "[]"),
    "issues/list-for-repo": (issues.Issue, "[]"),
    "issues/update": (issues.Issue, ""),
    "issues/update-comment": (comments.Comment, ""),
    "pulls/create": (pulls.Pull, ""),
    "pulls/create-review": (pulls.Review, ""),
    "pulls/get": (pulls.Pull, ""),
    "pulls/list": (pulls.Pull, "[]"),
    "pulls/list-commits": (pulls.PullCommit, "[]"),
    "pulls/list-files": (pulls.ChangedFile, "[]"),
    "pulls/list-reviews": (pulls.Review, "[]"),
    "reactions/create-for-issue-comment": (_Reaction, ""),
    "repos/compare-commits": (repositories.Comparison, ""),
    "repos/get": (repositories.RepositoryFacts, ""),
    "repos/get-branch": (_Branch, ""),
    "repos/get-collaborator-permission-level": (permissions.Standing, ""),
    "repos/get-commit": (repositories.Commit, ""),
    "repos/get-content": (_File, ""),
    "repos/list-pull-requests-associated-with-commit": (pulls.Pull, "[]"),
}
"""Operation to the model that reads it, and where it stands: the whole answer, a list, or a list below a key."""


@pytest.mark.parametrize("operation", READ_AS)
def test_d_44_an_official_example_is_read(operation: str) -> None:
    model, key = READ_AS[operation]
    for example in EXAMPLES[operation]:
        value = example["value"]
        found = [value] if not key else value if key == "[]" else value[key]
        if operation == "repos/get-content" and (isinstance(value, list) or value.get("type") != "file"):
            continue
        assert found, f"{operation}, {example['name']} is empty"
        for one in found:
            read = model.model_validate(one)
            assert getattr(read, "id", one.get("id")) == one.get("id")
