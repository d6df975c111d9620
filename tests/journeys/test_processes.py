"""`remedy up` as an operator sees it: real processes that are killed, and a tree that dies together.

The deliveries are about installations, which Remedy handles from its own database: no GitHub is needed here.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from redis import Redis
from sqlalchemy import select

from app.ledger.engine import open_engine, read
from app.ledger.schema import deliveries, installations
from tests.journeys.place import TREE_S, database_url
from tests.processes import children_of, command_of, is_running, tree_of, wait_for
from tests.redis_server import redis_server
from tests.unit.web.conftest import SECRET, sign

pytestmark = [pytest.mark.slow, pytest.mark.timeout(TREE_S)]

ROOT = Path(__file__).parents[2]
PARTS = {
    "redis": "redis-server",
    "web": "-m app.cli web",
    "quick": "-m jobs.worker quick",
    "long": "-m jobs.worker long",
    "sweep": "-m jobs.worker sweep",
}


class Up:
    """One `remedy up` on a data folder of its own."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("REMEDY_", "REDIS_URL"))},
            "REMEDY_DATA": str(data),
            "REMEDY_PORT": str(self.port),
            "REMEDY_APP_ID": "4711",
            "REMEDY_WEBHOOK_SECRET": SECRET,
            "REMEDY_LONG_WORKERS": "1",
            "REMEDY_GITHUB__API_URL": "http://127.0.0.1:9",
            "REMEDY_TIMES__SWEEP_S": "0.2",
            "REMEDY_TIMES__RERING_S": "1",
            **settings,
        }
        self.database = self.env.get("DATABASE_URL") or f"sqlite:///{data / 'remedy.db'}"
        self.process = self.start()

    def start(self) -> "subprocess.Popen[str]":
        log = (self.data / "up.out").open("a")
        argv = [sys.executable, "-m", "app.cli", "up"]
        with log:
            return subprocess.Popen(argv, cwd=ROOT, env=self.env, stdout=log, stderr=log, text=True)

    def said(self) -> str:
        return (self.data / "up.out").read_text()

    def wait_until_up(self) -> None:
        def is_up() -> bool:
            assert self.process.poll() is None, self.said()
            return all(self.pid_of(part) for part in PARTS if part != "redis") and self.is_ready()

        wait_for(is_up, within_s=90, why="remedy up did not come up")

    def is_ready(self) -> bool:
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port}/readyz", timeout=5)
        except httpx.HTTPError:
            return False
        told = answer.json()
        return bool((told["database"], told["redis"]) == ("ok", "ok"))

    def pid_of(self, part: str) -> int:
        """The child that does this, or 0 while there is none."""
        found = [pid for pid in children_of(self.process.pid) if PARTS[part] in command_of(pid)]
        ready = [pid for pid in found if "tether.py" not in command_of(pid)]
        return ready[0] if ready else 0

    def deliver(self, guid: str, installation_id: int) -> int:
        """The status with which `installation.created` is answered."""
        account = {"id": 5, "login": "acme"}
        body = json.dumps({"action": "created", "installation": {"id": installation_id, "account": account}}).encode()
        headers = {
            "content-type": "application/json",
            "x-github-event": "installation",
            "x-github-delivery": guid,
            "x-hub-signature-256": sign(body),
        }
        return httpx.post(
            f"http://127.0.0.1:{self.port}/webhook", content=body, headers=headers, timeout=30
        ).status_code

    def states(self) -> dict[str, str]:
        """State of each delivery by guid."""
        engine = open_engine(self.database)
        with read(engine) as conn:
            rows = conn.execute(select(deliveries.c.guid, deliveries.c.state)).all()
        engine.dispose()
        return {row.guid: row.state.value for row in rows}

    def wait_until_handled(self, guid: str) -> None:
        wait_for(lambda: self.states().get(guid) == "HANDLED", within_s=60, why=f"{guid} is not handled\n{self.said()}")

    def kill(self, part: str) -> int:
        pid = wait_for(lambda: self.pid_of(part))
        os.kill(pid, signal.SIGKILL)
        return pid


