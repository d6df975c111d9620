"""Download the log of a job, or all logs of one attempt of a workflow run (github.md A4)."""

from pathlib import Path

from app.github.client import Client
from app.github.downloads import Download, download
from app.github.paths import repo_path

LogResult = Download


def download_job_log(client: Client, repo: str, job_id: int, to: Path) -> LogResult:
    """The log as text. `missing` is normal until the job ends, for some hours more, and for ever when it was skipped.

    Above the cap of the settings the head and the tail are kept.
    """
    return download(client, repo_path(repo, "actions", "jobs", job_id, "logs"), to, client.settings.limits.log_bytes)


def download_attempt_logs(client: Client, repo: str, run_id: int, attempt: int, to: Path) -> LogResult:
    """All logs of one attempt as a zip file; with `left_out` it is not one any more. Read it with `unpack`."""
    where = repo_path(repo, "actions", "runs", run_id, "attempts", attempt, "logs")
    return download(client, where, to, client.settings.limits.archive_bytes)
