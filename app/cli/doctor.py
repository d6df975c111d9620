"""`remedy doctor`: is everything here that Remedy needs? Says what to do about what is not."""

import json
import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from app import doctor as rows_of
from app.cli.environment import prepare_data_folder, read_settings, remedy_version, with_app
from app.cli.say import busy, dot, paint, rule, sign
from app.doctor import Row

WITHIN_S = 30.0


def doctor(as_json: Annotated[bool, typer.Option("--json", help="The same facts as JSON.")] = False) -> None:
    """Look whether everything needed is here.

    Key, clock, permissions, events, webhook, database, Redis, workers, disk, sandbox and runners, each with its cure.
    Exit status 1 if something failed.
    """
    settings = read_settings()
    prepare_data_folder(settings)
    began = time.monotonic()
    with busy("looking"):
        rows = rows_of.examine(with_app(settings), WITHIN_S)
    print(_as_json(rows) if as_json else _as_table(rows, time.monotonic() - began))
    if any(row.found.level == "failed" for row in rows):
        raise typer.Exit(1)


def _as_json(rows: list[Row]) -> str:
    checks = [
        {
            "group": row.group,
            "check": row.check,
            "result": row.found.level,
            "details": row.found.details,
            "cure": row.found.cure,
            "link": row.found.link,
        }
        for row in rows
    ]
    return json.dumps({"version": remedy_version(), "counts": rows_of.counts(rows), "checks": checks}, indent=2)


def _as_table(rows: list[Row], took_s: float) -> str:
    facts = (f"remedy doctor  {remedy_version()}", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", f"{took_s:.1f} s")
    lines = [f" {dot()} ".join(facts), "", f"{'Check':<19} {'Result':<15} Details", rule(84)]
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            lines.append(group)
        level = paint(row.found.level, f"{sign(row.found.level)}{row.found.level:<13}")
        lines.append(f"  {row.check:<17} {level} {row.found.details}")
    counts = rows_of.counts(rows)
    lines += ["", ", ".join(paint(level, f"{count} {level}") for level, count in counts.items())]
    for row in rows:
        if row.found.level in ("failed", "warning") and row.found.cure:
            lines.append(f"Your turn: {row.check}: {row.found.cure}")
            lines += [f"           {row.found.link}"] if row.found.link else []
    return "\n".join([*lines, "", f"exit status {int('failed' in counts)} {dot()} as data: remedy doctor --json"])
