"""From a stored delivery to its handler, and from a stored command to what it does."""

import structlog

from app.commands.run import give_up, run_command
from app.errors import TransientError, UserError
from app.events.handlers import HANDLERS
from app.events.payloads import Unreadable, parse
from app.ledger import commands, deliveries
from app.ledger.ready import COMMAND
from app.ledger.rows import Row
from app.ledger.transitions import Overtaken
from app.ledger.words import DeliveryState
from app.services import Services, hold, services

log = structlog.get_logger("intake")

COMMAND_LIVES_MS = 600_000
HOUR_MS = 3_600_000
WAITS_MS = (1_000, 3_000, 9_000, 60_000, 300_000, 900_000, 1_800_000, *(HOUR_MS,) * 6)
"""GH-12, then slower, as long as an outage of GitHub may last; after that the delivery is FAILED and visible."""
BUG_TRIES = 5


def intake(guid: str) -> str:
    """Handle one delivery, or one command that a lost worker left behind; again is harmless (IT-2, CR-2)."""
    s = services()
    if guid.startswith(COMMAND):
        return _command(s, guid.removeprefix(COMMAND))
    with hold(s, f"delivery:{guid}") as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            row = deliveries.get(conn, guid)
        if row is None or row.state is not DeliveryState.RECEIVED:
            return "idle"
        return _handle(s, row)


def _command(s: Services, command_id: str) -> str:
    with hold(s, f"command:{command_id}") as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            row = commands.get(conn, command_id)
        try:
            _ring(s, run_command(s, command_id))
        except Exception:  # the sweep rings again, for a while
            if row is not None and s.clock() - row.at < COMMAND_LIVES_MS:
                raise
            log.exception("command given up", command=command_id)
            _ring(s, give_up(s, command_id))
        return "processed"


def _handle(s: Services, row: Row) -> str:
    payload = parse(row.event, deliveries.payload(row))
    if isinstance(payload, Unreadable):
        with s.write() as conn:
            deliveries.unread(conn, row.guid, payload.reason, s.clock())
        return "failed"
    handler = HANDLERS.get((row.event, row.action))
    if handler is None:
        with s.write() as conn:
            deliveries.ignored(conn, row.guid, "no handler", s.clock())
        return "ignored"
    try:
        heard = handler(s, payload, row.guid)
        for command_id in heard.commands:
            _command(s, command_id)
    except TransientError as passing:
        return _failed(s, row, str(passing), retry=True, not_before=passing.retry_at or 0)
    except Overtaken as passing:
        return _failed(s, row, str(passing), retry=True)
    except UserError as error:
        return _failed(s, row, str(error), retry=False)
    except Exception as error:  # the edge of a job: kept, counted and visible, never lost (IT-4)
        log.exception("delivery failed", delivery=row.guid, github_event=row.event)
        return _failed(s, row, f"{type(error).__name__}: {error}", retry=row.tries < BUG_TRIES)
    with s.write() as conn:
        if heard.ignored:
            deliveries.ignored(conn, row.guid, heard.ignored, s.clock())
        else:
            deliveries.handled(conn, row.guid, s.clock())
    _ring(s, heard.rings)
    return "ignored" if heard.ignored else "processed"


def _failed(s: Services, row: Row, error: str, *, retry: bool, not_before: int = 0) -> str:
    """Again later, not before GitHub said so; or never."""
    wait = WAITS_MS[row.tries] if retry and row.tries < len(WAITS_MS) else None
    now = s.clock()
    next_at = None if wait is None else max(now + wait, not_before)
    with s.write() as conn:
        deliveries.failed(conn, row.guid, s.redactor.text(error)[:500], now, next_at)
    return "failed" if wait is None else "waiting"


def _ring(s: Services, rings: tuple[tuple[str, str], ...]) -> None:
    for job, row_id in rings:
        s.ring(job, row_id)
