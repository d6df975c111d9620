"""Doorbells: one Redis message per row that is ready, and the worker that answers them; the rows are the truth."""

import ctypes
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import structlog
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue, Worker
from rq.executions import Execution
from rq.job import Job
from rq.serializers import JSONSerializer

from app.settings import Settings

JOBS: Mapping[str, str] = {
    "intake": "quick",
    "advance": "quick",
    "publish": "quick",
    "deliver": "quick",
    "diagnose": "long",
    "turn": "long",
    "prove": "long",
    "install": "long",
}
QUEUES = ("quick", "long")

RING_TIMEOUT_S = 1.0
# A ring that waits longer than this is forgotten: the sweep has rung again since (decisions.md, row 61).
RING_LIVES_S = 60
FAILED_JOB_LIVES_S = 3600
WORKER_TTL_S = 30
MAINTENANCE_S = 15
RECONNECT_S = 1.0
QUICK_JOB_S = 900

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PR_SET_PDEATHSIG = 1  # linux/prctl.h

log = structlog.get_logger("queues")


class JobRefused(Exception):
    """A message in Redis asked for something that is not one of our jobs with one id (ST-Q11, S40)."""


class OwnJob(Job):
    """An RQ job that can be nothing but a row of `JOBS` with one id: write access to Redis is not code execution."""

    @property
    def func(self) -> Any:
        """The job's function; raises JobRefused for every other name, instance or argument."""
        if self.func_name not in _DOTTED or self.instance is not None or self.kwargs or not _is_one_id(self.args):
            log.warning("job refused", job=str(self.func_name)[:100])
            raise JobRefused(f"{str(self.func_name)[:100]!r} is not a job of Remedy")
        return super().func

    # RQ would import and call any dotted name that the message carries here.
    success_callback = failure_callback = stopped_callback = property(lambda self: None)

    def send_webhooks(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: RQ would send a request to any address that the message carries."""

    def perform(self) -> Any:
        """Run the job and log its outcome word and seconds (style.md 2.9)."""
        bound = log.bind(job=_DOTTED.get(str(self.func_name), "?"), id=str(self.args[0]) if self.args else "")
        started = time.monotonic()
        word = super().perform()
        bound.info("job done", outcome=word, wall_s=round(time.monotonic() - started, 3))
        return word


class OwnWorker(Worker):
    """RQ's forking worker, whose work-horse dies with it and lives on when Redis goes away."""

    max_connection_wait_time = 2.0

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Entry of the forked child. RQ gives it a process group of its own, so it would survive a killed worker."""
        die_with_parent(self.pid)
        super().main_work_horse(job, queue)

    def maintain_heartbeats(self, job: Job, execution: Execution) -> None:
        """RQ's own bookkeeping; without Redis the job goes on, for its lease is in the database."""
        with suppress(RedisError, OSError):
            super().maintain_heartbeats(job, execution)


def redis_url(settings: Settings) -> str:
    """`REDIS_URL`, else the Unix socket in the data folder where `remedy up` starts a server."""
    return settings.redis_url or f"unix://{quote(str(settings.data.absolute() / 'redis' / 'redis.sock'))}"


def ring(settings: Settings, name: str, row_id: str) -> bool:
    """Ask a worker to look at one row; best effort, at most about a second, never raises.

    `name` is a key of `JOBS`, `row_id` the id of its row. False means nobody was told: the sweep rings again.
    """
    try:
        if not _ID.fullmatch(row_id):
            raise ValueError(f"{row_id[:100]!r} is not an id")
        queue = _queue(_doorbell(redis_url(settings)), JOBS[name])
        job_id = _free_bell(queue, f"{name}-{row_id}")
        if job_id is None:
            return True
        queue.enqueue_call(
            func=f"jobs.{name}.{name}",
            job_id=job_id,
            args=(row_id,),
            timeout=_timeout_s(settings, name),
            ttl=RING_LIVES_S,
            result_ttl=0,
            failure_ttl=FAILED_JOB_LIVES_S,
            description=f"{name} {row_id}",
        )
    except (RedisError, OSError, ValueError, KeyError) as error:
        log.warning("doorbell not heard", job=name, id=row_id[:64], error=str(error))
        return False
    return True


def _free_bell(queue: Queue, row: str) -> str | None:
    """The id for one more ring of a row, None if a ring of it still waits: a slow worker must not drown in its bells.

    Each row has two, so that a ring while its job runs does not share the id that RQ deletes when that job ends.
    """
    bells = (f"{row}-a", f"{row}-b")
    with queue.connection.pipeline(transaction=False) as asked:
        for bell in bells:
            asked.lpos(queue.key, bell)
            asked.exists(Job.key_for(bell))
        place_a, known_a, place_b, known_b = asked.execute()
    if (known_a and place_a is not None) or (known_b and place_b is not None):
        return None
    return bells[1] if known_a and not known_b else bells[0]


def is_reachable(settings: Settings) -> bool:
    """Does Redis answer within a second?"""
    try:
        return bool(_doorbell(redis_url(settings)).ping())
    except (RedisError, OSError, ValueError):
        return False


def count_workers(settings: Settings) -> dict[str, int]:
    """Living workers of each queue; raises RedisError when Redis is away."""
    connection = _doorbell(redis_url(settings))
    return {name: OwnWorker.count(queue=_queue(connection, name)) for name in QUEUES}


def work(settings: Settings, queue: str) -> None:
    """Answer the doorbells of one queue until SIGTERM, which lets the running job end first.

    Waits for Redis to appear. Returns, or raises RedisError, when Redis went away at a moment where RQ cannot go on:
    the supervisor starts the process again.
    """
    while not is_reachable(settings):
        log.warning("no Redis yet", queue=queue)
        time.sleep(RECONNECT_S)
    connection = Redis.from_url(redis_url(settings), socket_connect_timeout=RING_TIMEOUT_S)
    worker = OwnWorker(
        [_queue(connection, queue)],
        connection=connection,
        job_class=OwnJob,
        serializer=JSONSerializer,
        worker_ttl=WORKER_TTL_S,
        maintenance_interval=MAINTENANCE_S,
        default_result_ttl=0,
        log_job_description=False,
    )
    worker.work(logging_level="WARNING")


def die_with_parent(parent_pid: int | None) -> None:
    """Make the kernel kill this process when its parent ends, for whatever reason (Linux; elsewhere nothing)."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent_pid is not None and os.getppid() != parent_pid:
        os._exit(1)


_DOTTED: Mapping[str, str] = {f"jobs.{name}.{name}": name for name in JOBS}


def _is_one_id(args: Any) -> bool:
    if not isinstance(args, list | tuple) or len(args) != 1:
        return False
    return isinstance(args[0], str) and _ID.fullmatch(args[0]) is not None


def _timeout_s(settings: Settings, name: str) -> int:
    """Above every limit that the job keeps itself, so that RQ's is only the last belt."""
    if JOBS[name] == "quick":
        return QUICK_JOB_S
    limits = settings.limits
    return max(limits.agent_turn_s, limits.supervisor_turn_s, limits.proof_s) + QUICK_JOB_S


def _queue(connection: Redis, name: str) -> Queue:
    return Queue(name, connection=connection, job_class=OwnJob, serializer=JSONSerializer)


@lru_cache(maxsize=4)
def _doorbell(url: str) -> Redis:
    return Redis.from_url(
        url,
        socket_timeout=RING_TIMEOUT_S,
        socket_connect_timeout=RING_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )
