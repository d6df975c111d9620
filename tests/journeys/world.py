"""One Remedy and one local GitHub in one process, with queues that are stepped and a clock that is moved.

The queue is the ledger's own list of what is ready: no Redis is needed, and a race is a list of lines. Agents are real
processes in the sandbox, git is real git over HTTP, CI really runs pytest.
"""

import importlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from app.github.calls import Pace
from app.github.client import Client
from app.ledger import diagnoses, ready, repos, runs, turns
from app.ledger.rows import Row
from app.main import create_app
from app.services import Services, use
from app.settings import Settings
from tests.agents.install import QA, install_qa
from tests.databases import a_ledger
from tests.demo import shop
from tests.github import LocalGitHub, Options

REPO = "acme/listing"
AUTHOR, MAINTAINER, STRANGER = "ann", "mo", "eve"
TIMES = {
    "quiet_s": 2,
    "siblings_s": 20,
    "comment_pace_s": 0,
    "write_pace_s": 0,
    "ci_poll_s": 5,
    "ci_first_suite_s": 20,
    "remote_poll_s": 4,
    "push_quiet_s": 0,
}
HORIZON_S = (1, 5, 30, 90)
MOST_STEPS = 400
OTHER = os.environ.get("JOURNEYS_GITHUB") == "other"
"""All journeys pass at a GitHub with the newer API version too, where a job's id is not its check's (D-12, D-28)."""
GITHUB = Options(auto_ci=False, id_rule=not OTHER)
API_VERSION = "2026-03-10" if OTHER else "2022-11-28"

Edits = Sequence[tuple[str, str, str]]


def fix(edits: Edits, summary: str = "Count a full last page once") -> dict[str, Any]:
    """A move of the QA agent: these edits, one commit, and a report about it."""
    changes = [{"path": path, "find": find, "replace": replace} for path, find, replace in edits]
    report = f"{summary}\nCause: the division.\nChange: it rounds up.\nChecked: ran the tests.\nOpen: none"
    return {"do": "fix", "edits": changes, "summary": report}


GOOD = {"agent": [fix(shop.SECOND_TRY)]}
"""One right fix at once."""


