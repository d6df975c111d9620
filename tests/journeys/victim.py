"""A worker process that does one job and is killed with SIGKILL at a named point of it.

The processes are forked from a server that was started clean and has the jobs imported, as a worker forks its
work-horses: nothing of the test's own database connections or threads is in them.
"""

import importlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, Literal

from app.github.calls import Pace
from app.github.client import Client
from app.ledger.engine import open_engine
from app.queues import JOBS
from app.services import Services, use
from app.settings import Settings

COMMIT = "app.services:write"
"""Every transaction of a job, heartbeats apart."""
_JOB_S = 60


@dataclass(frozen=True)
class Point:
    """Where to die: before or after the `nth` call of `place`, a `module:name` as the job looks it up."""

    place: str
    when: Literal["before", "after"] = "after"
    nth: int = 1


@dataclass(frozen=True)
class Task:
    """One job of one world, at the world's own time."""

    settings: Settings
    offset_ms: int
    job: str
    item: str


def killed_at(task: Task, points: Sequence[Point]) -> int | None:
    """Do the job in a process of its own; which point it died at, None when it came to its end past all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *(f"jobs.{job}" for job in JOBS)])
    last_words, pen = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, points, pen), daemon=True)
    process.start()
    process.join(_JOB_S)
    assert process.exitcode in (0, -signal.SIGKILL), f"{task.job} ended with {process.exitcode}"
    return int(last_words.recv()) if process.exitcode else None


def _work(task: Task, points: Sequence[Point], pen: Connection) -> None:
    clock = _Clock(task.offset_ms)
    settings = task.settings
    use(
        Services(
            settings,
            open_engine(settings.database),
            lambda job, item: None,
            lambda installation: Client(settings, installation, pace=Pace(clock.now, clock.sleep)),
            clock=clock.now,
            sleep=clock.sleep,
        )
    )
    job = importlib.import_module(f"jobs.{task.job}")
    for n, point in enumerate(points):
        _arm(point, partial(_die, pen, n))
    getattr(job, task.job)(task.item)


@dataclass
class _Clock:
    offset_ms: int

    def now(self) -> int:
        return time.time_ns() // 1_000_000 + self.offset_ms

    def sleep(self, seconds: float) -> None:
        self.offset_ms += int(seconds * 1000)


def _arm(point: Point, die: Callable[[], None]) -> None:
    module, _, names = point.place.partition(":")
    *path, last = names.split(".")
    owner: Any = importlib.import_module(module)
    for name in path:
        owner = getattr(owner, name)
    make = _deadly_block if point.place == COMMIT else _deadly
    setattr(owner, last, make(getattr(owner, last), point, die))


def _deadly(real: Callable[..., Any], point: Point, die: Callable[[], None]) -> Callable[..., Any]:
    calls = count(1)

    def call(*given: Any, **named: Any) -> Any:
        mine = next(calls) == point.nth
        if mine and point.when == "before":
            die()
        answer = real(*given, **named)
        if mine:
            die()
        return answer

    return call


def _deadly_block(
    real: Callable[..., AbstractContextManager[Any]], point: Point, die: Callable[[], None]
) -> Callable[..., AbstractContextManager[Any]]:
    """`before` is the last moment inside the transaction, `after` the first one when it is on disk."""
    calls = count(1)

    @contextmanager
    def block(*given: Any) -> Iterator[Any]:
        mine = next(calls) == point.nth
        with real(*given) as conn:
            yield conn
            if mine and point.when == "before":
                die()
        if mine:
            die()

    return block


def _die(pen: Connection, point: int) -> None:
    pen.send(point)
    os.kill(os.getpid(), signal.SIGKILL)
