"""`remedy prune`: let go of what is old, and say how much; what was decided and why stays."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.environment import read_settings
from app.cli.say import busy, say
from app.errors import UserError
from app.telemetry import now_ms


def prune(
    days: Annotated[int, typer.Option(help="Keep everything of runs that ended within this many days.", min=1)] = 90,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The counts as JSON.")] = False,
) -> None:
    """Remove payloads, prompts, events of turns and files of evidence of what ended long ago.

    Runs, verdicts and the chain of evidence stay; each chain names the files that it lost.
    """
    from sqlalchemy.exc import ArgumentError, DBAPIError

    from app.ledger.engine import open_engine
    from app.ledger.evidence import Store
    from app.ledger.retention import let_go

    settings = read_settings()
    try:
        engine = open_engine(settings.database)
        with busy("removing what is old"):
            removed = let_go(engine, Store(settings.data / "evidence"), days, now_ms(), dry_run=dry_run)
        engine.dispose()
    except ArgumentError:
        raise UserError("DATABASE_URL is no address of a database.") from None
    except DBAPIError:
        raise UserError("The database does not answer, or is of another version: `remedy migrate`.") from None
    counts = asdict(removed)
    if as_json:
        print(json.dumps({"dry_run": dry_run, "days": days, **counts}))
        return
    words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    say("ok", "prune", f"{'would remove' if dry_run else 'removed'} {words}")