@contextmanager
def a_folder() -> Iterator[Path]:
    """A data folder with a short path (a Unix socket has 107 bytes) that other users may search."""
    with tempfile.TemporaryDirectory(prefix="up-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@contextmanager
def remedy_up(**settings: str) -> Iterator[Up]:
    with a_folder() as folder, database_url() as database:
        up = Up(folder, DATABASE_URL=database, **settings)
        try:
            up.wait_until_up()
            yield up
        finally:
            up.process.kill()
            up.process.wait()


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with remedy_up() as up:
        yield up


class TestOneTree:
    def test_a_delivery_is_accepted_and_handled(self, up: Up) -> None:
        assert up.deliver("hello", 1) == 202
        up.wait_until_handled("hello")

    def test_it_says_what_runs(self, up: Up) -> None:
        """UX-T4: nobody looks, so one event per line, without colour codes."""
        said = up.said()
        assert said.startswith("remedy up  ")
        for line in ("ok    queue      started", "ok    web        listens on", "ok    worker     2 started"):
            assert line in said
        assert "\x1b" not in said

    @pytest.mark.parametrize("part", PARTS)
    def test_a_killed_child_is_replaced_and_nothing_is_lost(self, up: Up, part: str) -> None:
        """Issue 2, ST-S2: at any moment, and then again."""
        killed = up.kill(part)
        wait_for(lambda: up.pid_of(part) not in {0, killed}, within_s=60)
        wait_for(lambda: up.deliver(f"after-{part}", 100 + list(PARTS).index(part)) == 202 if up.is_ready() else False)
        up.wait_until_handled(f"after-{part}")

    def test_cr_1_the_web_process_dies_between_accept_and_intake(self, up: Up) -> None:
        """The worker is stopped, so nothing but the row knows of the delivery when the web process dies."""
        quick = wait_for(lambda: up.pid_of("quick"))
        os.kill(quick, signal.SIGSTOP)
        try:
            assert up.deliver("orphan", 7) == 202
            killed = up.kill("web")
            assert up.states()["orphan"] == "RECEIVED"
            wait_for(lambda: up.pid_of("web") not in {0, killed} and up.is_ready(), within_s=60)
            assert up.deliver("orphan", 7) == 202
        finally:
            os.kill(quick, signal.SIGCONT)
        up.wait_until_handled("orphan")
        assert self.installations(up).count(7) == 1

    def test_s41_redis_is_private(self, up: Up) -> None:
        folder = up.data / "redis"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert all(path.stat().st_mode & 0o077 == 0 for path in up.data.glob("remedy.db"))
        with Redis.from_url(f"unix://{folder / 'redis.sock'}") as redis:
            for name, value in (("port", "0"), ("appendonly", "yes"), ("maxmemory-policy", "noeviction")):
                assert redis.config_get(name) == {name: value}

    def test_a_second_one_on_the_same_folder_is_refused(self, up: Up) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        env = {**up.env, "REMEDY_PORT": str(port)}
        argv = [sys.executable, "-m", "app.cli", "up"]
        second = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
        assert second.returncode == 1
        assert second.stderr == f"remedy: Another `remedy up` runs on the data folder {up.data}.\n"

    def test_a_taken_port_is_said_before_anything_starts(self, up: Up) -> None:
        argv = [sys.executable, "-m", "app.cli", "up"]
        with a_folder() as folder:
            env = {**up.env, "REMEDY_DATA": str(folder)}
            second = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
        assert (second.returncode, second.stdout) == (1, "")
        assert f"Nothing can listen on 127.0.0.1:{up.port}" in second.stderr

    def test_sigterm_ends_all_of_it_in_order(self, up: Up) -> None:
        """The last test of this tree."""
        everything = tree_of(up.process.pid)
        assert len(everything) >= len(PARTS)
        up.process.terminate()
        assert up.process.wait(60) == 0
        assert not [command_of(pid) for pid in everything if is_running(pid)]
        assert "ok    up         ended" in up.said()
        assert not [line for line in up.said().splitlines() if line.startswith("Traceback")]

    @staticmethod
    def installations(up: Up) -> list[int]:
        engine = open_engine(up.database)
        with read(engine) as conn:
            found = list(conn.execute(select(installations.c.id)).scalars())
        engine.dispose()
        return found


def test_kill_9_of_up_leaves_nothing_and_the_work_goes_on() -> None:
    """Everything dies at once; started again on the same folder, the row is found and worked off (CR-2, CR-16)."""
    with remedy_up() as up:
        quick = up.pid_of("quick")
        os.kill(quick, signal.SIGSTOP)
        assert up.deliver("before", 9) == 202
        everything = tree_of(up.process.pid)
        up.process.kill()
        up.process.wait()
        wait_for(lambda: not any(map(is_running, everything)), within_s=10, why="something outlived remedy up")
        assert up.states() == {"before": "RECEIVED"}

        up.process = up.start()
        up.wait_until_handled("before")


def test_redis_down_deliveries_are_accepted_and_worked_off_when_it_is_back() -> None:
    """Issue 2, ST-Q1: with a Redis of the operator's own."""
    with redis_server() as redis, remedy_up(REDIS_URL=redis.url) as up:
        assert up.pid_of("redis") == 0
        redis.kill()
        for n in range(3):
            assert up.deliver(f"down-{n}", 20 + n) == 202
        assert set(up.states().values()) == {"RECEIVED"}
        redis.start()
        for n in range(3):
            up.wait_until_handled(f"down-{n}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only a root app drops to other users")
def test_a_folder_that_shuts_the_sandbox_out_is_refused(tmp_path: Path) -> None:
    """decisions.md, row 80; PN-11."""
    tmp_path.chmod(0o700)
    env = {**os.environ, "REMEDY_DATA": str(tmp_path / "data"), "REMEDY_WEBHOOK_SECRET": SECRET}
    for verb in (["up"], ["worker", "sweep"]):
        argv = [sys.executable, "-m", "app.cli", *verb]
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (1, "")
        assert "keeps other users out" in done.stderr


def test_without_a_secret_nothing_starts(tmp_path: Path) -> None:
    """F-W10."""
    env = {**os.environ, "REMEDY_DATA": str(tmp_path), "REMEDY_APP_ID": "4711", "REMEDY_WEBHOOK_SECRET": ""}
    argv = [sys.executable, "-m", "app.cli", "up"]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "REMEDY_WEBHOOK_SECRET" in done.stderr
