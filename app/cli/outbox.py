"""`remedy outbox`: what Remedy wants to write to GitHub, what GitHub refused, and one more try of it (OB-7)."""

import json
from typing import Annotated

import typer

from app.cli.ledger import reading, writing
from app.cli.say import at, clean, rule, say
from app.errors import UserError

outbox = typer.Typer(name="outbox", help="List letters to GitHub that wait or were refused, send them again.")

AsJson = Annotated[bool, typer.Option("--json", help="The same facts as JSON.")]


@outbox.callback(invoke_without_command=True)
def list_letters(
    context: typer.Context,
    refused: Annotated[bool, typer.Option("--refused", help="Only those that GitHub refused.")] = False,
    simulated: Annotated[bool, typer.Option("--simulated", help="What dry runs would have written.")] = False,
    limit: Annotated[int, typer.Option(help="How many, newest first.", min=1, max=10_000)] = 50,
    as_json: AsJson = False,
) -> None:
    """List the letters that wait, and those that were refused; they are dead until somebody sends them again."""
    if context.invoked_subcommand is not None:
        return
    from app.ledger.post import WAITING, counts, letters
    from app.ledger.words import OutboxState

    states = (OutboxState.FAILED,) if refused else (*WAITING, OutboxState.FAILED)
    with reading() as (conn, _):
        found = letters(conn, (OutboxState.DROPPED,) if simulated else states, limit, simulated=simulated)
        told = counts(conn)
    if as_json:
        print(json.dumps({"refused_letters": told["refused_letters"], "letters": found}, indent=2))
        return
    print(f"{'Letter':<27} {'Written':<17} {'Kind':<15} {'State':<8} {'Tries':<6} Why")
    print(rule(110))
    for one in found:
        place = f"{one['id']:<27} {at(one['created_at']):<17} {one['kind']:<15} {one['state']:<8} {one['tries']:<6}"
        print(f"{place} {clean(one['error'])[:200]}".rstrip())
    print(f"{told['refused_letters']} refused by GitHub: `remedy outbox retry` sends them again.")


@outbox.command("retry")
def retry(
    ids: Annotated[list[str] | None, typer.Argument(metavar="LETTER", help="None: all that were refused.")] = None,
) -> None:
    """Send refused letters once more, at the end of their lanes; what stands at GitHub already is found first."""
    from app.ledger.outbox import try_again

    with writing() as conn:
        again = [letter for letter, _ in try_again(conn, ids or ())]
    if ids and (missing := sorted(set(ids) - set(again))):
        raise UserError(f"No refused letter is called {clean(', '.join(missing))}. `remedy outbox` lists them.")
    say("ok", "outbox", f"{len(again)} will be sent once more by the workers")
