"""`remedy runners`: which agents there are, install one, try it, say what is wrong with each, remove it."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.complete import runner_ids
from app.cli.environment import prepare_data_folder, read_settings
from app.cli.parse import plain
from app.cli.say import busy, is_plain, paint, rule, say, sign
from app.errors import UserError

if TYPE_CHECKING:
    from app.plugins.listing import Known
    from app.runners.registry import RunnerSpec
    from app.runners.runner import Readiness
    from app.services import Services

LEVELS = {"ready": "passed", "broken": "failed", "installing": "wait", "disabled": "not checked"}
LOOK_S = 0.1
REMOVE_S = 3600

runners = typer.Typer(
    name="runners", help="The agents: list, install, try, check, remove.", invoke_without_command=True
)

AsJson = Annotated[bool, typer.Option("--json", help="The same facts as JSON.")]
RunnerId = Annotated[str, typer.Argument(metavar="ID", help="Such as acme/fixer/default.", autocompletion=runner_ids)]


@runners.callback()
def overview(context: typer.Context, as_json: AsJson = False) -> None:
    """List the runners."""
    if context.invoked_subcommand is None:
        list_runners(as_json)


@runners.command("list")
def list_runners(as_json: AsJson = False) -> None:
    """List every runner with version, state, roles, and the reason for a broken one."""
    from app.plugins.sources import ready_made

    with _services() as s:
        found = _known(s)
    if as_json:
        print(json.dumps({"runners": [asdict(one) for one in found], "ready_made": ready_made()}, indent=2))
        return
    _table([(one, one.version, one.problem) for one in found])
    if not found:
        print("No runner yet.")
    print(f"\nReady-made, for `remedy runners install NAME`: {', '.join(ready_made()) or 'none'}")


@runners.command("install")
def install(
    source: Annotated[
        str, typer.Argument(help="A folder or wheel with a runner.yaml, or the name of a ready-made one.")
    ],
    program: Annotated[str, typer.Option(help="The agent's program, where a ready-made one is not in PATH.")] = "",
    chosen: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE of a ready-made one's settings, such as model=NAME.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Install a runner: check it, store it by its digest, build its environment, start it once.

    Exit status 1 if it is broken; the reason is said. The same content again changes nothing.
    """
    from app.plugins.installing import receive
    from app.plugins.sources import opened

    values = dict(one.partition("=")[::2] for one in chosen or ())
    with _services() as s, opened(source, program, os.environ.get("PATH", ""), values) as found:
        digest = receive(s, found)
        row = _follow(s, digest, quiet=as_json)
    if as_json:
        print(
            json.dumps({name: row[name] for name in ("id", "version", "digest", "state", "percent", "error")}, indent=2)
        )
    elif row["error"]:
        print("\n".join(plain(line) for line in row["log_tail"][-2000:].splitlines()))
        say("failed", row["id"], plain(row["error"]))
    else:
        say("ok", row["id"], f"{row['version']} is ready; use it with REMEDY_AGENT={row['id']}")
    raise typer.Exit(1 if row["error"] else 0)


@runners.command("remove")
def remove(runner_id: RunnerId, as_json: AsJson = False) -> None:
    """Remove an installed runner; a turn that runs with it is waited for."""
    from app.ledger import plugins
    from app.plugins.installing import uninstall

    with _services() as s:
        with s.write() as conn:
            row = plugins.get(conn, runner_id)
            known = plugins.disable(conn, runner_id, s.clock())
        if row is None or not known:
            elsewhere = [one.origin for one in _known(s) if one.id == runner_id]
            where = (
                f"It lies in {elsewhere[0]}: delete it there" if elsewhere else "`remedy runners` lists what there is"
            )
            raise UserError(f"{runner_id} is not an installed runner. {where}.")
        until = time.monotonic() + REMOVE_S
        with busy("waiting for the turn that uses it"):
            while not (gone := uninstall(s, row)) and time.monotonic() < until:
                time.sleep(LOOK_S)
    if not gone:
        raise UserError(f"{runner_id} is disabled; a turn still runs with it. Remove it again later.")
    print(json.dumps({"id": runner_id, "removed": True})) if as_json else say("ok", runner_id, "removed")


@runners.command("doctor")
def doctor(runner_id: Annotated[str, typer.Argument(metavar="ID")] = "", as_json: AsJson = False) -> None:
    """Start each runner once and say its version, whether it is ready, and if not why.

    Exit status 1 if one of them is not ready.
    """
    with _services() as s:
        chosen = [one for one in _known(s) if runner_id in ("", one.id)]
        if not chosen and runner_id:
            raise UserError(f"There is no runner {runner_id}. `remedy runners` lists what there is.")
        with busy("starting each runner once"):
            rows = [(one, _examined(s, one)) for one in chosen]
    told = [(one, found.version or one.version, "; ".join(found.problems)) for one, found in rows]
    if as_json:
        facts = [
            {"id": one.id, "version": version, "ready": not why, "reason": why, **_facts(one)}
            for one, version, why in told
        ]
        print(json.dumps({"runners": facts}, indent=2))
    else:
        _table(told)
    raise typer.Exit(1 if any(why for _, _, why in told) else 0)


