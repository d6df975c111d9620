"""`remedy doctor`: is everything here that Remedy needs? Says what to do about what is not."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Annotated

import typer

from app.cli.checks import CHECKS, Check, Found, Level
from app.cli.environment import prepare_data_folder, read_settings, remedy_version
from app.cli.say import dot, is_plain, rule
from app.errors import UserError
from app.redact import Redactor
from app.settings import Settings
from app.telemetry import known_secrets

SIGNS: Mapping[Level, str] = {"passed": "✓", "failed": "✗", "warning": "!", "not checked": "–"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="The same facts as JSON.")] = False) -> None:
    """Look whether everything needed is here.

    Key, secrets, clock, database, Redis, sandbox and runners; exit status 1 if something failed.
    """
    settings = read_settings()
    prepare_data_folder(settings)
    found = {group: {name: _look(check, settings) for name, check in rows.items()} for group, rows in CHECKS.items()}
    text = _as_json(found) if as_json else _as_table(found)
    # An error text of a library may hold an address with a password (S47).
    print(Redactor(known_secrets(settings)).text(text))
    if any(row.level == "failed" for rows in found.values() for row in rows.values()):
        raise typer.Exit(1)


def _look(check: Check, settings: Settings) -> Found:
    """A row that breaks is a row that failed: the others are still worth seeing."""
    try:
        return check(settings)
    except UserError as error:
        return Found("failed", str(error), str(error))
    except Exception as error:
        return Found("failed", f"the check itself broke: {type(error).__name__}: {error}")


def _as_json(found: dict[str, dict[str, Found]]) -> str:
    rows = [
        {"group": group, "check": name, "result": row.level, "details": row.details, "cure": row.cure}
        for group, checked in found.items()
        for name, row in checked.items()
    ]
    return json.dumps({"version": remedy_version(), "checks": rows}, indent=2, ensure_ascii=False)


def _as_table(found: dict[str, dict[str, Found]]) -> str:
    lines = [f"remedy doctor  {remedy_version()}", "", f"{'Check':<19} {'Result':<15} Details", rule(76)]
    rows = [row for checked in found.values() for row in checked.values()]
    for group, checked in found.items():
        lines.append(group)
        lines += [f"  {name:<17} {_sign(row)}{row.level:<13} {row.details}" for name, row in checked.items()]
    counts = Counter(row.level for row in rows)
    lines += ["", ", ".join(f"{counts[level]} {level}" for level in SIGNS if counts[level])]
    lines += [f"Your turn: {row.cure}" for row in rows if row.level in ("failed", "warning") and row.cure]
    failed = any(row.level == "failed" for row in rows)
    return "\n".join([*lines, "", f"exit status {int(failed)} {dot()} as data: remedy doctor --json"])


def _sign(row: Found) -> str:
    return "" if is_plain() else f"{SIGNS[row.level]} "
