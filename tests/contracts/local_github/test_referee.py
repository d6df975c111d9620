"""githubkit as a second judge: its client works against the local GitHub, its models read every body (D-43)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from githubkit import AppAuthStrategy, GitHub
from githubkit.webhooks import parse

from tests.github import LocalGitHub
from tests.github.core.record import Told
from tests.github.referee import objections, with_newer_fields
from tests.github.stage import broken_pull, shop

EVERYTHING = {
    "name": "Listener",
    "default_permissions": {
        **dict.fromkeys(("actions", "checks", "contents", "issues", "pull_requests"), "write"),
        **dict.fromkeys(("metadata", "merge_queues", "statuses"), "read"),
    },
    "default_events": [
        *("push", "check_run", "check_suite", "workflow_run", "workflow_job", "pull_request", "pull_request_review"),
        *("pull_request_review_comment", "issues", "issue_comment", "merge_group"),
    ],
}


@pytest.fixture
def github() -> Iterator[LocalGitHub]:
    with LocalGitHub(manifest=EVERYTHING) as running:
        yield running


A_REF = {
    "ref": "refs/heads/main",
    "node_id": "x",
    "url": "https://github.example/ref",
    "object": {"type": "commit", "sha": "a" * 40, "url": "https://github.example/commit"},
}


def story(github: LocalGitHub) -> None:
    """A bit of everything."""
    repository = shop(github)
    pull = broken_pull(github, repository)
    issue = github.open_issue("ann", repository, "A wish", "Text")
    github.label("ann", issue, ["remedy"])
    github.comment("ann", issue, "words")
    github.review_comment("ann", pull, "a line", "cart.py", 1)
    github.set_draft("ann", pull, True)
    github.set_draft("ann", pull, False)
    github.edit("ann", pull, title="Faster totals!")
    github.run_ci()
    github.queue_for_merge("ann", pull)
    github.push("ann", repository, "feature", {"a.txt": "a"})
    github.push("remedy[bot]", repository, "remedy/1", {"b.txt": "b"}, base="feature")
    inner = github.open_pull("remedy[bot]", repository, "remedy/1", base="feature")
    github.merge("ann", inner)
    github.delete_branch("ann", repository, "remedy/1")
    github.close("ann", issue)
    github.reopen("ann", issue)


CALLS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "repository": lambda rest, at: rest.repos.get(**at["repo"]),
    "branch": lambda rest, at: rest.repos.get_branch(**at["repo"], branch="main"),
    "branches": lambda rest, at: rest.repos.list_branches(**at["repo"]),
    "commit": lambda rest, at: rest.repos.get_commit(**at["repo"], ref=at["sha"]),
    "commits": lambda rest, at: rest.repos.list_commits(**at["repo"]),
    "comparison": lambda rest, at: rest.repos.compare_commits(**at["repo"], basehead="main...feature"),
    "file": lambda rest, at: rest.repos.get_content(**at["repo"], path="cart.py"),
    "folder": lambda rest, at: rest.repos.get_content(**at["repo"], path="tests"),
    "permission": lambda rest, at: rest.repos.get_collaborator_permission_level(**at["repo"], username="ann"),
    "pulls of a commit": lambda rest, at: rest.repos.list_pull_requests_associated_with_commit(
        **at["repo"], commit_sha=at["sha"]
    ),
    "status": lambda rest, at: rest.repos.get_combined_status_for_ref(**at["repo"], ref=at["sha"]),
    "pulls": lambda rest, at: rest.pulls.list(**at["repo"], state="all"),
    "pull": lambda rest, at: rest.pulls.get(**at["repo"], pull_number=1),
    "files": lambda rest, at: rest.pulls.list_files(**at["repo"], pull_number=1),
    "pull's commits": lambda rest, at: rest.pulls.list_commits(**at["repo"], pull_number=1),
    "reviews": lambda rest, at: rest.pulls.list_reviews(**at["repo"], pull_number=1),
    "review comments": lambda rest, at: rest.pulls.list_review_comments(**at["repo"], pull_number=1),
    "issues": lambda rest, at: rest.issues.list_for_repo(**at["repo"], state="all"),
    "issue": lambda rest, at: rest.issues.get(**at["repo"], issue_number=2),
    "comments": lambda rest, at: rest.issues.list_comments(**at["repo"], issue_number=2),
    "check runs": lambda rest, at: rest.checks.list_for_ref(**at["repo"], ref=at["sha"], filter_="all"),
    "check suites": lambda rest, at: rest.checks.list_suites_for_ref(**at["repo"], ref=at["sha"]),
    "workflow runs": lambda rest, at: rest.actions.list_workflow_runs_for_repo(**at["repo"]),
    "jobs": lambda rest, at: rest.actions.list_jobs_for_workflow_run(**at["repo"], run_id=at["run"]),
    "artifacts": lambda rest, at: rest.actions.list_workflow_run_artifacts(**at["repo"], run_id=at["run"]),
    "ref": lambda rest, at: rest.git.get_ref(**at["repo"], ref="heads/main"),
    "tree": lambda rest, at: rest.git.get_tree(**at["repo"], tree_sha=at["sha"]),
    "rates": lambda rest, at: rest.rate_limit.get(),
    "repositories": lambda rest, at: rest.apps.list_repos_accessible_to_installation(),
}


def test_d_43_its_models_read_what_is_answered(github: LocalGitHub) -> None:
    story(github)
    (installation,) = github.world.state.installations
    pull = github.pull("acme/shop#1")
    run = github.workflow_runs("acme/shop")[0].id
    at = {"repo": {"owner": "acme", "repo": "shop"}, "sha": pull.head_sha, "run": run}
    strategy = AppAuthStrategy(github.app.id, github.app.pem)
    with GitHub(strategy, base_url=github.api_url, http_cache=False) as app:
        assert app.rest.apps.get_authenticated().parsed_data.slug == "listener"
        assert app.rest.apps.get_installation(installation).parsed_data.app_id == github.app.id
        with app.with_auth(app.auth.as_installation(installation)) as client:
            for name, call in CALLS.items():
                assert call(client.rest, at).parsed_data is not None, name


def test_d_43_bodies_that_its_models_refuse_are_named() -> None:
    path = {"owner": "acme", "repo": "shop"}
    good = Told("git/get-ref", {**path, "ref": "heads/main"}, {}, None, 200, json.dumps(A_REF).encode())
    bad_answer = replace(good, answer=json.dumps({**A_REF, "object": None}).encode())
    bad_request = Told("issues/create-comment", {**path, "issue_number": 1}, {}, {"body": 7}, 201, b"{}")
    assert objections([good]) == []
    assert [one.partition(":")[0] for one in objections([bad_answer, good, bad_request])] == [
        "githubkit on git/get-ref",
        "githubkit on issues/create-comment",
    ]


def test_d_43_its_client_writes(github: LocalGitHub) -> None:
    pull = broken_pull(github, shop(github))
    (installation,) = github.world.state.installations
    repo = {"owner": "acme", "repo": "shop"}
    strategy = AppAuthStrategy(github.app.id, github.app.pem)
    with (
        GitHub(strategy, base_url=github.api_url, http_cache=False) as app,
        app.with_auth(app.auth.as_installation(installation)) as client,
    ):
        rest = client.rest
        check = rest.checks.create(**repo, name="Remedy", head_sha=pull.head_sha, status="queued").parsed_data
        rest.checks.update(**repo, check_run_id=check.id, status="completed", conclusion="success")
        comment = rest.issues.create_comment(**repo, issue_number=1, body="words").parsed_data
        rest.issues.update_comment(**repo, comment_id=comment.id, body="better")
        rest.reactions.create_for_issue_comment(**repo, comment_id=comment.id, content="eyes")
        issue = rest.issues.create(**repo, title="T", body="B", labels=["remedy"]).parsed_data
        rest.issues.update(**repo, issue_number=issue.number, state="closed", state_reason="completed")
    assert github.check(pull, "Remedy").conclusion == "success"
    assert [found.body for found in github.comments(pull)] == ["better"]
    assert [found.state for found in github.issues("acme/shop")] == ["closed"]


def test_d_43_its_models_read_every_event(github: LocalGitHub) -> None:
    story(github)
    seen = {}
    for delivery in github.deliveries():
        assert parse(delivery.event, json.dumps(with_newer_fields(delivery.payload))) is not None
        seen[delivery.event] = seen.get(delivery.event, 0) + 1
    assert set(seen) == {*EVERYTHING["default_events"], "installation"}
