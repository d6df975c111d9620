"""`remedy deliveries`: webhooks that were kept and not handled, why, and one more try of them (IT-4)."""

import json
from typing import Annotated

import typer

from app.cli.ledger import reading, writing
from app.cli.say import at, clean, rule, say
from app.errors import UserError

deliveries = typer.Typer(name="deliveries", help="List deliveries that failed, try them again.")

AsJson = Annotated[bool, typer.Option("--json", help="The same facts as JSON.")]
Unread = Annotated[bool, typer.Option("--unread", help="Only those whose body this version of Remedy cannot read.")]
Limit = Annotated[int, typer.Option(help="How many, newest first.", min=1, max=10_000)]


@deliveries.callback(invoke_without_command=True)
def list_failed(context: typer.Context, unread: Unread = False, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the deliveries that failed: they are kept, with the reason."""
    if context.invoked_subcommand is not None:
        return
    from app.ledger.post import counts, failed_deliveries

    with reading() as (conn, _):
        found, told = failed_deliveries(conn, limit, unread=unread), counts(conn)
    if as_json:
        print(json.dumps({**told, "deliveries": found}, indent=2))
        return
    print(f"{'Delivery':<37} {'Received':<17} {'Event':<34} Why")
    print(rule(110))
    for one in found:
        event = clean(f"{one['event']} {one['action']}")[:34]
        print(f"{one['guid']:<37} {at(one['received_at']):<17} {event:<34} {clean(one['error'])[:200]}")
    print(f"{told['failed_deliveries']} failed, of which {told['unread_deliveries']} cannot be read.")


@deliveries.command("retry")
def retry(
    guids: Annotated[list[str] | None, typer.Argument(metavar="DELIVERY", help="None: all that failed.")] = None,
    unread: Unread = False,
) -> None:
    """Handle them once more, as after an upgrade; those that fail again are kept again."""
    from app.ledger.deliveries import try_again

    with writing() as conn:
        again = try_again(conn, guids or (), unread_only=unread)
    if guids and (missing := sorted(set(guids) - set(again))):
        raise UserError(f"No failed delivery is called {clean(', '.join(missing))}. `remedy deliveries` lists them.")
    say("ok", "deliveries", f"{len(again)} will be handled once more by the workers")
