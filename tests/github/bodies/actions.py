"""Workflow runs, jobs and artifacts as JSON."""

from typing import TYPE_CHECKING, Any

from tests.github.bodies.commits import simple_commit
from tests.github.bodies.people import node_id, user
from tests.github.bodies.repositories import repository
from tests.github.bodies.threads import pull_minimal
from tests.github.core.ci import Artifact, Job, WorkflowRun
from tests.github.core.clock import iso
from tests.github.core.state import Repository

if TYPE_CHECKING:
    from tests.github.world import World


def workflow(world: "World", repo: Repository, run: WorkflowRun) -> dict[str, Any]:
    page = f"{world.web_url}/{repo.full_name}"
    return {
        "id": run.workflow_id,
        "node_id": node_id("W", run.workflow_id),
        "name": run.name,
        "path": run.path,
        "state": "active",
        "created_at": iso(repo.created_at),
        "updated_at": iso(repo.created_at),
        "url": f"{world.api_url}/repos/{repo.full_name}/actions/workflows/{run.workflow_id}",
        "html_url": f"{page}/blob/{repo.default_branch}/{run.path}",
        "badge_url": f"{page}/workflows/{run.workflow_id}/badge.svg",
    }


def workflow_run(world: "World", run: WorkflowRun, attempt: int | None = None) -> dict[str, Any]:
    """The run as of its newest attempt, or of an older one."""
    repo = run.repository
    api = f"{world.api_url}/repos/{repo.full_name}"
    url = f"{api}/actions/runs/{run.id}"
    number = attempt or run.attempt
    status, conclusion = (run.status, run.conclusion) if number == run.attempt else _of_attempt(run, number)
    names = ("jobs", "logs", "artifacts", "cancel", "rerun")
    return {
        "id": run.id,
        "name": run.name,
        "node_id": node_id("WFR", run.id),
        "check_suite_id": run.suite.id,
        "check_suite_node_id": node_id("CS", run.suite.id),
        "check_suite_url": f"{api}/check-suites/{run.suite.id}",
        "head_branch": run.pulls[0].head_ref if run.pulls else run.suite.head_branch,
        "head_sha": run.suite.head_sha,
        "path": run.path,
        "display_title": run.pulls[0].thread.title if run.pulls else repo.git.one(run.suite.head_sha).message,
        "run_number": run.run_number,
        "run_attempt": number,
        "event": run.event,
        "status": status,
        "conclusion": conclusion,
        "workflow_id": run.workflow_id,
        "url": url,
        "html_url": f"{world.web_url}/{repo.full_name}/actions/runs/{run.id}",
        "pull_requests": [pull_minimal(world, pull) for pull in run.pulls if not pull.is_from_fork],
        "created_at": iso(run.created_at),
        "updated_at": iso(run.updated_at),
        "run_started_at": iso(run.started_at),
        "actor": user(world, run.actor),
        "triggering_actor": user(world, run.actor),
        **{f"{name}_url": f"{url}/{name}" for name in names},
        "workflow_url": f"{api}/actions/workflows/{run.workflow_id}",
        "previous_attempt_url": f"{url}/attempts/{number - 1}" if number > 1 else None,
        "head_commit": simple_commit(world, repo, run.suite.head_sha),
        "repository": repository(world, repo, inner=True),
        "head_repository": repository(world, run.head_repository, inner=True),
        "head_repository_id": run.head_repository.id,
        "referenced_workflows": [],
    }


def job(world: "World", found: Job) -> dict[str, Any]:
    run, check = found.run, found.check
    api = f"{world.api_url}/repos/{run.repository.full_name}"
    started = iso(check.started_at or check.created_at)
    return {
        "id": found.id,
        "run_id": run.id,
        "run_url": f"{api}/actions/runs/{run.id}",
        "run_attempt": found.attempt,
        "node_id": node_id("CR", found.id),
        "head_sha": run.suite.head_sha,
        "head_branch": run.pulls[0].head_ref if run.pulls else run.suite.head_branch,
        "url": f"{api}/actions/jobs/{found.id}",
        "html_url": check.details_url,
        "status": check.status,
        "conclusion": check.conclusion,
        "created_at": iso(check.created_at),
        "started_at": started,
        "completed_at": iso(check.completed_at),
        "name": check.name,
        "workflow_name": run.name,
        "steps": [_step(step) for step in found.steps],
        "check_run_url": f"{api}/check-runs/{check.id}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1 if check.started_at is not None else None,
        "runner_name": "GitHub Actions 1" if check.started_at is not None else None,
        "runner_group_id": 0 if check.started_at is not None else None,
        "runner_group_name": "GitHub Actions" if check.started_at is not None else None,
    }


def artifact(world: "World", found: Artifact) -> dict[str, Any]:
    url = f"{world.api_url}/repos/{found.run.repository.full_name}/actions/artifacts/{found.id}"
    return {
        "id": found.id,
        "node_id": node_id("MDg", found.id),
        "name": found.name,
        "size_in_bytes": found.size,
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": found.expires_at <= world.clock.now_ms(),
        "digest": f"sha256:{found.digest}",
        "created_at": iso(found.created_at),
        "updated_at": iso(found.created_at),
        "expires_at": iso(found.expires_at),
        "workflow_run": {
            "id": found.run.id,
            "repository_id": found.run.repository.id,
            "head_repository_id": found.run.head_repository.id,
            "head_branch": found.run.suite.head_branch or "",
            "head_sha": found.run.suite.head_sha,
        },
    }


def _of_attempt(run: WorkflowRun, number: int) -> tuple[str, str | None]:
    conclusions = {job.check.conclusion for job in run.attempts[number - 1]}
    return "completed", "failure" if "failure" in conclusions else next(iter(conclusions))


def _step(step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "started_at": iso(step["started_at"]), "completed_at": iso(step["completed_at"])}