@runners.command("try")
def rehearse(
    runner_id: RunnerId,
    prompt: Annotated[str, typer.Option(help="What to say to it.")] = "",
    prompt_file: Annotated[
        Path | None, typer.Option(help="A file with what to say, such as the payload of an event.")
    ] = None,
    seconds: Annotated[int, typer.Option(help="How long it may take.", min=1, max=3600)] = 300,
) -> None:
    """Say one thing to a runner in an empty sandbox and print what came back as JSON.

    Its tools answer and do nothing; nothing is stored, nothing is written to GitHub.
    """
    from app.runners.codes import RunnerError
    from app.turns.probing import rehearse as run

    text = prompt_file.read_text() if prompt_file is not None else prompt
    with _services() as s:
        spec = _spec(s, runner_id)
        if isinstance(spec, RunnerError):
            raise UserError(f"{spec.message}.")
        result, events = run(s.settings, spec, text, seconds)
    told = {
        "final_text": result.text,
        "outputs": [{"role": "agent", "text": result.text}],
        "turn_id": "rehearsal",
        "error": None if result.error is None else {"code": result.error.code, "message": result.error.message},
        "events": [{"type": event.type.value, "data": event.data} for event in events],
    }
    print(s.redactor.text(json.dumps(told, indent=2, default=str)))
    raise typer.Exit(0 if result.error is None else 1)


def _follow(s: "Services", digest: str, quiet: bool) -> dict[str, Any]:
    """Do the install here, or watch the worker that was quicker; its row at the end."""
    from app.ledger import plugins
    from app.ledger.words import RunnerState
    from app.plugins.installing import install as run

    work = threading.Thread(target=run, args=(s, digest, _prober(s)), daemon=True)
    work.start()
    with _progress(quiet) as show:
        while True:
            with s.read() as conn:
                row = plugins.of_digest(conn, digest)
            if row is None:
                raise UserError("The runner was removed while it was installed.")
            show(row.percent, row.progress)
            if row.state is not RunnerState.INSTALLING:
                work.join()
                return dict(row._mapping)
            work.join(LOOK_S)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar for a person, one line per step for a log."""
    if quiet:
        yield lambda percent, text: None
        return
    if is_plain():
        seen: list[str] = []

        def line(percent: int, text: str) -> None:
            if text not in seen:
                seen.append(text)
                say("ok", f"{percent:3} %", text)

        yield line
        return
    from rich.progress import BarColumn, Progress, TextColumn

    with Progress(TextColumn("{task.percentage:3.0f} %"), BarColumn(), TextColumn("{task.description}")) as bar:
        task = bar.add_task("", total=100)
        yield lambda percent, text: bar.update(task, completed=percent, description=text)


def _examined(s: "Services", one: "Known") -> "Readiness":
    """RN-8: a reason in words for everything that keeps a runner from being used."""
    from app.ledger import plugins
    from app.plugins.installing import check
    from app.runners.codes import RunnerError
    from app.runners.runner import Readiness

    with s.read() as conn:
        row = plugins.get(conn, one.id)
    if row is not None and row.digest == one.digest:
        return check(s, row, _prober(s))
    spec = _spec(s, one.id)
    if isinstance(spec, RunnerError):
        return Readiness(False, problems=(spec.message,))
    return _prober(s)(spec)


def _spec(s: "Services", runner_id: str) -> Any:
    from app.plugins.listing import registry
    from app.runners.codes import Code, RunnerError

    with s.read() as conn:
        found = registry(conn, s.settings)
    entry = next((one for one in found.entries() if one.id == runner_id), None)
    return (
        found.spec_of(entry, {}) if entry is not None else RunnerError(Code.NOT_INSTALLED, f"{runner_id} is not ready")
    )


def _prober(s: "Services") -> "Callable[[RunnerSpec], Readiness]":
    from app.turns.probing import probe

    return lambda spec: probe(s.settings, spec)


def _known(s: "Services") -> "list[Known]":
    from app.plugins.listing import known

    with s.read() as conn:
        return known(conn, s.settings)


def _facts(one: "Known") -> dict[str, Any]:
    return {
        "label": one.label,
        "origin": one.origin,
        "usages": one.usages,
        "protocol": one.protocol,
        "state": one.state,
    }


def _table(rows: "Sequence[tuple[Known, str, str]]") -> None:
    print(f"{'Runner':<28} {'Version':<10} {'State':<12} {'Protocol':<10} {'For':<28} From")
    print(rule(110))
    for one, version, problem in rows:
        state = "broken" if problem and one.state == "ready" else one.state
        level = LEVELS[state]
        shown = paint(level, f"{sign(level)}{state:<10}")
        print(f"{one.id:<28} {version:<10} {shown} {one.protocol:<10} {', '.join(one.usages):<28} {one.origin}")
        if problem:
            print(f"    {plain(problem)}")


@contextmanager
def _services() -> "Iterator[Services]":
    """This command's tools; raises UserError when there is no database of this version."""
    from sqlalchemy.exc import ArgumentError, DBAPIError

    from app.services import make

    settings = read_settings()
    prepare_data_folder(settings)
    try:
        s = make(settings)
        yield s
        s.engine.dispose()
    except ArgumentError:
        raise UserError("DATABASE_URL is no address of a database.") from None
    except DBAPIError:
        raise UserError("The database does not answer, or is of another version: `remedy migrate`.") from None
