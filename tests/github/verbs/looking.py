"""What a test looks at: threads, checks, requests, deliveries, a snapshot of everything."""

from typing import Any

from tests.github.core.ci import CheckRun, WorkflowRun
from tests.github.core.record import Asked, Violation
from tests.github.core.state import Comment, Pull, Repository, Thread
from tests.github.hooks import Delivery
from tests.github.referee import objections
from tests.github.verbs.verb import RepositoryName, ThreadName, Verbs, free_verb, reading


class LookingVerbs(Verbs):
    @reading
    def pull(self, thread: ThreadName) -> Pull:
        return self._pull(thread)

    @reading
    def thread(self, thread: ThreadName) -> Thread:
        return self._thread(thread)

    @reading
    def pulls(self, repo: RepositoryName, state: str = "all") -> list[Pull]:
        return [pull for pull in self._repository(repo).pulls if state in ("all", pull.state)]

    @reading
    def issues(self, repo: RepositoryName, state: str = "all") -> list[Thread]:
        """Issues that are no pull requests, by number."""
        threads = self._repository(repo).threads.values()
        return [thread for thread in threads if thread.pull is None and state in ("all", thread.state)]

    @reading
    def comments(self, thread: ThreadName, by: str | None = None) -> list[Comment]:
        """Oldest first; `by` one login."""
        return [comment for comment in self._thread(thread).comments if by in (None, comment.user.login)]

    @reading
    def checks(self, repo: RepositoryName, ref: str, name: str | None = None) -> list[CheckRun]:
        """Check runs of a commit or branch by every app, oldest first."""
        repository = self._repository(repo)
        sha = repository.git.resolve(ref) or ref
        found = [run for suite in self.world.state.suites_of(repository, sha) for run in suite.runs]
        return sorted((run for run in found if name in (None, run.name)), key=lambda run: run.id)

    @reading
    def check(self, thread: ThreadName, name: str) -> CheckRun | None:
        """The newest check run of this name on a pull request's head."""
        pull = self._pull(thread)
        found = self.checks(pull.repository, pull.head_sha, name)
        return found[-1] if found else None

    @reading
    def our_checks(self, thread: ThreadName) -> list[CheckRun]:
        """What the app under test has put on a pull request's head."""
        pull = self._pull(thread)
        return [run for run in self.checks(pull.repository, pull.head_sha) if run.app.id == self.world.app_id]

    @reading
    def workflow_runs(self, repo: RepositoryName, sha: str | None = None) -> list[WorkflowRun]:
        repository = self._repository(repo)
        runs = self.world.state.runs.values()
        return [run for run in runs if run.repository is repository and sha in (None, run.suite.head_sha)]

    @reading
    def job_log(self, check: CheckRun | int) -> str:
        """The log of a check's job as the store gives it; empty if there is none."""
        job = self._check(check).job
        return job.log.read_text(encoding="utf-8") if job is not None and job.log is not None else ""

    @reading
    def log(self, op: str | None = None, *, writes_only: bool = False) -> list[Asked]:
        """Requests in order, git included (`op` is `git`)."""
        asked = list(self.world.record.asked)
        return [one for one in asked if op in (None, one.operation) and (one.is_write or not writes_only)]

    @reading
    def deliveries(self, event: str | None = None, action: str | None = None) -> list[Delivery]:
        """Webhook deliveries in order, those without a receiver included."""
        log = list(self.world.hooks.log)
        return [one for one in log if event in (None, one.event) and action in (None, one.action)]

    @reading
    def violations(self) -> list[Violation]:
        return list(self.world.record.violations)

    @free_verb
    def settle(self) -> None:
        """Wait until every webhook has arrived, those that a fault delays included."""
        self.world.hooks.settle(release=True)

    @reading
    def snapshot(self) -> dict[str, Any]:
        """All that can be seen, as plain data: branches, threads, checks, CI."""
        with self.world.lock:
            return {repo.full_name: self._of_repository(repo) for repo in self.world.state.repositories.values()}

    def complaints(self) -> list[str]:
        """Broken rules, expectations and faults that met nothing."""
        return [*self.world.record.complaints(), *self.world.faults.complaints()]

    def verify(self) -> None:
        """Raise AssertionError with every complaint (D-16, D-34) and objection (D-43)."""
        told = self.world.record.told.values()
        found = self.complaints() + objections(one for some in told for one in some)
        if found:
            raise AssertionError("the local GitHub complains:\n" + "\n".join(found))

    def _of_repository(self, repository: Repository) -> dict[str, Any]:
        suites = [suite for suite in self.world.state.suites.values() if suite.repository is repository]
        return {
            "branches": {ref.removeprefix("refs/heads/"): sha for ref, sha in repository.git.refs().items()},
            "threads": {number: _of_thread(thread) for number, thread in repository.threads.items()},
            "checks": [_of_check(run) for suite in suites for run in suite.runs],
            "queued": [job.check.name for job in self.world.runner.queue if job.run.repository is repository],
        }


def _of_thread(thread: Thread) -> dict[str, Any]:
    pull = thread.pull
    shown: dict[str, Any] = {
        "title": thread.title,
        "state": thread.state,
        "body": thread.body,
        "author": thread.user.login,
        "labels": [label.name for label in thread.labels],
        "comments": [{"id": one.id, "author": one.user.login, "body": one.body} for one in thread.comments],
    }
    if pull is not None:
        shown |= {
            "head": f"{pull.head_repository.full_name}:{pull.head_ref}",
            "head_sha": pull.head_sha,
            "base": pull.base_ref,
            "draft": pull.draft,
            "merged": pull.merged_at is not None,
        }
    return shown


def _of_check(run: CheckRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "app": run.app.slug,
        "name": run.name,
        "sha": run.head_sha,
        "status": run.status,
        "conclusion": run.conclusion,
        "title": run.title,
        "actions": [action["identifier"] for action in run.actions],
    }
