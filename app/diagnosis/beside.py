"""What stands beside a job's log: report files that its workflow run uploaded, and annotations (IN-1 to IN-3)."""

import tempfile
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.errors import TransientError
from app.failures.annotations import Annotation, read_annotations
from app.failures.model import JobInfo, JobKind, Options, Reading
from app.failures.reports import Report, read_archive
from app.failures.sources import join
from app.github import artifacts, checks
from app.github.artifacts import Artifact
from app.github.client import Client

MOST_ARTIFACTS = 10
UPLOAD_MS = 60_000
TESTS_RAN: tuple[JobKind, ...] = (
    "test_failure",
    "test_error",
    "collection_error",
    "mixed",
    "timeout",
    "crash",
    "unknown",
)


@dataclass(frozen=True)
class Behind:
    """A check and the job behind it. `alone`: no other job of its workflow run is red."""

    check_run_id: int
    workflow_run_id: int | None
    job: JobInfo
    alone: bool


@dataclass
class Beside:
    """Report files and annotations of one repository; each artifact is downloaded once."""

    client: Client
    repo: str
    options: Options
    listed: dict[int, list[Artifact]] = field(default_factory=dict)
    reports: dict[int, Report] = field(default_factory=dict)

    def complete(self, reading: Reading | None, behind: Behind) -> Reading:
        """The reading joined with what stands beside it; for None, what can be read without a log.

        An artifact belongs to a workflow run, not to a job. So tests that a report alone names count for a job whose
        log was read only where no sibling is red as well, and never where the log shows a cause that is no test.
        """
        notes = self._annotations(behind.check_run_id)
        about_tests = reading is None or reading.job_kind in TESTS_RAN
        report = self._report(behind) if about_tests else None
        log = reading or Reading(job_kind="unknown")
        joined = join(log, report, notes, self.options)
        if reading is None or behind.alone:
            return joined
        return replace(joined, findings=joined.findings[: len(log.findings)], job_kind=log.job_kind)

    def _annotations(self, check_run_id: int) -> list[Annotation]:
        found = checks.find_annotations(self.client, self.repo, check_run_id)
        return read_annotations(
            {"path": one.path, "start_line": one.start_line, "title": one.title, "message": one.message}
            | {"annotation_level": one.annotation_level}
            for one in found
        )

    def _report(self, behind: Behind) -> Report | None:
        """All reports that were uploaded while the job ran; None where there are none, or they cannot be had."""
        run_id, whole = behind.workflow_run_id, Report()
        if run_id is None:
            return None
        if run_id not in self.listed:
            self.listed[run_id] = list(artifacts.find_artifacts(self.client, self.repo, run_id))
        for artifact in [one for one in self.listed[run_id] if _is_of(one, behind.job)][:MOST_ARTIFACTS]:
            if artifact.id not in self.reports:
                self.reports[artifact.id] = self._download(artifact)
            whole.take(self.reports[artifact.id])
        return whole if whole.files else None

    def _download(self, artifact: Artifact) -> Report:
        """One that cannot be had, or is no archive, says nothing."""
        with tempfile.TemporaryDirectory(prefix="remedy-report-") as folder:
            to = Path(folder) / "artifact.zip"
            try:
                got = artifacts.download_artifact(self.client, self.repo, artifact, to)
                if got.outcome == "read" and not got.left_out:
                    with zipfile.ZipFile(to) as archive:
                        return read_archive(archive)
            except (TransientError, zipfile.BadZipFile):
                pass
        return Report()


def _is_of(artifact: Artifact, job: JobInfo) -> bool:
    """Uploaded while the job ran, as far as times are known: an earlier attempt's artifacts are listed as well."""
    if artifact.created_at is None:
        return True
    after = job.started_at is None or artifact.created_at >= job.started_at
    before = job.completed_at is None or artifact.created_at <= job.completed_at + UPLOAD_MS
    return after and before
