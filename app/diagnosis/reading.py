"""Read the logs of red checks into failing tests; a log that is not there is not a log without failures (IT-14)."""

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import TransientError
from app.failures.annotations import read_annotations
from app.failures.model import Failure, JobInfo, Options, Reading
from app.failures.read import read_log
from app.failures.reports import Report, read_archive
from app.failures.sources import join
from app.github import actions, artifacts, checks, logs
from app.github.actions import Job
from app.github.checks import CheckRun
from app.github.client import Client
from app.services import Services

BLOCK_BYTES = 1 << 20
MOST_ARTIFACTS = 10
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


def read_checks(s: Services, client: Client, repo: str, failed: Sequence[CheckRun]) -> list[CheckRead]:
    """Every red check with its log read; in the order given."""
    with tempfile.TemporaryDirectory(prefix="remedy-log-") as folder:
        return [_read(s, client, repo, check, Path(folder) / f"{check.id}.log") for check in failed]


def read_beside(s: Services, client: Client, repo: str, read: Sequence[CheckRead]) -> list[CheckRead]:
    """Checks whose log cannot be had, read from report files and annotations instead, where those say anything."""
    with tempfile.TemporaryDirectory(prefix="remedy-report-") as folder:
        return [one if one.reading is not None else _beside(s, client, repo, one, Path(folder)) for one in read]


def failures_of(read: Sequence[CheckRead]) -> list[tuple[CheckRead, Failure]]:
    """All failing tests, one per test id, failed ones first (IT-16, A4); the first check that shows a test keeps it."""
    found: dict[str, tuple[CheckRead, Failure]] = {}
    for one in read:
        for failure in one.reading.failures if one.reading is not None else ():
            found.setdefault(failure.test_id, (one, failure))
    return sorted(found.values(), key=lambda pair: pair[1].kind == "error")


def _read(s: Services, client: Client, repo: str, check: CheckRun, to: Path) -> CheckRead:
    job = actions.get_job_for_check(client, repo, check)
    if job is None:
        return CheckRead(check, 1, None, check.html_url, NO_JOB)
    known = CheckRead(check, job.run_attempt, None, job.html_url, workflow_run_id=job.run_id)
    got = logs.download_job_log(client, repo, job.id, to)
    if got.outcome != "read":
        return replace(known, answer=ANSWERS[got.outcome])
    reading = read_log(_blocks(to), job=_about(job), options=_options(s))
    to.unlink(missing_ok=True)
    return replace(known, reading=reading)


def _about(job: Job) -> JobInfo:
    return JobInfo(job.name, job.id, job.conclusion, job.started_at, job.completed_at)


def _options(s: Services) -> Options:
    return Options(detail_chars=s.settings.limits.max_detail_chars, redact=s.redactor.text)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def _beside(s: Services, client: Client, repo: str, one: CheckRead, folder: Path) -> CheckRead:
    notes = checks.find_annotations(client, repo, one.check.id)
    rows = [
        {"path": note.path, "start_line": note.start_line, "title": note.title, "message": note.message}
        | {"annotation_level": note.annotation_level}
        for note in notes
    ]
    report = _report(client, repo, one, folder)
    reading = join(Reading(job_kind="unknown"), report, read_annotations(rows), _options(s))
    return replace(one, reading=reading) if reading.findings else one


def _report(client: Client, repo: str, one: CheckRead, folder: Path) -> Report | None:
    """The report files that the workflow run uploaded; None where there are none, or they cannot be had."""
    if one.workflow_run_id is None:
        return None
    report = Report()
    for artifact in list(artifacts.find_artifacts(client, repo, one.workflow_run_id))[:MOST_ARTIFACTS]:
        to = folder / f"{artifact.id}.zip"
        try:
            got = artifacts.download_artifact(client, repo, artifact, to)
            if got.outcome == "read" and not got.left_out:
                with zipfile.ZipFile(to) as archive:
                    read_archive(archive, report)
        except (TransientError, zipfile.BadZipFile):
            continue
        finally:
            to.unlink(missing_ok=True)
    return report if report.files else None
