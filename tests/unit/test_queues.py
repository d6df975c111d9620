"""Doorbells against a real Redis and a real worker process (ST-Q3, ST-Q10 to ST-Q12, S40, LE-9)."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq import Callback, Queue
from rq.job import Job
from rq.serializers import JSONSerializer, PickleSerializer
from rq.webhook import Webhook

from app.queues import JOBS, RING_LIVES_S, JobRefused, OwnJob, OwnWorker, is_reachable, redis_url, ring
from app.settings import Settings
from tests.processes import is_running, wait_for
from tests.redis_server import RedisServer, redis_server

# A worker process of ours in which `jobs.intake` only notes what it was asked.
WORKER = """
import os, sys, time, types
from pathlib import Path
from app.queues import work
from app.settings import Settings

def intake(row_id):
    with (Path(os.environ["REMEDY_DATA"]) / "done").open("a") as notes:
        notes.write(f"{row_id} {os.getpid()}\\n")
    if row_id.startswith("slow"):
        time.sleep(float(row_id.partition("-")[2]))
        with (Path(os.environ["REMEDY_DATA"]) / "done").open("a") as notes:
            notes.write(f"end-of-{row_id} {os.getpid()}\\n")
    return "idle"

module = sys.modules["jobs.intake"] = types.ModuleType("jobs.intake")
module.intake = intake
work(Settings(), "quick")
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
def redis(server: RedisServer) -> Iterator[Redis]:
    with Redis.from_url(server.url) as client:
        client.flushall()
        yield client


@pytest.fixture
def settings(server: RedisServer, tmp_path: Path) -> Settings:
    return Settings.model_validate({"data": tmp_path, "REDIS_URL": server.url})


@contextmanager
def worker(settings: Settings) -> Iterator["subprocess.Popen[bytes]"]:
    env = {**os.environ, "REMEDY_DATA": str(settings.data), "REDIS_URL": settings.redis_url}
    process = subprocess.Popen([sys.executable, "-c", WORKER], env=env, cwd=Path(__file__).parents[2])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def done(settings: Settings) -> dict[str, int]:
    """What was asked, with the pid that did it."""
    path = settings.data / "done"
    lines = path.read_text().splitlines() if path.exists() else []
    return {row_id: int(pid) for row_id, pid in (line.split() for line in lines)}


def by_hand(redis: Redis, serializer: Any = JSONSerializer) -> Queue:
    """A queue as anybody with write access to Redis would use it."""
    return Queue("quick", connection=redis, serializer=serializer)


@pytest.mark.slow
class TestWorker:
    def test_st_q11_and_s40_only_our_jobs_run(self, settings: Settings, redis: Redis) -> None:
        """A worker that is asked for anything else refuses it and goes on."""
        target = settings.data / "owned"
        foreign = [
            by_hand(redis).enqueue("os.system", f"touch {target}"),
            by_hand(redis).enqueue("subprocess.call", ["touch", str(target)]),
            by_hand(redis).enqueue("jobs.worker.main", "quick"),
            by_hand(redis).enqueue("jobs.intake.intake", "a/b"),
            by_hand(redis).enqueue("jobs.intake.intake", "one", "two"),
            by_hand(redis).enqueue("jobs.intake.intake", row_id="one"),
            by_hand(redis, PickleSerializer).enqueue("os.system", f"touch {target}"),
        ]
        with worker(settings):
            assert ring(settings, "intake", "g-1")
            wait_for(lambda: "g-1" in done(settings))
        assert not target.exists()
        assert set(done(settings)) == {"g-1"}
        assert {job.get_status(refresh=True) for job in foreign} == {"failed"}

    def test_st_q12_nothing_else_in_the_message_runs(self, settings: Settings, redis: Redis) -> None:
        """RQ imports callbacks by name and sends requests to addresses, both out of the message."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(0.5)
        by_hand(redis).enqueue(
            "jobs.intake.intake",
            "g-1",
            on_success=Callback("os.abort"),
            on_failure=Callback("os.abort"),
            webhooks=[Webhook(f"http://127.0.0.1:{listener.getsockname()[1]}/", "finished")],
        )
        with worker(settings):
            wait_for(lambda: "g-1" in done(settings))
            ring(settings, "intake", "g-2")
            wait_for(lambda: "g-2" in done(settings))
        with pytest.raises(TimeoutError):
            listener.accept()
        listener.close()

    def test_the_horse_dies_with_its_worker(self, settings: Settings, redis: Redis) -> None:
        """stack.md 3: RQ's horse lives on in a process group of its own, and a second execution starts beside it."""
        with worker(settings) as process:
            ring(settings, "intake", "slow-60")
            horse = wait_for(lambda: done(settings).get("slow-60"))
            assert horse != process.pid
            process.kill()
            wait_for(lambda: not is_running(horse), within_s=5)

    def test_sigterm_lets_the_running_job_end(self, settings: Settings, redis: Redis) -> None:
        with worker(settings) as process:
            ring(settings, "intake", "slow-1")
            wait_for(lambda: "slow-1" in done(settings))
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        assert "end-of-slow-1" in done(settings)

    def test_st_s2_a_worker_outlives_redis(self, settings: Settings, tmp_path: Path) -> None:
        """The running job ends although Redis is gone, and work goes on when it is back."""
        with redis_server() as server:
            own = settings.model_copy(update={"redis_url": server.url})
            with worker(own):
                ring(own, "intake", "slow-1")
                wait_for(lambda: "slow-1" in done(own))
                server.kill()
                wait_for(lambda: "end-of-slow-1" in done(own))
                assert not ring(own, "intake", "lost")
                server.start()
            # In life the supervisor starts a worker again that RQ ended.
            with worker(own):
                ring(own, "intake", "g-2")
                wait_for(lambda: "g-2" in done(own))

    def test_st_s2_a_missed_heartbeat_ends_no_job(self, settings: Settings) -> None:
        """RQ's parent beats for its horse every 30 s; an exception there would end it, and with it the running job."""
        with redis_server() as server:
            connection = Redis.from_url(server.url)
            queue = Queue("long", connection=connection, job_class=OwnJob, serializer=JSONSerializer)
            job = queue.enqueue("jobs.turn.turn", "t-1")
            parent = OwnWorker([queue], connection=connection, job_class=OwnJob, serializer=JSONSerializer)
            execution = parent.prepare_execution(job)
            server.kill()
            parent.maintain_heartbeats(job, execution)
            connection.close()

    def test_a_worker_waits_for_redis_to_appear(self, settings: Settings) -> None:
        with redis_server() as server:
            own = settings.model_copy(update={"redis_url": server.url})
            server.kill()
            with worker(own) as process:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(1.5)
                server.start()
                ring(own, "intake", "g-1")
                wait_for(lambda: "g-1" in done(own))