class World:
    """`world.step_until_quiet()` runs everything that is ready; verbs of people and of GitHub are on `world.github`.

    With `pages=True` people can sign in, and texts link to the pages.
    """

    def __init__(self, folder: Path, scenario: Mapping[str, Any] = GOOD, **settings: Any) -> None:
        self.offset_ms = 0
        self.folder = folder
        self.github = LocalGitHub(self.now, options=settings.pop("options", GITHUB))
        self.github.app.callback_urls = ["https://remedy.example/signin/callback"]
        self.github.start()
        self.scenario(scenario)
        self.settings = self._settings(settings)
        engine = a_ledger(self.settings.database)
        self.services = Services(
            self.settings, engine, lambda job, item: None, self._connect, clock=self.now, sleep=self.pass_time
        )
        use(self.services)
        self.web = TestClient(create_app(self.settings, self.now))
        self.web.__enter__()
        self.github.receive_with(self._deliver)
        self.did: list[tuple[str, str]] = []

    def _settings(self, more: Mapping[str, Any]) -> Settings:
        app = self.github.app
        values: dict[str, Any] = {
            "data": self.folder / "data",
            "RUNNERS_DIR": self.folder / "runners",
            "DATABASE_URL": "",
            "REDIS_URL": "redis://127.0.0.1:9/0",
            "url": "https://remedy.example",
            "app_id": app.id,
            "app_slug": app.slug,
            "private_key": app.pem,
            "webhook_secret": app.webhook_secret,
            "secret_key": "journeys-only",
            "onboarding": False,
            "agent": QA,
            "supervisor": QA,
            "self_repair": False,
            "github": {
                "api_url": self.github.api_url,
                "web_url": self.github.web_url,
                "api_version": more.get("api_version", API_VERSION),
            },
            "times": TIMES,
            "limits": {"mutants_s": 0},
            "sandbox": {"i_accept_no_isolation": [REPO]},
        }
        if more.get("pages"):
            values |= {"client_id": app.client_id, "client_secret": app.client_secret}
        return Settings(
            **{**values, **{name: value for name, value in more.items() if name not in ("api_version", "pages")}}
        )

    def scenario(self, scenario: Mapping[str, Any]) -> None:
        """What the agents will do from now on."""
        install_qa(self.folder / "runners", scenario)

    def close(self) -> None:
        """End it all; raises AssertionError if a rule of GitHub was broken or a fault met nothing."""
        use(None)
        try:
            self.github.settle()
            self.github.verify()
        finally:
            self.web.__exit__(None, None, None)
            self.services.engine.dispose()
            self.github.stop()

    def now(self) -> int:
        return time.time_ns() // 1_000_000 + self.offset_ms

    def pass_time(self, seconds: float) -> None:
        self.offset_ms += int(seconds * 1000)

    def _connect(self, installation_id: int) -> Client:
        return Client(self.settings, installation_id, pace=Pace(self.now, self.pass_time))

    def _deliver(self, headers: Mapping[str, str], body: bytes) -> int:
        return self.web.post("/webhook", content=body, headers=dict(headers)).status_code

    # What runs

    def ready(self, later_s: float = 0) -> list[tuple[str, str]]:
        """The doorbells that would be rung now, or after some seconds."""
        with self.services.write() as conn:
            return ready.due(conn, self.now() + int(later_s * 1000), 0)

    def step(self, only: str = "") -> tuple[str, str] | None:
        """Run one ready job (of this kind); None when there is none."""
        for job, item in self.ready():
            if only in ("", job):
                self.run(job, item)
                return job, item
        return None

    def run(self, job: str, item: str) -> str:
        """Run one job as a worker would."""
        self.did.append((job, item))
        function: Callable[[str], str] = getattr(importlib.import_module(f"jobs.{job}"), job)
        return function(item)

    def step_to(self, job: str) -> str:
        """Run everything until a job of this kind is ready; its id."""
        for _ in range(MOST_STEPS):
            waiting = self.ready()
            found = next((item for name, item in waiting if name == job), None)
            if found is not None:
                return found
            if not waiting and not self._something_later():
                break
            for name, item in waiting[:1]:
                self.run(name, item)
        raise AssertionError(f"{job} never became ready; did {self.did[-12:]}")

    def step_until_quiet(self) -> None:
        """Run jobs and CI until nothing is left to do, moving the clock to what waits for a time."""
        for _ in range(MOST_STEPS):
            self.github.settle()
            if self.step() is None and not self.github.run_ci() and not self._something_later():
                return
        raise AssertionError(f"it never ends: {self.did[-20:]}")

    def _something_later(self) -> bool:
        for seconds in HORIZON_S:
            if self.ready(seconds):
                self.pass_time(seconds)
                return True
        return False

    # What is seen

    def scope(self, number: int) -> Row:
        with self.services.read() as conn:
            repository = repos.find_repository(conn, self._installation(conn), REPO)
            assert repository is not None
            found = repos.find_scope(conn, repository.id, f"pr:{number}")
        assert found is not None, "Remedy does not know this pull request"
        return found

    def _installation(self, conn: Any) -> int:
        return int(conn.exec_driver_sql("SELECT id FROM installations").scalar_one())

    def run_of(self, number: int) -> Row | None:
        """The newest run of a pull request."""
        with self.services.read() as conn:
            return runs.last(conn, self.scope(number).id)

    def turns_of(self, number: int) -> Sequence[Row]:
        run = self.run_of(number)
        assert run is not None
        with self.services.read() as conn:
            return turns.of_run(conn, run.id)

    def outcome_of(self, number: int) -> str | None:
        with self.services.read() as conn:
            told = diagnoses.last(conn, self.scope(number).id)
        return None if told is None or told.outcome is None else told.outcome.value
