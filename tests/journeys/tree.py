"""The real process tree beside a local GitHub, for journeys that kill its processes one by one."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from app.runs import model
from app.services import Services, make
from app.settings import Settings
from tests.demo import shop
from tests.demo.stage import REPO, TIMES, Stage
from tests.journeys import quick
from tests.journeys.world import AUTHOR, fix
from tests.processes import children_of, command_of, wait_for

T = TypeVar("T")

PARTS = {
    "redis": "redis-server",
    "web": "-m app.cli web",
    "quick": "-m jobs.worker quick",
    "long": "-m jobs.worker long",
    "sweep": "-m jobs.worker sweep",
}
FAST = {**TIMES, "lease_s": 2.5, "renew_s": 0.6, "sweep_s": 0.3, "rering_s": 4}
"""A dead worker's work is taken over after seconds."""
SLOW_AGENT = {"agent": [[{"do": "sleep", "s": 4}, fix(shop.SECOND_TRY)]]}
"""At work long enough to be killed there."""


class Tree(Stage):
    """`remedy up` with short waits and quick proofs."""

    redis_url = ""
    """Of a Redis of the operator's own; empty: `remedy up` starts one."""
    database = ""
    """Empty: a SQLite file in the data folder."""
    _services: Services | None = None

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "REMEDY_TIMES": json.dumps(FAST), "REDIS_URL": self.redis_url}

    def wait(self, what: str, look: Callable[[], T], seconds: float = 120) -> T:
        """Patient: a loaded machine is no fault of Remedy's."""
        return super().wait(what, look, max(seconds, 120))

    def prepare(self) -> None:
        """A repository with a green main branch."""
        self.github.create_repo(REPO, quick.FILES)
        self.github.collaborator(REPO, AUTHOR, "write")
        self.github.push(AUTHOR, REPO, "main", {"README.md": "# Listing\n\nPages of a list.\n"})
        self.wait("CI of main", lambda: self.ci("main") == "success")

    def red_pull(self) -> int:
        """Ann's change is red, and every delivery about it was answered."""
        self.github.push(AUTHOR, REPO, "one-page-minimum", shop.CHANGE)
        pull = self.github.open_pull(AUTHOR, REPO, "one-page-minimum")
        self.wait("a red check", lambda: self.ci("one-page-minimum") == "failure")
        self.github.settle()
        return int(pull.thread.number)

    def ci(self, branch: str) -> str | None:
        runs = self.github.checks(REPO, branch, "unit")
        return runs[-1].conclusion if runs else None

    def run_at(self, number: int) -> Mapping[str, Any]:
        return self.status(number)["run"] or {}

    def wait_for_stage(self, number: int, stage: model.Stage) -> None:
        """Until the run is at this stage or beyond it: a quick one is over before anybody looks."""
        order = list(model.Stage)
        reached = order[order.index(stage) :]
        self.wait(f"stage {stage}", lambda: self.run_at(number).get("stage") in reached)

    def wait_until_completed(self, number: int) -> None:
        self.wait("the end of the run", lambda: self.run_at(number).get("status") == "COMPLETED")
        self.wait("the last letter", lambda: self.github.our_checks(f"{REPO}#{number}")[-1].conclusion)

    def pids_of(self, part: str) -> list[int]:
        """The children of `remedy up` that do this."""
        found = [pid for pid in children_of(self.remedy.pid) if PARTS[part] in command_of(pid)]
        return [pid for pid in found if "tether.py" not in command_of(pid)]

    def kill(self, part: str) -> None:
        """SIGKILL for every process of this part; others take their places."""
        killed = wait_for(lambda: self.pids_of(part))
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: len(set(self.pids_of(part)) - set(killed)) >= len(killed), 60, f"no new {part}")

    @contextmanager
    def stopped(self, part: str) -> Iterator[None]:
        """Frozen while the block runs."""
        pids = wait_for(lambda: self.pids_of(part))
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def services(self) -> Services:
        """For looking into its ledger."""
        if self._services is None:
            self._services = make(Settings(data=self.folder / "data", DATABASE_URL=self.database))
        return self._services

    def close(self) -> None:
        super().close()
        if self._services is not None:
            self._services.engine.dispose()
