"""`remedy replay`: a recorded delivery, or a log, once more as a dry run; nothing is written to GitHub."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.complete import delivery_ids
from app.cli.environment import read_settings, with_app
from app.cli.parse import Unreadable, plain, read_file, reading_options
from app.cli.say import busy, dot, paint, rule, sign
from app.errors import UserError

if TYPE_CHECKING:
    from app.cli.rehearse import Told

DIFFERS = 3


@dataclass(frozen=True)
class Line:
    """One row: what it was when it was recorded ("" where nobody knows) and what it is now."""

    step: str
    now: str
    recorded: str | None = None

    @property
    def result(self) -> str:
        if self.recorded is None:
            return ""
        return "same" if self.recorded == self.now else "differs"


def replay(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DELIVERY|FILE",
            help="The id of a delivery, a file with the body of one (.json), or a log (- for standard input).",
            autocompletion=delivery_ids,
        ),
    ],
    event: Annotated[str, typer.Option(help="The event of a body, where it does not show by itself.")] = "",
    text: Annotated[bool, typer.Option("--text", help="Show the comment that would be written.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same facts as JSON.")] = False,
) -> None:
    """Show what a delivery or a log leads to, as a dry run.

    A delivery is tried on a copy of the ledger as it stood then: GitHub is asked, nothing is written there, no agent
    and no test is started. Exit 0; 3 when a recorded delivery would lead to something else now.
    """
    if what == "-" or (Path(what).is_file() and not what.endswith(".json")):
        told, comment = _log(what), ""
    else:
        with busy("asking GitHub"):
            told, comment = _delivery(what, event)
    if as_json:
        rows = [{"step": one.step, "recorded": one.recorded, "now": one.now, "result": one.result} for one in told]
        print(json.dumps({"replayed": what, "steps": rows, "comment": comment}, indent=2, ensure_ascii=False))
    else:
        print("\n".join(_table(what, told)))
        if text and comment:
            print(f"\nThe comment would say:\n\n{comment}")
    raise typer.Exit(DIFFERS if any(one.result == "differs" for one in told) else 0)


def _delivery(what: str, event: str) -> tuple[list[Line], str]:
    from sqlalchemy.exc import DBAPIError

    from app.cli import rehearse
    from app.ledger import deliveries
    from app.services import make, utc_ms

    s = make(with_app(read_settings()))
    try:
        if Path(what).is_file():
            return _lines(rehearse.rehearse(s, _from_file(Path(what), event), utc_ms()))
        row = rehearse.find(s, what)
        if row is None:
            raise UserError(f"There is no file and no delivery {plain(what)}.")
        if not row.payload:
            raise UserError(f"The payload of {plain(what)} was let go: it is older than REMEDY_KEEP_DAYS.")
        names = ("guid", "event", "action", "installation_id", "repository_id", "semantic_key")
        again = deliveries.Delivery(**{name: row._mapping[name] for name in names}, payload=deliveries.payload(row))
        return _lines(rehearse.rehearse(s, again, row.received_at), rehearse.recorded(s, row))
    except DBAPIError:
        raise UserError("The database does not answer, or is of another version: `remedy migrate`.") from None


def _from_file(path: Path, event: str) -> Any:
    """A body as GitHub sends it, or as its page of deliveries shows it: with `payload` and headers around it."""
    from app.events.payloads import Unreadable as NotRead
    from app.events.payloads import parse, semantic_key
    from app.events.router import event_of
    from app.ledger.deliveries import Delivery

    try:
        body = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as JSON: {error}") from None
    if isinstance(body, dict) and isinstance(body.get("payload"), dict):
        body = body["payload"]
    event = event or (event_of(body) if isinstance(body, dict) else "")
    payload = parse(event, data := json.dumps(body).encode())
    if isinstance(payload, NotRead):
        raise UserError(f"{path} is no delivery that Remedy reads ({event or 'unknown event'}): {payload.reason}")
    key, where = semantic_key(payload), (payload.installation_id, payload.repository_id)
    return Delivery("replayed", event, payload.action, *where, key, data)


def _lines(now: "Told", then: "Told | None" = None) -> tuple[list[Line], str]:
    """The rows about a delivery, and the comment it would lead to."""
    found = [Line("Delivery", now.delivery, then.delivery if then else None)]
    if now.diagnosis or (then and then.diagnosis):
        found.append(Line("Diagnosis", now.diagnosis, then.diagnosis if then else None))
    for title in dict.fromkeys([*now.causes, *(then.causes if then else ())]):
        cause = now.causes.get(title, "not seen")
        found.append(Line(f"Cause of {plain(title)}", cause, then.causes.get(title, "not seen") if then else None))
    if now.run:
        found.append(Line("Run", now.run, then.run if then and then.run else None))
    found.append(Line("Would be written", ", ".join(word.lower() for word in now.writes) or "nothing"))
    return found, now.comment


def _log(path: str) -> list[Line]:
    """What a log says by itself; whose fault it is also takes the base and the history."""
    from app.failures.blame import INFRASTRUCTURE_KINDS
    from app.failures.evidence import budget_of
    from app.failures.grouping import group_failures

    try:
        reading = read_file(path, [], reading_options())
    except Unreadable as error:
        raise UserError(f"{path}: {error}") from None
    groups = group_failures(reading.failures)
    named = (f"{reading.lines_total:,} lines", *reading.frameworks)
    found = [Line("Log", f" {dot()} ".join(named)), Line("Kind", reading.job_kind.replace("_", " "))]
    found.append(Line("Failing tests", f"{len(reading.failures)} in {len(groups)} groups (one issue per group)"))
    found += [Line(f"Group {n}", plain(group.title)) for n, group in enumerate(groups, 1)]
    found += [Line("Flaky", plain(one.test_id)) for one in reading.flaky]
    infrastructure = reading.job_kind in INFRASTRUCTURE_KINDS
    cause = "infrastructure, by the log alone" if infrastructure else "decided with base and history, which a log lacks"
    kept = f"at most {min(budget_of(reading.bytes_total), reading.bytes_total):,} of {reading.bytes_total:,} bytes"
    return [*found, Line("Cause", cause), Line("An agent would get", kept)]


def _table(what: str, told: Sequence[Line]) -> Iterator[str]:
    compared = any(one.recorded is not None for one in told)
    yield f"remedy replay  {plain(what)} {dot()} a dry run, nothing is written to GitHub"
    yield ""
    width = min(60, max(len(one.step) for one in told))
    yield f"{'Step':<{width}}  {'Now':<34}{'  Recorded' if compared else ''}".rstrip()
    yield rule(width + (72 if compared else 40))
    for one in told:
        mark = paint(one.result, f"{sign(one.result)}{one.result}") if one.result else ""
        recorded = f"  {plain(one.recorded)}  {mark}" if one.recorded is not None else ""
        yield f"{one.step:<{width}}  {plain(one.now):<34}{recorded}".rstrip()
    differ = sum(one.result == "differs" for one in told)
    yield ""
    yield f"{differ} of {len(told)} differ" if compared else f"{len(told)} facts"
    yield f"exit status {DIFFERS if differ else 0} {dot()} as data: --json"
