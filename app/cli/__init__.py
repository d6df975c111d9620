"""The command `remedy`: one light module per verb, which imports what it needs when it runs (PN-2)."""

import sys

import typer

from app.cli import (
    deliveries,
    doctor,
    gate,
    migrate,
    outbox,
    parse,
    prune,
    replay,
    runners,
    runs,
    token,
    up,
    web,
    worker,
)
from app.errors import UserError

remedy = typer.Typer(
    name="remedy",
    help="Remedy repairs red checks on GitHub.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

VERBS = (
    *(up.up, web.web, worker.worker, migrate.migrate, doctor.doctor, parse.parse, gate.gate, token.token),
    *(prune.prune, replay.replay),
)

for verb in VERBS:
    remedy.command()(verb)
for group in (runs.runs, runners.runners, deliveries.deliveries, outbox.outbox):
    remedy.add_typer(group)


def main() -> None:
    """Entry of `remedy` and of `python -m app.cli`: exit 1 with one sentence for what a person can act on (UX-T7)."""
    try:
        remedy(prog_name="remedy")
    except UserError as error:
        print(f"remedy: {error}", file=sys.stderr)
        sys.exit(1)
