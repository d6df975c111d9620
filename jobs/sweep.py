"""The sweep: a loop of its own process that finds what nobody rings for, with Redis or without (ST-Q6, CR-15)."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

import structlog
from redis.exceptions import RedisError
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from app.errors import TransientError, UserError
from app.events.lost import Lost
from app.ledger import leases, ready, repairs, runs, sessions, transitions
from app.ledger.left_open import left_open
from app.ledger.retention import let_go
from app.ledger.rules import rules_of
from app.proving.draft import sweep_drafts
from app.runs.rules_repair import catches_up
from app.services import Services, is_dead, make
from app.settings import Settings
from app.workspace.packs import sweep_packs
from app.workspace.rooms import Rooms, room_key

LEFT_OPEN_MS = 5 * 60 * 1000
PRUNE_EVERY_MS = 6 * 60 * 60 * 1000

log = structlog.get_logger("sweep")


def loop(settings: Settings) -> None:
    """Sweep every `times.sweep_s` seconds until SIGTERM or SIGINT; a fault is logged and the next round goes on."""
    s, seldom = make(settings), _Seldom()
    with _stopped_by_signal() as stop:
        while not stop.wait(settings.times.sweep_s):
            try:
                sweep(s)
                seldom.round(s)
            except (DBAPIError, RedisError, TransientError, UserError) as passing:
                log.warning("sweep put off", why=str(passing)[:300])


@dataclass
class _Seldom:
    """What is done now and then: when it was last tried, UTC milliseconds."""

    asked_at: int = 0
    tidied_at: int = 0
    pruned_at: int = 0
    lost: Lost = field(default_factory=Lost)

    def round(self, s: Services) -> None:
        """Ask for lost deliveries, close checks that were left open, remove old folders, let go of what is old.

        A try that fails waits for the next time.
        """
        now, times = s.clock(), s.settings.times
        if now - self.asked_at >= times.redelivery_s * 1000:
            self.asked_at = now
            self.lost.ask_again(s)
            close_left_open(s)
        if now - self.tidied_at >= times.tidy_s * 1000:
            self.tidied_at = now
            tidy(s)
        if s.settings.keep_days and now - self.pruned_at >= PRUNE_EVERY_MS:
            self.pruned_at = now
            removed = let_go(s.engine, s.store, s.settings.keep_days, now)
            if found := " ".join(f"{name}={count}" for name, count in asdict(removed).items() if count):
                log.info("retention", found=found)


def close_left_open(s: Services) -> int:
    """Let checks say once more what is true, where one says "in progress" and nothing is; how many (PJ-13)."""
    now = s.clock()
    with s.write() as conn:
        found = left_open(conn, now - LEFT_OPEN_MS)
        for scope_id in found:
            log.warning("check left open", scope=scope_id)
            transitions.show(conn, scope_id, now)
    return len(found)


def tidy(s: Services) -> int:
    """Remove rooms of ended sessions and dead workers, old drafts of proofs, packs of ended runs; how many."""
    data = s.settings.data
    with s.read() as conn:
        kept, open_runs = [room_key(session_id) for session_id in sessions.open_ids(conn)], runs.open_ids(conn)
    return Rooms.of(s.settings).sweep(kept) + sweep_drafts(data) + sweep_packs(data, open_runs)


def sweep(s: Services) -> list[tuple[str, str]]:
    """Take over work whose holder is gone, at once where its process is known dead; ring for what waits; what rang."""
    now = s.clock()
    with s.read() as conn:
        dead = [owner for owner in leases.owners(conn, now) if is_dead(owner)]
    with s.write() as conn:
        for owner in dead:
            leases.drop_of(conn, owner)
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
