"""Read the logs of red checks into failing tests; a log that is not there is not a log without failures (IT-14)."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.failures.model import Failure, JobInfo, Options, Reading
from app.failures.read import read_log
from app.github import actions, logs
from app.github.checks import CheckRun
from app.github.client import Client
from app.services import Services

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class CheckRead:
    """One red check with what its log says; `reading` is None when no log could be had."""

    check: CheckRun
    attempt: int
    reading: Reading | None
    log_url: str | None = None


def read_checks(s: Services, client: Client, repo: str, failed: Sequence[CheckRun]) -> list[CheckRead]:
    """Every red check with its log read; in the order given."""
    with tempfile.TemporaryDirectory(prefix="remedy-log-") as folder:
        return [_read(s, client, repo, check, Path(folder) / f"{check.id}.log") for check in failed]


def _read(s: Services, client: Client, repo: str, check: CheckRun, to: Path) -> CheckRead:
    job = actions.get_job_for_check(client, repo, check)
    if job is None:
        return CheckRead(check, 1, None, check.html_url)
    got = logs.download_job_log(client, repo, job.id, to)
    if got.outcome != "read":
        return CheckRead(check, job.run_attempt, None, job.html_url)
    about = JobInfo(job.name, job.id, job.conclusion, job.started_at, job.completed_at)
    options = Options(detail_chars=s.settings.limits.max_detail_chars, redact=s.redactor.text)
    reading = read_log(_blocks(to), job=about, options=options)
    to.unlink(missing_ok=True)
    return CheckRead(check, job.run_attempt, reading, job.html_url)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def failures_of(read: Sequence[CheckRead]) -> list[tuple[CheckRead, Failure]]:
    """All failing tests, one per test id, failed ones first (IT-16, A4); the first check that shows a test keeps it."""
    found: dict[str, tuple[CheckRead, Failure]] = {}
    for one in read:
        for failure in one.reading.failures if one.reading is not None else ():
            found.setdefault(failure.test_id, (one, failure))
    return sorted(found.values(), key=lambda pair: pair[1].kind == "error")
