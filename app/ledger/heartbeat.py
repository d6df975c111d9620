"""The heartbeat of a lease: a thread that renews it and tells the worker when it is lost (LE-5, ST-Q5)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from app.ledger import leases
from app.ledger.engine import open_engine, write


@dataclass
class Heartbeat:
    """Keeps a lease while the block runs; `lost` is set once it is lost or the work was cancelled.

    It has a database connection of its own with a time limit of 1 s, and tries each renewal twice (decisions.md, 91).
    A database that does not answer costs the lease only when the lease has run out. `clock` gives UTC milliseconds.
    `on_lost` runs in the thread, once; `cancelled` is asked after each renewal. Leaving the block keeps the lease.
    """

    url: str
    resource: str
    owner: str
    epoch: int
    lease_s: float
    renew_s: float
    clock: Callable[[], int]
    on_lost: Callable[[], None] | None = None
    cancelled: Callable[[Connection], bool] | None = None
    lost: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lease {self.resource}", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        engine = open_engine(self.url, timeout_s=1)
        good_until = self.clock() + self._lease_ms
        try:
            while not self._stop.wait(self.renew_s):
                now = self.clock()
                answer = self._renew(engine)
                if answer:
                    good_until = now + self._lease_ms
                elif answer is False or self.clock() >= good_until:
                    self._lose()
                    return
        finally:
            engine.dispose()

    def _renew(self, engine: Engine) -> bool | None:
        """True: mine and wanted. False: lost or cancelled. None: the database did not answer twice."""
        for _ in range(2):
            try:
                with write(engine) as conn:
                    now = self.clock()
                    mine = leases.renew(conn, self.resource, self.owner, self.epoch, now, self._lease_ms)
                    return mine and not (self.cancelled and self.cancelled(conn))
            except DBAPIError:
                continue
        return None

    def _lose(self) -> None:
        self.lost.set()
        if self.on_lost is not None:
            self.on_lost()

    @property
    def _lease_ms(self) -> int:
        return int(self.lease_s * 1000)
