"""What the shell offers after TAB: ids from the ledger, quietly nothing when there is none."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

OFFERED = 50


def run_ids(incomplete: str) -> list[str]:
    """The newest runs."""
    from app.ledger.listing import newest

    return _ids(incomplete, lambda conn: [str(run["run_id"]) for run in newest(conn, OFFERED)])


def delivery_ids(incomplete: str) -> list[str]:
    """The newest deliveries."""
    from app.ledger.deliveries import newest_ids

    return _ids(incomplete, lambda conn: newest_ids(conn, OFFERED))


def runner_ids(incomplete: str) -> list[str]:
    """Runners that were installed."""
    from app.ledger.plugins import everything

    return _ids(incomplete, lambda conn: [str(row.id) for row in everything(conn)])


def _ids(incomplete: str, ask: "Callable[[Connection], Sequence[str]]") -> list[str]:
    with suppress(Exception):  # a shell that waits for a completion has no use for our troubles
        from app.cli.environment import read_settings
        from app.ledger.engine import open_engine, read

        engine = open_engine(read_settings().database, timeout_s=1)
        with read(engine) as conn:
            return [found for found in ask(conn) if found.startswith(incomplete)]
    return []
