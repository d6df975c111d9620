"""Where the journeys run: one machine with SQLite, or with `JOURNEYS=postgresql` several with PostgreSQL and Redis."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx

from tests.demo.stage import free_port
from tests.journeys.tree import FAST, T, Tree
from tests.postgres import a_database, postgres_server
from tests.redis_server import redis_server

SEVERAL = os.environ.get("JOURNEYS") == "postgresql"
TREE_S = 1200 if SEVERAL else 240
"""Twice the processes on the same cores."""
SLOWER = {**FAST, "lease_s": 8, "renew_s": 2}
_server: list[str] = []


@contextmanager
def running() -> Iterator[None]:
    """PostgreSQL for all journeys of this process, if they are to run on it."""
    if not SEVERAL:
        yield
        return
    with postgres_server() as url:
        _server.append(url)
        yield
        _server.clear()


@contextmanager
def database_url() -> Iterator[str]:
    """A new database; empty for a SQLite file in the data folder."""
    if not _server:
        yield ""
        return
    with a_database(_server[0]) as url:
        yield url


class Machines(Tree):
    """Two machines: 2 web processes, 4 workers and the sweep, PostgreSQL, a Redis of the operator's, shared evidence.

    GitHub's deliveries come to either web process in turn, as through a proxy.
    """

    def open(self) -> None:
        """The servers first, then the processes of both machines."""
        self.stack, self.second_port, self.turn = ExitStack(), free_port(), 0
        self.database = self.stack.enter_context(database_url())
        if not self.redis_url:
            self.redis_url = self.stack.enter_context(redis_server()).url
        for machine in ("data", "second"):
            (self.folder / machine).mkdir(mode=0o711)
        (self.folder / "data" / "evidence").mkdir()
        (self.folder / "second" / "evidence").symlink_to(self.folder / "data" / "evidence")
        super().open()

    def command(self) -> tuple[str, ...]:
        return (sys.executable, "-m", "tests.journeys.machines", str(self.second_port), str(self.folder / "second"))

    def started(self) -> None:
        self.github.receive_with(self._deliver)

    def _deliver(self, headers: Mapping[str, str], body: bytes) -> int:
        self.turn += 1
        url = self.url if self.turn % 2 else f"http://127.0.0.1:{self.second_port}"
        return httpx.post(f"{url}/webhook", content=body, headers=dict(headers), timeout=10).status_code

    def _answers(self) -> bool:
        second = f"http://127.0.0.1:{self.second_port}/readyz"
        try:
            return super()._answers() and httpx.get(second, timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    def _environment(self) -> dict[str, str]:
        return {
            **super()._environment(),
            "DATABASE_URL": self.database,
            "REDIS_URL": self.redis_url,
            "REMEDY_TIMES": json.dumps(SLOWER),
        }

    def wait(self, what: str, look: Callable[[], T], seconds: float = 120) -> T:
        return super().wait(what, look, max(seconds, 400))

    def close(self) -> None:
        super().close()
        self.stack.close()


def a_tree(scenario: Mapping[str, Any]) -> Tree:
    """The process tree of this place."""
    return Machines(scenario) if SEVERAL else Tree(scenario)
