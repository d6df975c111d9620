"""The one thread that stores deliveries: it commits in groups, so that a burst costs few disk syncs (ST-W2)."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import structlog
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from app.ledger import deliveries, ready
from app.ledger.deliveries import Delivery
from app.ledger.engine import write
from app.queues import RING_TIMEOUT_S
from app.redact import Redactor

Kept = Literal["stored", "duplicate", "again", "failed"]

GROUP_S = 0.001
GROUP_SIZE = 200
BLOCK_BYTES = 64 * 1024
# Doorbells that wait for a slow Redis; one more is not rung here, the sweep rings it.
BELLS_WAITING = 1000

log = structlog.get_logger("web")


class NotKept(Exception):
    """The database did not take the delivery; GitHub counts it as failed and the sweep asks for it again."""


@dataclass(frozen=True)
class Arrival:
    """A delivery as it came in, not yet redacted; `unreadable` says why our model cannot read it, if so (IT-4)."""

    delivery: Delivery
    unreadable: str = ""


@dataclass(frozen=True)
class _Waiting:
    arrival: Arrival
    answer: "asyncio.Future[Kept]"

    def settle(self, result: Kept | NotKept) -> None:
        self.answer.get_loop().call_soon_threadsafe(self._settle, result)

    def _settle(self, result: Kept | NotKept) -> None:
        if self.answer.done():
            return
        if isinstance(result, NotKept):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Writer:
    """Stores arrivals and rings `intake` for each after the commit, best effort (ST-W4)."""

    def __init__(
        self, engine: Engine, redactor: Redactor, clock: Callable[[], int], ring: Callable[[str], object]
    ) -> None:
        self._engine = engine
        self._redactor = redactor
        self._clock = clock
        self._ring = ring
        self._inbox: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._bells: queue.Queue[str | None] = queue.Queue(BELLS_WAITING)
        self._closing = threading.Event()
        self._door = threading.Lock()  # nothing may enter the inbox behind the sign to stop
        self._threads = (
            threading.Thread(target=self._write_groups, name="writer", daemon=True),
            threading.Thread(target=self._ring_bells, name="bells", daemon=True),
        )

    def redact_with(self, redactor: Redactor) -> None:
        """There are more secrets to look for: an App was set up."""
        self._redactor = redactor

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Store what waits, then stop; doorbells that are not rung by then are left to the sweep."""
        with self._door:
            self._closing.set()
            self._inbox.put(None)
        self._threads[0].join()
        with suppress(queue.Full):
            self._bells.put_nowait(None)
        self._threads[1].join(RING_TIMEOUT_S * 2)

    def is_alive(self) -> bool:
        return self._threads[0].is_alive()

    async def keep(self, arrival: Arrival) -> Kept:
        """Wait until the arrival is on disk; raises NotKept. "failed": kept, but unreadable."""
        clean = await asyncio.to_thread(self._redacted, arrival)
        answer: asyncio.Future[Kept] = asyncio.get_running_loop().create_future()
        with self._door:
            if self._closing.is_set():
                raise NotKept
            self._inbox.put(_Waiting(clean, answer))
        return await answer

    def _write_groups(self) -> None:
        while (first := self._inbox.get()) is not None:
            group, is_last = self._gather(first)
            self._write_group(group)
            if is_last:
                return

    def _gather(self, first: _Waiting) -> tuple[list[_Waiting], bool]:
        """What else arrives within `GROUP_S`; True when the writer is to stop after it."""
        group = [first]
        until = time.monotonic() + GROUP_S
        while len(group) < GROUP_SIZE and (left_s := until - time.monotonic()) > 0:
            try:
                waiting = self._inbox.get(timeout=left_s)
            except queue.Empty:
                break
            if waiting is None:
                return group, True
            group.append(waiting)
        return group, False

    def _write_group(self, group: Sequence[_Waiting]) -> None:
        """Commit the group; if that fails, each on its own, so that one bad delivery costs no other."""
        try:
            with write(self._engine) as conn:
                results = [self._store(conn, waiting.arrival) for waiting in group]
        except Exception as error:
            if len(group) > 1:
                for waiting in group:
                    self._write_group([waiting])
                return
            is_ours = not isinstance(error, SQLAlchemyError)
            log.error("delivery not kept", delivery=group[0].arrival.delivery.guid, error=str(error), exc_info=is_ours)
            group[0].settle(NotKept())
            return
        for waiting, result in zip(group, results, strict=True):
            waiting.settle(result)
            if result in ("stored", "again"):
                self._queue_bell(waiting.arrival.delivery.guid)

    def _redacted(self, arrival: Arrival) -> Arrival:
        """In blocks, because one pass over 25 MB would hold the interpreter, and so the event loop, for seconds."""
        delivery = arrival.delivery
        body = delivery.payload
        blocks = (body[at : at + BLOCK_BYTES] for at in range(0, len(body), BLOCK_BYTES))
        clean = b"".join(self._redactor.chunks(blocks))
        return replace(arrival, delivery=replace(delivery, payload=clean))

    def _store(self, conn: Connection, arrival: Arrival) -> Kept:
        guid, now = arrival.delivery.guid, self._clock()
        result = deliveries.store(conn, arrival.delivery, now)
        if result == "duplicate":
            return result
        if arrival.unreadable:
            deliveries.unread(conn, guid, arrival.unreadable, now)
            return "failed"
        # Before the ring, in the same commit: a ring that gets lost is repeated after `times.rering_s` (row 61).
        ready.rang(conn, "intake", guid, now)
        return result

    def _queue_bell(self, guid: str) -> None:
        try:
            self._bells.put_nowait(guid)
        except queue.Full:
            log.warning("doorbell left to the sweep", delivery=guid)

    def _ring_bells(self) -> None:
        while (guid := self._bells.get()) is not None and not self._closing.is_set():
            self._ring(guid)
