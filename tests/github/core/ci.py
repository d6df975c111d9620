"""Check suites and runs, workflow runs, their jobs and artifacts, as they are held in memory."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.github.core.state import App, Pull, Repository, User


@dataclass
class CheckSuite:
    id: int
    repository: "Repository"
    app: "App"
    head_sha: str
    head_branch: str | None
    before: str | None
    created_at: int
    updated_at: int
    runs: list["CheckRun"] = field(default_factory=list)
    asked_again: bool = False
    verdict: str | None = None

    @property
    def latest(self) -> list["CheckRun"]:
        """The newest check run of each name."""
        return list({run.name: run for run in self.runs}.values())

    @property
    def status(self) -> str:
        if self.verdict is not None:
            return "completed"
        if not self.latest or self.asked_again:
            return "queued"
        states = {run.status for run in self.latest}
        return states.pop() if len(states) == 1 else "in_progress"

    @property
    def conclusion(self) -> str | None:
        if self.verdict is not None or self.status != "completed":
            return self.verdict
        found = {run.conclusion for run in self.latest}
        order = ("failure", "timed_out", "action_required", "cancelled", "success", "neutral", "skipped")
        return next(conclusion for conclusion in order if conclusion in found)


@dataclass
class CheckRun:
    id: int
    suite: CheckSuite
    name: str
    created_at: int
    status: str = "queued"
    conclusion: str | None = None
    started_at: int | None = None
    completed_at: int | None = None
    external_id: str | None = ""
    details_url: str | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, str]] = field(default_factory=list)
    job: "Job | None" = None

    @property
    def repository(self) -> "Repository":
        return self.suite.repository

    @property
    def app(self) -> "App":
        return self.suite.app

    @property
    def head_sha(self) -> str:
        return self.suite.head_sha


@dataclass
class WorkflowRun:
    """`attempts[n - 1]` are the jobs of attempt n; jobs that were not run again appear in both."""

    id: int
    repository: "Repository"
    suite: CheckSuite
    workflow_id: int
    name: str
    path: str
    event: str
    run_number: int
    actor: "User"
    head_repository: "Repository"
    created_at: int
    updated_at: int
    started_at: int
    attempts: list[list["Job"]] = field(default_factory=list)
    artifacts: list["Artifact"] = field(default_factory=list)
    pulls: list["Pull"] = field(default_factory=list)
    verdict: str | None = None

    @property
    def attempt(self) -> int:
        return max(len(self.attempts), 1)

    @property
    def jobs(self) -> list["Job"]:
        return self.attempts[-1] if self.attempts else []

    @property
    def status(self) -> str:
        if self.verdict is not None:
            return "completed"
        states = {job.check.status for job in self.jobs}
        return states.pop() if len(states) == 1 else "in_progress"

    @property
    def conclusion(self) -> str | None:
        if self.verdict is not None or self.status != "completed":
            return self.verdict
        found = {job.check.conclusion for job in self.jobs}
        order = ("failure", "timed_out", "cancelled", "action_required", "success", "neutral", "skipped")
        return next(conclusion for conclusion in order if conclusion in found)


@dataclass
class Job:
    """One job of one attempt; what it shows of its state is its check run's."""

    id: int
    run: WorkflowRun
    check: CheckRun
    attempt: int
    plan: Any
    steps: list[dict[str, Any]] = field(default_factory=list)
    log: Path | None = None
    log_expired: bool = False
    log_not_ready: int = 0


@dataclass
class Artifact:
    id: int
    run: WorkflowRun
    name: str
    file: Path
    digest: str
    created_at: int
    expires_at: int

    @property
    def size(self) -> int:
        return self.file.stat().st_size
