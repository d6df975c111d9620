"""Checks and their buttons, and the CI: run it, report for it, run it again."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from tests.github import events
from tests.github.acts import checks, manifest
from tests.github.core.ci import CheckRun, WorkflowRun
from tests.github.core.state import App, User
from tests.github.runner.job import Result
from tests.github.runner.queue import Cause
from tests.github.verbs.verb import CheckName, RepositoryName, ThreadName, Verbs, free_verb, reading, verb


@dataclass(frozen=True)
class Report:
    """How a job ended that nobody ran. `log=None`: it never had one (F-A4)."""

    name: str = "test"
    conclusion: str = "failure"
    log: bytes | str | None = ""


class CiVerbs(Verbs):
    """A check is the object or its id."""

    @free_verb
    def run_ci(self, limit: int | None = None) -> list[CheckRun]:
        """Really run what is queued, one job after the other; the check runs in order."""
        return self.world.runner.run(limit)

    @verb
    def report_job(self, pull: ThreadName, report: Report | None = None, **facts: str) -> CheckRun:
        """An Actions job on a pull request's head that ends as told: `name`, `conclusion`, `log` (or a Report)."""
        found = self._pull(pull)
        told = report or Report(**facts)
        cause = Cause("pull_request", found.repository, found.head_sha, found.head_ref, None, found.thread.user, found)
        return self._report(cause, told)

    @verb
    def report_branch_job(self, user: User | str, repo: RepositoryName, branch: str, **facts: str) -> CheckRun:
        """The same for a push to a branch."""
        repository = self._repository(repo)
        sha = repository.git.refs()[f"refs/heads/{branch}"]
        cause = Cause("push", repository, sha, branch, None, self._user(user))
        return self._report(cause, Report(**facts))

    @verb
    def foreign_check(
        self, repo: RepositoryName, sha: str, name: str, conclusion: str, app: str = "Other CI"
    ) -> CheckRun:
        """A finished check of somebody else's app: there is no job behind it (F-A1)."""
        repository, owner = self._repository(repo), self._foreign(app)
        branch = checks.branch_of(repository, sha)
        check = checks.new_check(self.world, checks.suite_for(self.world, repository, owner, sha, branch), name)
        events.check_run(self.world, "created", check, owner.bot)
        output = {"title": name, "summary": f"{name}: {conclusion}"}
        checks.apply(self.world, check, {"conclusion": conclusion, "output": output}, owner.bot)
        return check

    @verb
    def click(self, user: User | str, check: CheckName, identifier: str) -> None:
        """A button of the check; only its app hears it. Raises ValueError when the check shows no such button."""
        found = self._check(check)
        if identifier not in [action["identifier"] for action in found.actions]:
            raise ValueError(f"{found.name} has no button {identifier}: {found.actions}")
        events.check_run(self.world, "requested_action", found, self._user(user), identifier)

    @verb
    def rerequest(self, user: User | str, check: CheckName) -> None:
        """Re-run of one check: a job runs again, an app hears `rerequested` and resets nothing itself (F-C12)."""
        found, actor = self._check(check), self._user(user)
        if found.job is not None:
            self.world.runner.rerun(found.job.run, [found.job], actor)
            return
        found.suite.asked_again = True
        events.check_run(self.world, "rerequested", found, actor)

    @verb
    def rerequest_all(self, user: User | str, check: CheckName) -> None:
        """Re-run all of an app's suite."""
        suite = self._check(check).suite
        suite.asked_again = True
        events.check_suite(self.world, "rerequested", suite, self._user(user))

    @verb
    def rerun(self, user: User | str, run: WorkflowRun | int, *, failed_only: bool = True) -> None:
        """Re-run a workflow run as the page of Actions does."""
        found = self._run(run)
        jobs = [job for job in found.jobs if not failed_only or job.check.conclusion != "success"]
        self.world.runner.rerun(found, jobs, self._user(user))

    @verb
    def cancel_ci(self, run: WorkflowRun | int) -> None:
        self.world.runner.cancel(self._run(run))

    @verb
    def hold_log(self, check: CheckName, asks: int) -> None:
        """The next `asks` requests for the job's log answer 404 (D-29)."""
        self._job(check).log_not_ready = asks

    @verb
    def expire_log(self, check: CheckName) -> None:
        """The log answers 410 from now on."""
        self._job(check).log_expired = True

    @verb
    def expire_artifacts(self, run: WorkflowRun | int) -> None:
        for artifact in self._run(run).artifacts:
            artifact.expires_at = self.world.clock.now_ms()

    @verb
    def upload(self, check: CheckName, name: str, files: Mapping[str, str]) -> None:
        """Artifact `name` of the job behind a check, uploaded at its end."""
        job = self._job(check)
        folder = self.world.folder / "artifacts" / str(job.id)
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{name}.zip"
        with zipfile.ZipFile(target, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        self.world.runner.keep_artifact(job.run, name, target, self._check(check).completed_at)

    @verb
    def annotate(self, check: CheckName, path: str, line: int, message: str, title: str = "") -> None:
        """A remark of the runner on a line of a file."""
        row = {"path": path, "start_line": line, "end_line": line, "annotation_level": "failure"}
        self._check(check).annotations.append({**row, "title": title, "message": message})

    @verb
    def ci_needs_approval(self, login: str) -> None:
        """What this person or bot pushes waits as `action_required` (F-A11), until `approve_ci`."""
        self.world.state.ci_needs_approval.add(login)

    @reading
    def queued_jobs(self) -> list[str]:
        return [job.check.name for job in self.world.runner.queue]

    def _report(self, cause: Cause, told: Report) -> CheckRun:
        log = told.log.encode() if isinstance(told.log, str) else told.log
        return self.world.runner.report(cause, told.name, Result(told.conclusion), log)

    def _job(self, check: CheckName):  # type: ignore[no-untyped-def]
        job = self._check(check).job
        if job is None:
            raise LookupError("this check has no job")
        return job

    def _foreign(self, name: str) -> App:
        for app in self.world.state.apps.values():
            if app.name == name:
                return app
        ours = self.world.state.apps[self.world.app_id]
        return manifest.new_app(self.world, self.world.state.user("other-vendor"), name, {}, pem=ours.pem)
