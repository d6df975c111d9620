"""One repository with a policy, a green base, and pull requests that turn red with a given log."""

from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.ledger import diagnoses, repos
from app.ledger.rows import Row
from app.ledger.schema import runs
from tests.demo import shop
from tests.github import LocalGitHub
from tests.journeys.threads import logs
from tests.journeys.world import AUTHOR, GOOD, MAINTAINER, REPO, STRANGER, World

FORK = f"{STRANGER}/listing"
NO_AGENT = ("turn", "prove", "publish")


class Place:
    """`red_pull` proposes and fails; `settle` runs Remedy up to where an agent would start."""

    def __init__(
        self, folder: Path, policy: str | None = "enabled: true\n", *, green: bool = True, **settings: Any
    ) -> None:
        self.world = World(folder, GOOD, **{"limits": {"running": 100}, **settings})
        files: dict[str, Any] = {"listing/pages.py": shop.PAGES, "tests/test_pages.py": shop.TESTS}
        if policy is not None:
            files[".github/remedy.yml"] = policy
        self.github.create_repo(REPO, files)
        self.github.collaborator(REPO, AUTHOR, "write")
        self.github.collaborator(REPO, MAINTAINER, "write")
        if green:
            self.base("success")

    @property
    def github(self) -> LocalGitHub:
        return self.world.github

    def base(self, conclusion: str, log: str = "", name: str = "unit") -> Any:
        """CI of the main branch ends so."""
        return self.github.report_branch_job(MAINTAINER, REPO, "main", name=name, conclusion=conclusion, log=log)

    def pull(self, branch: str = "feature", user: str = AUTHOR, files: dict[str, Any] | None = None) -> int:
        """A pull request; CI has not spoken yet. Its number."""
        self.github.push(user, REPO, branch, files or {f"{branch}.txt": branch})
        return int(self.github.open_pull(user, REPO, branch).thread.number)

    def fork_pull(self, branch: str = "patch-1", files: dict[str, Any] | None = None) -> int:
        """A pull request of a stranger from a fork of hers; its number."""
        self.github.fork(STRANGER, REPO)
        self.github.push(STRANGER, FORK, branch, files or {"feature.txt": "mine"})
        return int(self.github.open_pull(STRANGER, REPO, f"{STRANGER}:{branch}").thread.number)

    def fail(self, number: int, log: str | None = None, name: str = "unit") -> Any:
        """A job on the head of the pull request fails with this log."""
        text = logs.red() if log is None else log
        return self.github.report_job(self.thread(number), name=name, conclusion="failure", log=text)

    def red_pull(self, log: str | None = None, branch: str = "feature", user: str = AUTHOR) -> int:
        number = self.pull(branch, user)
        self.fail(number, log)
        return number

    def thread(self, number: int) -> str:
        return f"{REPO}#{number}"

    def settle(self, most: int = 300) -> None:
        """Run all jobs but those of an agent, moving the clock to what waits for a time."""
        for _ in range(most):
            self.github.settle()
            job = next((one for one in self.world.ready() if one[0] not in NO_AGENT), None)
            if job is not None:
                self.world.run(*job)
            elif not self._later():
                return
        raise AssertionError(f"it never ends: {self.world.did[-20:]}")

    def settle_to(self, kind: str) -> None:
        """Run everything until a job of this kind is ready."""
        while not any(job == kind for job, _ in self.world.ready()):
            self.github.settle()
            job = next((one for one in self.world.ready() if one[0] not in NO_AGENT), None)
            if job is not None:
                self.world.run(*job)
            elif not self._later():
                raise AssertionError(f"{kind} never became ready")

    def _later(self) -> bool:
        for seconds in (1, 5, 30, 90, 400, 4000):
            if any(job not in NO_AGENT for job, _ in self.world.ready(seconds)):
                self.world.pass_time(seconds)
                return True
        return False

    # What people see

    def comments(self, number: int) -> list[str]:
        login = f"{self.github.app.slug}[bot]"
        return [comment.body for comment in self.github.comments(self.thread(number), login)]

    def check(self, number: int) -> Any:
        """Our one check on the head, or None."""
        ours = self.github.our_checks(self.thread(number))
        assert len(ours) <= 1, f"{len(ours)} checks of ours on one head"
        return ours[0] if ours else None

    def issues(self, state: str = "all") -> list[Any]:
        return list(self.github.issues(REPO, state))

    def outcome(self, number: int) -> str | None:
        return self.world.outcome_of(number)

    def causes(self, number: int) -> list[str]:
        """The causes of the newest diagnosis, in its order."""
        with self.world.services.read() as conn:
            told = diagnoses.last(conn, self.world.scope(number).id)
            assert told is not None
            return [group.cause.value for group in diagnoses.groups_of(conn, told.id)]

    def runs(self) -> list[Row]:
        """All runs, oldest first."""
        with self.world.services.read() as conn:
            return list(conn.execute(select(runs).order_by(runs.c.id)).all())

    def scope_of(self, run: Row) -> Row:
        with self.world.services.read() as conn:
            found = repos.get_scope(conn, run.scope_id)
        assert found is not None
        return found
