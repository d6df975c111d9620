"""Logs, log archives and artifacts: a link of one minute to the store (github.md F-A3 to F-A7)."""

import zipfile
from pathlib import Path
from typing import Any

from tests.github import store
from tests.github.call import Call
from tests.github.core.ci import Job
from tests.github.core.messages import Answer, Refused, not_found

GROUP = "actions"


def download_job_logs_for_workflow_run(call: Call) -> Any:
    """404 until the job is completed, and for a few asks more if a test held it back (D-29)."""
    job = call.job
    if not _has_log(job):
        raise not_found()
    if job.log_expired:
        raise Refused(410, "Server Error")
    assert job.log is not None
    return _to_store(call, job.log, f"{job.check.name}.txt")


def download_workflow_run_logs(call: Call) -> Any:
    return _archive(call, call.run.attempt)


def download_workflow_run_attempt_logs(call: Call) -> Any:
    number: int = call.params["attempt_number"]
    if not 1 <= number <= call.run.attempt:
        raise not_found()
    return _archive(call, number)


def download_artifact(call: Call) -> Any:
    found = call.world.state.artifacts.get(call.params["artifact_id"])
    if found is None or found.run.repository is not call.repository or call.params["archive_format"] != "zip":
        raise not_found()
    if found.expires_at <= call.world.clock.now_ms():
        raise Refused(410, "Artifact has expired")
    return _to_store(call, found.file, f"{found.name}.zip")


def _archive(call: Call, attempt: int) -> Answer:
    """One `N_name.txt` for each job of the attempt, as the real archive has it."""
    jobs = [job for job in call.run.attempts[attempt - 1] if _has_log(job)] if call.run.attempts else []
    if not jobs or call.run.status != "completed" or any(job.log_expired for job in jobs):
        raise not_found()
    target = call.world.folder / "archives" / f"{call.run.id}-{attempt}.zip"
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, job in enumerate(jobs):
            assert job.log is not None
            archive.write(job.log, f"{number}_{job.check.name.replace('/', '_')}.txt")
    return _to_store(call, target, f"logs_{call.run.id}.zip")


def _has_log(job: Job) -> bool:
    if job.check.status != "completed" or job.log is None or not job.log.exists():
        return False
    if job.log_not_ready > 0:
        job.log_not_ready -= 1
        return False
    return True


def _to_store(call: Call, path: Path, name: str) -> Answer:
    return Answer(302, None, {"Location": store.link(call.world, path, name)})
