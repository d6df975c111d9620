"""Is everything here that Remedy needs? The same rows for `remedy doctor` and for its page."""

import threading
import time
from dataclasses import replace

from app.doctor.model import Check, Found, Level, Row
from app.errors import UserError
from app.redact import Redactor
from app.settings import Settings
from app.telemetry import known_secrets

__all__ = ["WITHIN_S", "Check", "Found", "Level", "Row", "counts", "examine"]

WITHIN_S = 5.0
"""What the page waits for; a check that takes longer is "not checked", never a hanging page (UX-W1)."""


def examine(settings: Settings, within_s: float = WITHIN_S) -> list[Row]:
    """All rows in order, looked at side by side; no text of them holds a secret of this process (S47)."""
    from app.doctor.table import CHECKS  # what it imports is heavy for a web process that nobody asks (PN-1)

    found: dict[tuple[str, str], Found] = {}

    def look(group: str, name: str, check: Check) -> None:
        found[group, name] = _look(check, settings)

    asked = [(group, name, check) for group, checks in CHECKS.items() for name, check in checks.items()]
    threads = [threading.Thread(target=look, args=one, daemon=True) for one in asked]
    for thread in threads:
        thread.start()
    _wait(threads, within_s)
    late = Found("not checked", f"no answer within {within_s:g} s", "look again; see the log of the server")
    clean = Redactor(known_secrets(settings)).text
    rows = [Row(group, name, found.get((group, name), late)) for group, name, _ in asked]
    return [replace(row, found=row.found.through(clean)) for row in rows]


def counts(rows: list[Row]) -> dict[Level, int]:
    """How many rows there are of each level that occurs, the worst first."""
    levels: tuple[Level, ...] = ("failed", "warning", "passed", "not checked")
    told = {level: sum(row.found.level == level for row in rows) for level in levels}
    return {level: count for level, count in told.items() if count}


def _wait(threads: list[threading.Thread], within_s: float) -> None:
    until = time.monotonic() + within_s
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _look(check: Check, settings: Settings) -> Found:
    """A row that breaks is a row that failed: the others are still worth seeing."""
    try:
        return check(settings)
    except UserError as error:
        return Found("failed", str(error), str(error))
    except Exception as error:
        return Found("failed", f"the check itself broke: {type(error).__name__}: {error}", "tell us of it")
