"""What one process works with: settings, database, clock, doorbell, GitHub; made once, handed in by tests."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from app import queues
from app.github.client import Client
from app.ledger import leases, repos, vault
from app.ledger.engine import open_engine, read, write
from app.ledger.evidence import Store
from app.ledger.heartbeat import Heartbeat
from app.redact import Redactor
from app.settings import Settings

CALLS_LEFT_EVERY_MS = 10_000


def utc_ms() -> int:
    """UTC milliseconds, the clock of everything outside tests (DB-5)."""
    return time.time_ns() // 1_000_000


def process_name() -> str:
    """A name for leases that no other process ever had: place, pid and a random part."""
    return f"{_place()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_dead(owner: str) -> bool:
    """Whether a holder of leases surely runs no more: a process of this very machine, boot and pid namespace.

    False where that cannot be known; then its leases run out by themselves.
    """
    place, _, rest = owner.partition(":")
    pid = rest.partition(":")[0]
    if not pid.isdigit() or place != _place() or not place.count("/"):
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


@cache
def _place() -> str:
    """Where pids mean the same: host, and where the kernel tells, its boot and our pid namespace."""
    host = socket.gethostname().replace(":", "-").replace("/", "-")
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
        return f"{host}/{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return host


@dataclass(frozen=True)
class Services:
    """One process' tools. `connect` opens a GitHub client for an installation; `bell` rings a job, best effort."""

    settings: Settings
    engine: Engine
    bell: Callable[[str, str], object]
    connect: Callable[[int], Client]
    clock: Callable[[], int] = utc_ms
    sleep: Callable[[float], None] = time.sleep
    owner: str = field(default_factory=process_name)

    @cached_property
    def store(self) -> Store:
        return Store(self.settings.data / "evidence")

    @cached_property
    def redactor(self) -> Redactor:
        """Knows this process' own secrets, beside the patterns."""
        settings = self.settings
        app = (settings.webhook_secret, settings.private_key, settings.client_secret)
        own = (*app, settings.secret_key, *settings.models.keys)
        return Redactor([secret.get_secret_value() for secret in own if secret.get_secret_value()])

    def read(self) -> AbstractContextManager[Connection]:
        """One transaction that only reads."""
        return read(self.engine)

    def write(self) -> AbstractContextManager[Connection]:
        """One transaction that may write; no network call and no process inside (ST-D4)."""
        return write(self.engine)

    def ring(self, job: str, item_id: str) -> None:
        """Wake a job after the commit that made its row ready; a lost ring costs one sweep (CR-15)."""
        self.bell(job, item_id)

    def folder(self, *parts: str) -> Path:
        """A folder below the data folder."""
        return self.settings.data.joinpath(*parts)

    def in_ms(self, seconds: float) -> int:
        """The moment `seconds` from now."""
        return self.clock() + int(seconds * 1000)


@dataclass(frozen=True)
class Hold:
    """A lease that is being renewed. `lost()` turns true when it was not, or when the item was cancelled."""

    resource: str
    owner: str
    epoch: int
    lost: Callable[[], bool]

    @property
    def holder(self) -> leases.Holder:
        return leases.Holder(self.owner, self.epoch)

    def valid(self, conn: Connection, now: int) -> bool:
        """Whether this holder may still write (LE-2); asked inside the transaction that writes."""
        return leases.holds(conn, self.resource, self.owner, self.epoch, now)


@contextmanager
def hold(s: Services, resource: str, cancelled: Callable[[Connection], bool] | None = None) -> Iterator[Hold | None]:
    """Take and keep the lease of `resource` while the block runs; None when somebody else works on it (LE-1)."""
    times = s.settings.times
    lease_ms = int(times.lease_s * 1000)
    with s.write() as conn:
        epoch = leases.take(conn, resource, s.owner, s.clock(), lease_ms)
    if epoch is None:
        yield None
        return
    beat = Heartbeat(
        s.settings.database, resource, s.owner, epoch, times.lease_s, times.renew_s, s.clock, cancelled=cancelled
    )
    try:
        with beat:
            yield Hold(resource, s.owner, epoch, beat.lost.is_set)
    finally:
        with s.write() as conn:
            leases.release(conn, resource, s.owner, epoch)


_chosen: list[Services] = []


def use(services_: Services | None) -> None:
    """Let this process work with other tools; the tests' way in."""
    _chosen[:] = [] if services_ is None else [services_]


def services() -> Services:
    """This process' tools. RQ calls a job by its dotted name with an id alone, so a job asks here for the rest."""
    return _chosen[0] if _chosen else _own()


@cache
def _own() -> Services:
    return make(vault.settings_with_app(Settings()))


def make(settings: Settings) -> Services:
    """Tools for `settings`: its database, its Redis, its GitHub. Opens no connection yet."""
    engine = open_engine(settings.database)

    def connect(installation_id: int) -> Client:
        return Client(settings, installation_id, at_end=lambda left: _note_calls_left(engine, installation_id, left))

    return Services(settings, engine, lambda job, item_id: queues.ring(settings, job, item_id), connect)


def _note_calls_left(engine: Engine, installation_id: int, left: int) -> None:
    """A figure for operators: a database that is busy or away costs no job."""
    with suppress(DBAPIError), write(engine) as conn:
        repos.note_calls_left(conn, installation_id, left, utc_ms(), CALLS_LEFT_EVERY_MS)
