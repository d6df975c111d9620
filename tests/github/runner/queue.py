"""From a push to green or red: workflow runs, their jobs in a queue, the events in order, runs again (github.md C7)."""

import hashlib
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.github import events
from tests.github.acts import checks
from tests.github.core.ci import Artifact, CheckRun, Job, WorkflowRun
from tests.github.core.messages import Refused
from tests.github.core.state import ACTIONS_APP_ID, Pull, Repository, User
from tests.github.runner.job import Order, Result, Work
from tests.github.runner.workflow import FOLDER, Broken, JobPlan, Unsupported, Workflow, read_workflow, triggers_of

if TYPE_CHECKING:
    from tests.github.acts.refs import Moved
    from tests.github.world import World

RERUN_DAYS = 30
RERUN_LIMIT = 50
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Cause:
    """What started a workflow run."""

    event: str
    repository: Repository
    sha: str
    branch: str
    before: str | None
    actor: User
    pull: Pull | None = None


class Runner:
    """Jobs run one at a time, by `run` or, with `auto_ci`, on a thread of its own."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.queue: deque[Job] = deque()
        self._running: tuple[Job, Work] | None = None
        self._one_at_a_time = threading.Lock()
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._loop, name="local-github-ci", daemon=True)

    def start(self) -> None:
        if self._world.options.auto_ci:
            self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._running is not None:
            self._running[1].cancel()
        if self._thread.is_alive():
            self._thread.join(timeout=15)

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def on_push(self, moved: "Moved") -> None:
        cause = Cause("push", moved.repository, moved.new, moved.branch, moved.old, moved.actor)
        self._start(cause, lambda workflow: workflow.wants_push(moved.branch))

    def on_pull(self, pull: Pull, action: str, actor: User) -> None:
        cause = Cause("pull_request", pull.repository, pull.head_sha, pull.head_ref, None, actor, pull)
        self._start(cause, lambda workflow: workflow.wants_pull(pull.base_ref, action))

    def run(self, limit: int | None = None) -> list[CheckRun]:
        """Run queued jobs in order, `limit` of them or all, those that these cause included; their check runs."""
        done: list[CheckRun] = []
        while limit is None or len(done) < limit:
            job = self._run_next()
            if job is None:
                break
            done.append(job.check)
        return done

    def rerun(self, run: WorkflowRun, chosen: list[Job], actor: User) -> None:
        """A new attempt in which the chosen jobs run again; raises Refused(403) outside GitHub's limits (F-A8)."""
        if self._world.clock.now_ms() - run.created_at > RERUN_DAYS * _DAY_MS:
            raise Refused(403, "Unable to re-run this workflow run because it was created over a month ago")
        if run.attempt > RERUN_LIMIT:
            raise Refused(403, "Unable to re-run this workflow run because it has reached its re-run limit")
        if run.status != "completed" or not run.jobs:
            raise Refused(403, "This workflow is already running")
        now = self._world.clock.now_ms()
        kept = [job for job in run.jobs if job not in chosen]
        run.started_at = run.updated_at = now
        run.attempts.append(kept)
        run.actor = actor
        events.check_suite(self._world, "requested", run.suite, actor)
        events.workflow_run(self._world, "requested", run)
        for job in chosen:
            self._queue_job(run, job.plan)

    def cancel(self, run: WorkflowRun) -> None:
        """Queued jobs never run; the running one is ended."""
        for job in [job for job in self.queue if job.run is run]:
            self.queue.remove(job)
            self._finish(job, Result("cancelled"))
        if self._running is not None and self._running[0].run is run:
            self._running[1].cancel()

    def report(self, cause: Cause, name: str, result: Result, log: bytes | None) -> CheckRun:
        """A finished job of a workflow that nobody ran, for a test that needs a certain log."""
        run = self._new_run(cause, ".github/workflows/ci.yml", "CI")
        job = self._queue_job(run, JobPlan(name, (), {}, None))
        self.queue.remove(job)
        self._begin(job)
        if log is not None:
            job.log = self._log_path(job)
            job.log.parent.mkdir(parents=True, exist_ok=True)
            job.log.write_bytes(log)
        self._finish(job, result)
        return job.check

    def _start(self, cause: Cause, wanted: Callable[[Workflow], bool]) -> None:
        git = cause.repository.git
        for entry in git.entries(cause.sha, FOLDER):
            if not entry.path.endswith((".yml", ".yaml")):
                continue
            text = git.blob(entry.sha)
            try:
                workflow = read_workflow(entry.path, text)
            except Broken:
                if cause.event in (triggers_of(text) or {"push": {}}):
                    self._end_at_once(cause, entry.path, "startup_failure")
                continue
            except Unsupported as error:
                self._world.record.violate("workflow", entry.path, f"this runner does not know {error}")
                continue
            if wanted(workflow):
                self._start_one(cause, workflow)

    def _start_one(self, cause: Cause, workflow: Workflow) -> None:
        if cause.actor.login in self._world.state.ci_needs_approval:
            self._end_at_once(cause, workflow.path, "action_required")
            return
        run = self._new_run(cause, workflow.path, workflow.name)
        for plan in workflow.jobs:
            self._queue_job(run, plan)

    def _end_at_once(self, cause: Cause, path: str, verdict: str) -> None:
        run = self._new_run(cause, path, path)
        run.verdict = run.suite.verdict = verdict
        events.workflow_run(self._world, "completed", run)
        events.check_suite(self._world, "completed", run.suite, cause.actor)

    def _new_run(self, cause: Cause, path: str, name: str) -> WorkflowRun:
        world, repository = self._world, cause.repository
        branch = None if cause.pull is not None and cause.pull.is_from_fork else cause.branch
        actions = world.state.apps[ACTIONS_APP_ID]
        suite = checks.new_suite(world, repository, actions, (cause.sha, branch, cause.before))
        number = repository.run_numbers[path] = repository.run_numbers.get(path, 0) + 1
        now = world.clock.now_ms()
        run = WorkflowRun(
            id=world.state.new_id(),
            repository=repository,
            suite=suite,
            workflow_id=repository.workflow_ids.setdefault(path, world.state.new_id()),
            name=name,
            path=path,
            event=cause.event,
            run_number=number,
            actor=cause.actor,
            head_repository=cause.pull.head_repository if cause.pull is not None else repository,
            created_at=now,
            updated_at=now,
            started_at=now,
            attempts=[[]],
            pulls=[cause.pull] if cause.pull is not None else [],
        )
        world.state.runs[run.id] = run
        events.check_suite(world, "requested", suite, cause.actor)
        events.workflow_run(world, "requested", run)
        return run

    def _queue_job(self, run: WorkflowRun, plan: JobPlan) -> Job:
        world = self._world
        check = checks.new_check(world, run.suite, plan.name)
        number = check.id if world.options.id_rule else world.state.new_id()
        job = Job(number, run, check, run.attempt, plan)
        check.job = job
        check.details_url = f"{world.web_url}/{run.repository.full_name}/actions/runs/{run.id}/job/{job.id}"
        world.state.jobs[job.id] = job
        run.attempts[-1].append(job)
        self.queue.append(job)
        events.workflow_job(world, "queued", job)
        events.check_run(world, "created", check, run.actor)
        return job

    def _run_next(self) -> Job | None:
        with self._one_at_a_time:
            with self._world.transaction():
                if not self.queue or self._stopped:
                    return None
                job = self.queue.popleft()
                self._begin(job)
                work = Work(self._order(job), self._world.clock)
                self._running = (job, work)
            result = work.run()
            with self._world.transaction():
                self._running = None
                job.log = self._log_path(job)
                self._finish(job, result)
            return job

    def _begin(self, job: Job) -> None:
        now = self._world.clock.now_ms()
        first = all(other.check.status == "queued" for other in job.run.jobs)
        job.check.status, job.check.started_at = "in_progress", now
        job.run.updated_at = job.check.suite.updated_at = now
        events.workflow_job(self._world, "in_progress", job)
        if first:
            events.workflow_run(self._world, "in_progress", job.run)

    def _finish(self, job: Job, result: Result) -> None:
        world, run, now = self._world, job.run, self._world.clock.now_ms()
        job.steps = result.steps
        check = job.check
        check.status, check.conclusion, check.completed_at = "completed", result.conclusion, now
        check.started_at = check.started_at or now
        run.updated_at = run.suite.updated_at = now
        for name, file in result.artifacts.items():
            self.keep_artifact(run, name, file, now)
        events.check_run(world, "completed", check, run.actor)
        events.workflow_job(world, "completed", job)
        if run.status == "completed":
            events.workflow_run(world, "completed", run)
            events.check_suite(world, "completed", run.suite, run.actor)

    def keep_artifact(self, run: WorkflowRun, name: str, file: Path, at: int) -> None:
        world = self._world
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        artifact = Artifact(
            world.state.new_id(), run, name, file, digest, at, at + world.options.artifact_days * _DAY_MS
        )
        run.artifacts.append(artifact)
        world.state.artifacts[artifact.id] = artifact

    def _order(self, job: Job) -> Order:
        run, world = job.run, self._world
        facts = {
            "GITHUB_REPOSITORY": run.repository.full_name,
            "GITHUB_SHA": run.suite.head_sha,
            "GITHUB_REF_NAME": run.suite.head_branch or "",
            "GITHUB_REF": f"refs/heads/{run.suite.head_branch or ''}",
            "GITHUB_EVENT_NAME": run.event,
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_RUN_NUMBER": str(run.run_number),
            "GITHUB_RUN_ATTEMPT": str(job.attempt),
            "GITHUB_ACTOR": run.actor.login,
        }
        folder = world.folder / "artifacts" / str(job.id)
        limit_s = world.options.job_seconds
        return Order(job.plan, run.repository.git, run.suite.head_sha, facts, self._log_path(job), folder, limit_s)

    def _log_path(self, job: Job) -> Path:
        return self._world.folder / "logs" / f"{job.id}.txt"

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self.queue)
                if self._stopped:
                    return
            self._run_next()
