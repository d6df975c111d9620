"""The injected clock: every time that the local GitHub shows comes from here."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime


class Clock:
    """UTC milliseconds of a source (default: the wall) plus what `advance` added."""

    def __init__(self, source: Callable[[], int] | None = None) -> None:
        self._source = source or _wall_ms
        self._offset_ms = 0
        self._tick = 0
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        return self._source() + self._offset_ms

    def advance(self, seconds: float) -> None:
        self._offset_ms += round(seconds * 1000)

    def log_stamp(self) -> str:
        """Now as a line of an Actions log has it: seven fraction digits, never falling."""
        with self._lock:
            self._tick = max(self._tick + 1, self.now_ms() * 10_000)
            whole, fraction = divmod(self._tick, 10_000_000)
        return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{fraction:07d}Z"


def iso(at_ms: int | None) -> str | None:
    """Seconds as GitHub prints them, `2026-11-30T12:00:00Z`; None stays None."""
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
