"""The sweep: a loop of its own process that finds what nobody rings for, with Redis or without (ST-Q6, CR-15)."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from redis.exceptions import RedisError
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from app.errors import TransientError, UserError
from app.events.lost import ask_again
from app.ledger import ready, repairs, runs
from app.ledger.rules import rules_of
from app.runs.rules_repair import catches_up
from app.services import Services, make
from app.settings import Settings

log = structlog.get_logger("sweep")


def loop(settings: Settings) -> None:
    """Sweep every `times.sweep_s` seconds until SIGTERM or SIGINT; a fault is logged and the next round goes on."""
    s = make(settings)
    with _stopped_by_signal() as stop:
        asked_at = 0
        while not stop.wait(settings.times.sweep_s):
            asked_at = _round(s, asked_at)


def _round(s: Services, asked_at: int) -> int:
    """One round; the time at which lost deliveries were last asked for."""
    try:
        sweep(s)
        if s.clock() - asked_at < s.settings.times.redelivery_s * 1000:
            return asked_at
        ask_again(s)
    except (DBAPIError, RedisError, TransientError, UserError) as passing:
        log.warning("sweep put off", why=str(passing)[:300])
    return s.clock()


def sweep(s: Services) -> list[tuple[str, str]]:
    """Take over work whose holder is gone, then ring for every row that waits; what was rung."""
    now = s.clock()
    with s.write() as conn:
        for item in ready.interrupt_expired(conn, now):
            log.warning("lost contact", kind=item.kind.value, item=item.item_id, run=item.run_id)
        waiting = ready.due(conn, now, int(s.settings.times.rering_s * 1000))
        waiting += [("advance", run_id) for run_id in _to_catch_up(s, conn)]
        for job, row_id in waiting:
            ready.rang(conn, job, row_id, now)
    for job, row_id in waiting:
        s.ring(job, row_id)
    return waiting


def _to_catch_up(s: Services, conn: Connection) -> list[str]:
    """Blocked runs whose self-repair was never asked for: of an older version, or of a time when it was off (T23)."""
    if not s.settings.self_repair:
        return []
    return [
        run_id
        for run_id in repairs.unasked(conn)
        if catches_up(runs.load(conn, run_id), rules_of(conn, run_id, s.settings))
    ]


@contextmanager
def _stopped_by_signal() -> Iterator[threading.Event]:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    yield stop
