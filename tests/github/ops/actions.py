"""Workflow runs, their jobs and artifacts, and running them again."""

from typing import Any

from tests.github import bodies
from tests.github.call import Call
from tests.github.core.ci import Artifact, Job, WorkflowRun
from tests.github.core.messages import Answer, Refused, not_found

GROUP = "actions"
_BAD = ("failure", "timed_out", "cancelled", "startup_failure")


def list_workflow_runs_for_repo(call: Call) -> Any:
    return _runs(call, [run for run in call.world.state.runs.values() if run.repository is call.repository])


def list_workflow_runs(call: Call) -> Any:
    wanted = str(call.params["workflow_id"])
    runs = [run for run in call.world.state.runs.values() if run.repository is call.repository]
    return _runs(call, [run for run in runs if wanted in (str(run.workflow_id), run.path.rsplit("/", 1)[-1])])


def list_repo_workflows(call: Call) -> Any:
    runs = {run.path: run for run in call.world.state.runs.values() if run.repository is call.repository}
    return call.page(list(runs.values()), lambda run: bodies.workflow(call.world, run.repository, run), "workflows")


def get_workflow_run(call: Call) -> Any:
    return bodies.workflow_run(call.world, call.run)


def get_workflow_run_attempt(call: Call) -> Any:
    return bodies.workflow_run(call.world, call.run, _attempt(call))


def list_jobs_for_workflow_run(call: Call) -> Any:
    """`filter=latest`, the default, shows the newest attempt only."""
    every = [job for attempt in call.run.attempts for job in attempt]
    jobs = list(dict.fromkeys(job.id for job in every)) if call.query.get("filter") == "all" else []
    found = [call.world.state.jobs[number] for number in jobs] if jobs else call.run.jobs
    return call.page(found, lambda job: bodies.job(call.world, job), "jobs")


def list_jobs_for_workflow_run_attempt(call: Call) -> Any:
    return call.page(call.run.attempts[_attempt(call) - 1], lambda job: bodies.job(call.world, job), "jobs")


def get_job_for_workflow_run(call: Call) -> Any:
    return bodies.job(call.world, call.job)


def list_workflow_run_artifacts(call: Call) -> Any:
    return _artifacts(call, call.run.artifacts)


def list_artifacts_for_repo(call: Call) -> Any:
    found = [one for one in call.world.state.artifacts.values() if one.run.repository is call.repository]
    return _artifacts(call, found)


def get_artifact(call: Call) -> Any:
    found = call.world.state.artifacts.get(call.params["artifact_id"])
    if found is None or found.run.repository is not call.repository:
        raise not_found()
    return bodies.artifact(call.world, found)


def re_run_workflow(call: Call) -> Any:
    return _rerun(call, call.run, call.run.jobs)


def re_run_workflow_failed_jobs(call: Call) -> Any:
    return _rerun(call, call.run, [job for job in call.run.jobs if job.check.conclusion in _BAD])


def re_run_job_for_workflow_run(call: Call) -> Any:
    """Only from the newest attempt (F-A9)."""
    if call.job not in call.job.run.jobs:
        raise Refused(403, "This job cannot be re-run because it belongs to an older attempt of the workflow run.")
    return _rerun(call, call.job.run, [call.job])


def cancel_workflow_run(call: Call) -> Any:
    if call.run.status == "completed":
        raise Refused(409, "Cannot cancel a workflow run that is completed.")
    call.world.runner.cancel(call.run)
    return Answer(202, {})


def _rerun(call: Call, run: WorkflowRun, jobs: list[Job]) -> Answer:
    call.world.runner.rerun(run, jobs, call.actor)
    return Answer(201, {})


def _attempt(call: Call) -> int:
    number: int = call.params["attempt_number"]
    if not 1 <= number <= call.run.attempt:
        raise not_found()
    return number


def _runs(call: Call, runs: list[WorkflowRun]) -> Any:
    query = call.query
    found = [
        run
        for run in runs
        if query.get("check_suite_id") in (None, run.suite.id)
        and query.get("head_sha") in (None, run.suite.head_sha)
        and query.get("event") in (None, run.event)
        and query.get("branch") in (None, run.suite.head_branch)
        and query.get("actor") in (None, run.actor.login)
        and query.get("status") in (None, run.status, run.conclusion)
    ]
    newest = sorted(found, key=lambda run: -run.id)
    return call.page(newest, lambda run: bodies.workflow_run(call.world, run), "workflow_runs")


def _artifacts(call: Call, artifacts: list[Artifact]) -> Any:
    found = [one for one in artifacts if call.query.get("name") in (None, one.name)]
    return call.page(found, lambda one: bodies.artifact(call.world, one), "artifacts")
