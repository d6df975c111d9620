"""Find the workflow run and the job behind a check run of GitHub Actions (F-A1, F-A2)."""

from typing import Any

from app.events.payloads.parts import ListOf, Millis, Part, RepositoryRef, Text, User
from app.github.calls import Listing
from app.github.checks import CheckRun, check_run_id_of
from app.github.client import Client
from app.github.paths import repo_path

ACTIONS_SLUG = "github-actions"


class WorkflowRun(Part):
    id: int
    head_sha: Text = ""
    head_branch: str | None = None
    name: str | None = None
    path: Text = ""
    event: Text = ""
    status: str | None = None
    conclusion: str | None = None
    run_attempt: int = 1
    check_suite_id: int | None = None
    html_url: str | None = None
    head_repository: RepositoryRef | None = None
    actor: User | None = None
    created_at: Millis = None
    updated_at: Millis = None


class JobStep(Part):
    number: int = 0
    name: Text = ""
    conclusion: str | None = None
    started_at: Millis = None
    completed_at: Millis = None


class Job(Part):
    """One job of one attempt. `check_run_url` ends with the id of its check run."""

    id: int
    run_id: int
    run_attempt: int = 1
    head_sha: Text = ""
    name: Text = ""
    status: str | None = None
    conclusion: str | None = None
    html_url: str | None = None
    check_run_url: str | None = None
    workflow_name: str | None = None
    labels: ListOf[str] = ()
    steps: ListOf[JobStep] = ()
    started_at: Millis = None
    completed_at: Millis = None

    @property
    def check_run_id(self) -> int | None:
        return check_run_id_of(self.check_run_url)


def find_workflow_runs(client: Client, repo: str, *, sha: str = "", check_suite_id: int = 0) -> Listing[WorkflowRun]:
    """Workflow runs of a commit or of a check suite, newest first. A run without a job is a finding of its own."""
    params: dict[str, Any] = {"head_sha": sha} if sha else {}
    if check_suite_id:
        params["check_suite_id"] = check_suite_id
    return client.pages(repo_path(repo, "actions", "runs"), "workflow_runs", **params).of(WorkflowRun)


def find_jobs(client: Client, repo: str, run_id: int, *, all_attempts: bool = False) -> Listing[Job]:
    """Jobs of the latest attempt of a workflow run, or of all its attempts."""
    which = "all" if all_attempts else "latest"
    return client.pages(repo_path(repo, "actions", "runs", run_id, "jobs"), "jobs", filter=which).of(Job)


def get_job_for_check(client: Client, repo: str, check: CheckRun) -> Job | None:
    """The job that made this check run; None for a check of another app, or when GitHub knows none.

    The equal id is a fast path that GitHub does not promise: the job's own `check_run_url` confirms it.
    """
    if check.app is None or check.app.slug != ACTIONS_SLUG:
        return None
    found = client.find(repo_path(repo, "actions", "jobs", check.id))
    if found is not None and (job := Job.model_validate(found)).check_run_id == check.id:
        return job
    if check.check_suite is None:
        return None
    for run in find_workflow_runs(client, repo, check_suite_id=check.check_suite.id):
        for job in find_jobs(client, repo, run.id, all_attempts=True):
            if job.check_run_id == check.id:
                return job
    return None


def rerun_failed_jobs(client: Client, repo: str, run_id: int) -> None:
    """Needs `actions: write`, which a site grants by hand (decisions.md 6); never repeated blindly (F-A8)."""
    client.post(repo_path(repo, "actions", "runs", run_id, "rerun-failed-jobs"))