class TestRing:
    def test_le_9_a_message_holds_a_name_and_an_id(self, settings: Settings, redis: Redis) -> None:
        """Also ST-Q3 and S45: JSON, nothing else, and it is forgotten when the sweep has long rung again."""
        assert ring(settings, "turn", "01JF0000000000000000000000")
        (job_id,) = redis.lrange("rq:queue:long", 0, -1)
        key = f"rq:job:{job_id.decode()}"
        stored = OwnJob.fetch(job_id.decode(), connection=redis, serializer=JSONSerializer)
        assert json.loads(stored.data) == ["jobs.turn.turn", None, ["01JF0000000000000000000000"], {}]
        assert 0 < redis.ttl(key) <= RING_LIVES_S
        assert stored.result_ttl == 0

    @pytest.mark.parametrize(("name", "queue"), JOBS.items())
    def test_st_q10_each_job_has_one_queue(self, settings: Settings, redis: Redis, name: str, queue: str) -> None:
        assert ring(settings, name, "a-1")
        assert redis.llen(f"rq:queue:{queue}") == 1

    def test_a_row_that_waits_is_rung_once_and_again_while_it_is_at_work(
        self, settings: Settings, redis: Redis
    ) -> None:
        """A slow worker does not drown in rings; found by killing processes of a busy machine."""
        waiting = Queue("quick", connection=redis)
        for _ in range(5):
            assert ring(settings, "intake", "row-1")
            assert ring(settings, "intake", "row-2")
        assert waiting.count == 2
        redis.lpop(waiting.key)
        assert ring(settings, "intake", "row-1"), "its job begins now, and may have looked already"
        assert ring(settings, "intake", "row-1")
        assert len(set(waiting.job_ids)) == waiting.count == 2
        redis.delete(*(Job.key_for(job_id) for job_id in waiting.job_ids))
        assert ring(settings, "intake", "row-1"), "a ring that was forgotten is rung again"
        assert redis.exists(*(Job.key_for(job_id) for job_id in set(waiting.job_ids)))

    @pytest.mark.parametrize("row_id", ["", "a b", "a/b", "../x", "a\n", "x" * 65])
    def test_what_is_no_id_rings_nothing(self, settings: Settings, redis: Redis, row_id: str) -> None:
        assert ring(settings, "intake", row_id) is False
        assert redis.llen("rq:queue:quick") == 0

    def test_a_name_that_is_no_job_rings_nothing(self, settings: Settings, redis: Redis) -> None:
        assert ring(settings, "system", "a-1") is False

    def test_redis_away_is_no_error(self, settings: Settings) -> None:
        away = settings.model_copy(update={"redis_url": f"unix://{settings.data}/nobody.sock"})
        assert ring(away, "intake", "g-1") is False
        assert is_reachable(away) is False

    def test_a_redis_that_hangs_costs_a_second(self, settings: Settings) -> None:
        path = settings.data / "hang.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            started = time.monotonic()
            assert ring(settings.model_copy(update={"redis_url": f"unix://{path}"}), "intake", "g-1") is False
            assert time.monotonic() - started < 5

    def test_a_url_that_is_none_is_no_error(self, settings: Settings) -> None:
        assert ring(settings.model_copy(update={"redis_url": "gopher://x"}), "intake", "g-1") is False


def test_st_s1_without_a_url_it_is_the_socket_in_the_data_folder(tmp_path: Path) -> None:
    settings = Settings.model_validate({"data": tmp_path / "a b"})
    assert redis_url(settings) == f"unix://{tmp_path}/a%20b/redis/redis.sock"


def test_st_q11_a_job_is_refused_before_its_module_is_imported(redis: Redis) -> None:
    """Importing alone runs code: a name that is not in the list is never imported."""
    name = "this"  # a module of the standard library that prints when it is imported
    assert name not in sys.modules
    job = Job.create(f"{name}.c", args=("a",), connection=redis, serializer=JSONSerializer)
    job.save()
    own = OwnJob.fetch(job.id, connection=redis, serializer=JSONSerializer)
    with pytest.raises(JobRefused):
        _ = own.func
    assert name not in sys.modules
