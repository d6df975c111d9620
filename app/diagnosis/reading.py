"""Read the logs of red checks into failing tests; a log that is not there is not a log without failures (IT-14)."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.diagnosis.beside import Behind, Beside
from app.failures.model import Failure, JobInfo, Options, Reading, StepInfo
from app.failures.read import read_log
from app.github import actions, logs
from app.github.actions import Job
from app.github.checks import CheckRun
from app.github.client import Client
from app.services import Services
from app.settings import Limits

BLOCK_BYTES = 1 << 20
ANSWERS = {"missing": "404, not there", "expired": "410, no longer kept"}
NO_JOB = "no job is known behind this check"


@dataclass(frozen=True)
class CheckRead:
    """One red check with what its log says; `reading` is None when no log could be had, and `answer` says why."""

    check: CheckRun
    attempt: int
    reading: Reading | None
    log_url: str | None = None
    answer: str = ""
    workflow_run_id: int | None = None
    job: JobInfo = field(default_factory=JobInfo)


def options_of(s: Services, limits: Limits) -> Options:
    """How logs are read here: policy may want shorter details (IT-18, A5)."""
    return Options(detail_chars=limits.max_detail_chars, redact=s.redactor.text)


def read_logs(client: Client, repo: str, failed: Sequence[CheckRun], options: Options) -> list[CheckRead]:
    """Every red check with its log read, in the order given."""
    with tempfile.TemporaryDirectory(prefix="remedy-log-") as folder:
        return [_read(client, repo, check, Path(folder) / f"{check.id}.log", options) for check in failed]


def read_beside(client: Client, repo: str, read: Sequence[CheckRead], options: Options) -> list[CheckRead]:
    """The checks completed from report files and annotations; one without a log stays so where those name no test."""
    runs = Counter(one.workflow_run_id for one in read)
    beside = Beside(client, repo, options)
    completed = []
    for one in read:
        found = beside.complete(one.reading, _behind(one, runs))
        nothing = one.reading is None and not found.findings
        completed.append(one if nothing else replace(one, reading=found))
    return completed


def failures_of(read: Sequence[CheckRead]) -> list[tuple[CheckRead, Failure]]:
    """All failing tests, one per test id, failed ones first (IT-16, A4); the first check that shows a test keeps it."""
    found: dict[str, tuple[CheckRead, Failure]] = {}
    for one in read:
        for failure in one.reading.failures if one.reading is not None else ():
            found.setdefault(failure.test_id, (one, failure))
    return sorted(found.values(), key=lambda pair: pair[1].kind == "error")


def _read(client: Client, repo: str, check: CheckRun, to: Path, options: Options) -> CheckRead:
    job = actions.get_job_for_check(client, repo, check)
    if job is None:
        return CheckRead(check, 1, None, check.html_url, NO_JOB)
    about = _about(job)
    known = CheckRead(check, job.run_attempt, None, job.html_url, workflow_run_id=job.run_id, job=about)
    got = logs.download_job_log(client, repo, job.id, to)
    if got.outcome != "read":
        return replace(known, answer=ANSWERS[got.outcome])
    reading = read_log(_blocks(to), job=about, options=replace(options, bytes_total=got.bytes_seen))
    to.unlink(missing_ok=True)
    return replace(known, reading=reading)


def _about(job: Job) -> JobInfo:
    steps = tuple(
        StepInfo(step.name, step.number, step.conclusion, step.started_at, step.completed_at) for step in job.steps
    )
    return JobInfo(job.name, job.id, job.conclusion, job.started_at, job.completed_at, steps)


def _behind(one: CheckRead, runs: Mapping[int | None, int]) -> Behind:
    return Behind(one.check.id, one.workflow_run_id, one.job, alone=runs[one.workflow_run_id] == 1)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block
