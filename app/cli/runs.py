"""`remedy runs`: which runs there are, what happened in one, and whether its evidence still holds (EV-2)."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from app.cli.complete import run_ids
from app.cli.environment import child_environment, python
from app.cli.ledger import reading
from app.cli.say import at, clean, dot, paint, rule
from app.errors import UserError

runs = typer.Typer(name="runs", help="List the runs, show one, verify its evidence.", invoke_without_command=True)

LEVELS = {"RUNNING": "wait", "BLOCKED": "warning", "COMPLETED": "passed", "CANCELLED": "not checked"}

AsJson = Annotated[bool, typer.Option("--json", help="The same facts as JSON.")]
RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="The id of the run, as in its status comment.", autocompletion=run_ids)
]


@runs.callback()
def list_runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many, newest first.", min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest runs of all installations."""
    if context.invoked_subcommand is not None:
        return
    from app.ledger.listing import newest

    with reading() as (conn, _):
        found = newest(conn, limit)
    if as_json:
        print(json.dumps({"runs": found}, indent=2, ensure_ascii=False))
        return
    print(f"{'Run':<27} {'Status':<10} {'Where':<22} {'Step':<6} {'Changed':<17} Scope")
    print(rule(110))
    for run in found:
        where = run["blocked_stage"] or run["stage"]
        why = run["block_cause"] or run["result"] or run["cancel_reason"] or where
        status = paint(LEVELS[run["status"]], f"{run['status']:<10}")
        print(
            f"{run['run_id']:<27} {status} {why:<22} {run['step']}/{run['steps']:<4} "
            f"{at(run['updated_at']):<17} {clean(run['repository'])} {clean(run['scope'])}"
        )
    if not found:
        print("No run yet.")


@runs.command("show")
def show(run_id: RunId, as_json: AsJson = False) -> None:
    """Show one run: its steps, what happened, what was decided and on which evidence."""
    from app.ledger.listing import whole

    with reading() as (conn, _):
        found = whole(conn, run_id)
    if found is None:
        raise UserError(f"There is no run {clean(run_id)}. `remedy runs` lists them.")
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n".join(_told(found)))


@runs.command("verify")
def verify(run_id: RunId, as_json: AsJson = False) -> None:
    """Check a run again from what is stored, without GitHub and without a model.

    The chain of its evidence, each file, its history without gaps, each verdict in its own answer and what it cites.
    Exit status 1 and the first broken link if something does not hold.
    """
    from app.ledger.audit import audit
    from app.ledger.listing import whole

    with reading() as (conn, store):
        if whole(conn, run_id) is None:
            raise UserError(f"There is no run {clean(run_id)}. `remedy runs` lists them.")
        found = audit(conn, store, run_id)
    if as_json:
        seen = {"evidence": found.evidence, "removed": found.removed, "verdicts": found.verdicts}
        print(json.dumps({"run_id": run_id, "ok": not found.broken, "broken": found.broken, **seen}, indent=2))
    else:
        counts = f"{found.evidence} pieces of evidence {dot()} {found.verdicts} verdicts {dot()} {found.events} events"
        removed = f" {dot()} {found.removed} files removed by retention" if found.removed else ""
        print(f"broken: {clean(found.broken)}" if found.broken else f"holds: {counts}{removed}")
    raise typer.Exit(1 if found.broken else 0)


@runs.command("tick")
def tick(run_id: RunId) -> None:
    """Let one run make its next step now, as the sweep would, and say what came of it."""
    from app.ledger.listing import whole

    with reading() as (conn, _):
        if whole(conn, run_id) is None:
            raise UserError(f"There is no run {clean(run_id)}. `remedy runs` lists them.")
    argv = python("jobs.advance", run_id)
    os.execve(argv[0], argv, child_environment())


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    run = found["run"]
    place = f"{clean(run['repository'])} {clean(run['scope'])} at {run['head_sha']}"
    yield f"run {run['run_id']}  {run['status']}  {place}"
    for name in ("block_cause", "blocked_stage", "error", "result", "cancel_reason", "final_text"):
        if run[name]:
            yield f"{name.replace('_', ' ')}: {clean(str(run[name]))[:400]}"
    for title, rows in found.items():
        if title == "run" or not rows:
            continue
        yield ""
        yield title.replace("_", " ")
        for row in rows:
            when = f"{at(row['at'])}  " if "at" in row else ""
            rest = "  ".join(
                clean(_word(value)) for name, value in row.items() if name != "at" and value not in ("", None)
            )
            yield f"  {when}{rest}"[:300]


def _word(value: object) -> str:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else str(value)
