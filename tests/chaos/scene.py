"""The scene: the local GitHub with its CI, Remedy as a real process tree, and one small repository for each run."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import Engine, select

from app.ledger import publications
from app.ledger.engine import open_engine, read
from app.ledger.rows import Row
from app.ledger.schema import repositories, runs
from app.runs.model import Status
from tests.demo import shop
from tests.demo.stage import TIMES, Stage
from tests.journeys.quick import FILES
from tests.journeys.world import fix

AUTHOR = "ann"
MOST_RUNS = 200
WAIT = {"do": "sleep", "s": 0.5}
SCENARIO = {
    "plan": [[WAIT, "approve"]],
    "agent": [[{"do": "sleep", "s": 1}, fix(shop.SECOND_TRY)]],
    "review": [[WAIT, "approve"]],
    "final": [[WAIT, "good"]],
}
"""Every turn takes a moment, so that it can be killed at work."""
RESUME_S = 15
ROUGH = {"duplicate": 0.3, "miss": 0.1}


def name_of(n: int) -> str:
    return f"acme/listing-{n}"


class ChaosStage(Stage):
    """As the demo's, for many repositories; a person's patience is raised, and the writes that an hour may see: a
    repair takes two dozen, and here twenty of them end in six minutes."""

    def _environment(self) -> dict[str, str]:
        names = [name_of(n) for n in range(1, MOST_RUNS + 1)]
        return {
            **super()._environment(),
            "REMEDY_SANDBOX__I_ACCEPT_NO_ISOLATION": json.dumps(names),
            "REMEDY_LIMITS__RESTARTS": "20",
            "REMEDY_LIMITS__RUNNING": "4",
            "REMEDY_LIMITS__MUTANTS_S": "0",
            "REMEDY_LIMITS__PUBLICATION_TRIES": "20",
            "REMEDY_LIMITS__WRITES_AN_HOUR": "4000",
            "REMEDY_TIMES": json.dumps({**TIMES, "redelivery_s": 3, "ci_first_suite_s": 120}),
        }

    def rough_deliveries(self, seed: int) -> None:
        """From now on some deliveries come twice, some never, and those of one moment in any order."""
        self.github.shuffle_hooks(seed)
        for n, (how, share) in enumerate(ROUGH.items()):
            self.github.fault(where="hook", hook=how, times=None, p=share, seed=seed + n, optional=True)

    def told_of_deliveries(self) -> dict[str, int]:
        """How many there were, how many did not arrive at first, how many were asked for again."""
        told = self.github.deliveries()
        failed = {one.guid for one in told if not one.ok}
        return {"all": len({one.guid for one in told}), "failed": len(failed), "again": sum(o.redelivery for o in told)}

    @cached_property
    def engine(self) -> Engine:
        """The ledger, for looking only."""
        return open_engine(f"sqlite:///{self.folder / 'data' / 'remedy.db'}")


@dataclass
class Story:
    """One repository with one red pull request; `step` moves it on, and `state` says how far it is."""

    stage: Stage
    engine: Engine
    n: int
    state: str = "new"
    number: int = 0
    resumes: int = 0
    resumed_at: float = 0
    opened_at: float = field(default=0)

    @property
    def repo(self) -> str:
        return name_of(self.n)

    def step(self) -> None:
        """Whatever can be done now; never waits."""
        if self.state == "new":
            self._create()
        elif self.state == "main" and self._main_is_green():
            self._open()
        elif self.state == "red":
            self._look()

    def run(self) -> Row | None:
        """The newest run of the repository."""
        mine = select(runs).join(repositories).where(repositories.c.full_name == self.repo)
        with read(self.engine) as conn:
            return conn.execute(mine.order_by(runs.c.created_at.desc()).limit(1)).one_or_none()

    def pushed(self) -> int:
        """How many of its publications pushed."""
        run = self.run()
        if run is None:
            return 0
        with read(self.engine) as conn:
            return sum(1 for row in publications.of_run(conn, run.id) if row.pushed_sha)

    def _create(self) -> None:
        github = self.stage.github
        github.create_repo(self.repo, FILES)
        github.collaborator(self.repo, AUTHOR, "write")
        github.push(AUTHOR, self.repo, "main", {"README.md": f"# Listing {self.n}\n"})
        self.state = "main"

    def _main_is_green(self) -> bool:
        checks = self.stage.github.checks(self.repo, "main")
        return bool(checks) and all(check.conclusion == "success" for check in checks)

    def _open(self) -> None:
        self.stage.github.push(AUTHOR, self.repo, "one-page", shop.CHANGE)
        self.number = self.stage.github.open_pull(AUTHOR, self.repo, "one-page").thread.number
        self.state, self.opened_at = "red", time.monotonic()

    def _look(self) -> None:
        run = self.run()
        if run is None:
            return
        if run.status in (Status.COMPLETED, Status.CANCELLED):
            self.state = "over"
        elif run.status is Status.BLOCKED and time.monotonic() - self.resumed_at > RESUME_S:
            self.resumes, self.resumed_at = self.resumes + 1, time.monotonic()
            self.stage.github.comment(AUTHOR, f"{self.repo}#{self.number}", "/remedy resume")


def open_stage(scenario: Mapping[str, Any] = SCENARIO) -> ChaosStage:
    """Everything started; the caller closes it."""
    stage = ChaosStage(scenario)
    try:
        stage.open()
    except BaseException:
        stage.close()
        raise
    return stage
