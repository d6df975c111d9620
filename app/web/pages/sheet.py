"""From the rows of one run to the values of its page's parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from app.ledger.board import RunLine
from app.ledger.sheet import Moment, Sheet, TurnSheet
from app.redact import Redactor
from app.render.scope import as_expected, columns, mapped, name_of
from app.render.told import Told, told
from app.runs.model import Ci, Decision, Stage, Status
from app.runs.projection import Button
from app.runs.view import RunView, ScopeView

DIFF_LINES = 2000
PARTS = (
    "fact",
    "state",
    "next",
    "stages",
    "tests",
    "proof",
    "fix",
    "verdicts",
    "repair",
    "talk",
    "timeline",
    "cost",
    "kept",
)
"""The parts of the page that are sent anew while it is open, each the element of that id (UX-H4)."""

_STAGES = (
    (Stage.PLAN_REVIEW, "Plan"),
    (Stage.AGENT, "Agent"),
    (Stage.PROVE, "Proof"),
    (Stage.SUPERVISOR, "Supervisor"),
    (Stage.PUBLISH, "Publish"),
    (Stage.AWAIT_CI, "CI"),
    (Stage.FINAL_REVIEW, "Report"),
)

_VERDICT: Mapping[str, str] = {Decision.APPROVE: "approved", Decision.CORRECT: "sent back", Decision.BLOCK: "blocked"}
_CI: Mapping[str, str] = {
    Ci.GREEN: "green",
    Ci.RED_NAMED: "red",
    Ci.RED_OTHER: "red elsewhere",
    Ci.NONE: "none ran",
    Ci.WAITING_APPROVAL: "waits for a person",
    Ci.UNFINISHED: "did not end",
    Ci.NOT_PUSHED: "not pushed",
}


@dataclass(frozen=True)
class StageNote:
    """One stage of the line below the turn box."""

    name: str
    note: str = ""
    done: bool = False
    here: bool = False


@dataclass(frozen=True)
class Part:
    """One row of the cost table."""

    name: str
    turns: int
    tokens: int
    usd: Decimal | None


def values_of_run(sheet: Sheet, line: RunLine, redactor: Redactor, now: int) -> dict[str, Any]:
    """What the templates below `pages/run` use; every text is redacted once more (RD6)."""
    said = told(sheet.view, redactor)
    safe: Sheet = mapped(sheet, redactor.text)
    view, run = safe.view, safe.view.run
    assert run is not None and said is not None
    lines = [] if view.fix is None else diff_lines(view.fix.diff)
    return {
        "sheet": safe,
        "view": view,
        "run": run,
        "line": line,
        "told": said,
        "fact": fact_of(said, run),
        "buttons": buttons_of(said, run),
        "stages": stages_of(safe, run, view),
        "names": [name_of(group) for group in view.groups],
        "columns": columns(view.proof.tests) if view.proof else (),
        "matching": as_expected,
        "diff": lines[:DIFF_LINES],
        "diff_cut": max(0, len(lines) - DIFF_LINES),
        "rounds_kept": sum(one.kind == "diff" for one in safe.evidence),
        "costs": costs_of(safe.turns),
        "bar": _bars(safe.moments, run.started_at, now),
        "now": now,
    }


def fact_of(said: Told, run: RunView) -> str:
    """The comment's headline as the page's heading (UX-S3), plain."""
    plain = said.headline.replace("`", "").replace("\\", "").strip()
    return (plain[:1].upper() + plain[1:]) or f"Run {run.run_id}"


def buttons_of(said: Told, run: RunView) -> tuple[Button, ...]:
    """The check's buttons, where they would act on this run: one that a newer took over has none (UX-K4)."""
    over = run.status in (Status.COMPLETED, Status.CANCELLED) and run.cancel_reason.startswith("superseded")
    return () if over else said.shown.buttons


def stages_of(sheet: Sheet, run: RunView, view: ScopeView) -> list[StageNote]:
    """Diagnosis and issue, then the machine's stages, with a note on each."""
    here = run.blocked_stage if run.status is Status.BLOCKED else run.stage
    over = run.status in (Status.COMPLETED, Status.CANCELLED)
    order = [stage for stage, _ in _STAGES]
    at = len(order) if run.status is Status.COMPLETED else order.index(here) if here in order else -1
    numbers = [str(group.issue_number) for group in view.groups if group.issue_number]
    notes = [
        StageNote("Diagnosis", f"{view.failures_total} failing", done=True),
        StageNote("Issue", ", ".join(numbers[:3]) or "none", done=bool(numbers)),
    ]
    said = _notes(sheet, run, view)
    for place, (stage, name) in enumerate(_STAGES):
        notes.append(StageNote(name, said.get(stage, ""), done=place < at, here=not over and place == at))
    return notes


def _notes(sheet: Sheet, run: RunView, view: ScopeView) -> Mapping[Stage, str]:
    verdicts = {turn.purpose: _VERDICT.get(turn.verdict, "") for turn in sheet.turns}
    published = view.publication
    return {
        Stage.PLAN_REVIEW: verdicts.get("plan", "not asked"),
        Stage.AGENT: f"round {run.round} of {run.rounds}",
        Stage.PROVE: _grid(view),
        Stage.SUPERVISOR: verdicts.get("review", ""),
        Stage.PUBLISH: published.mode.replace("_", " ") if published is not None else "",
        Stage.AWAIT_CI: _CI.get(published.ci or "", "") if published is not None else "",
        Stage.FINAL_REVIEW: run.result.value.replace("_", " ") if run.result is not None else "",
    }


def costs_of(turns: Sequence[TurnSheet]) -> list[Part]:
    """Agent, supervisor, plan repair, and the sum."""
    names = (("AGENT", "Agent"), ("SUPERVISOR", "Supervisor"), ("SELF_REPAIR", "Plan repair"))
    parts = [_part(name, [turn for turn in turns if turn.role == role]) for role, name in names]
    return [*(part for part in parts if part.turns), _part("Sum", list(turns))]


def diff_lines(diff: str) -> list[tuple[str, str]]:
    """Each line of a unified diff with the class that colours it."""
    kinds: Mapping[str, str] = {"+": "add", "-": "del", "@": "at"}
    heads = ("+++", "---", "new file", "deleted file", "similarity", "rename", "old mode", "new mode")
    lines = diff.strip("\n").split("\n") if diff.strip() else []
    return [("at" if line.startswith(heads) else kinds.get(line[:1], ""), line) for line in lines]


def _part(name: str, turns: Sequence[TurnSheet]) -> Part:
    known = [turn.usd for turn in turns if turn.usd is not None]
    return Part(name, len(turns), sum(turn.tokens for turn in turns), sum(known, Decimal(0)) if known else None)


def _grid(view: ScopeView) -> str:
    if view.proof is None:
        return ""
    good = sum(row.as_expected for row in view.proof.rows)
    return f"{good} of {len(view.proof.rows)} trees"


def _bars(moments: Sequence[Moment], start: int, now: int) -> Any:
    """A function that draws where in the run something happened; inline SVG with numbers of ours only (UX-H2)."""
    first = min((moment.at for moment in moments), default=start)
    whole = max(1, max((moment.until or now if moment.lasts else moment.at for moment in moments), default=now) - first)

    def bar(moment: Moment) -> Markup:
        x = round(100 * (moment.at - first) / whole, 1)
        width = max(1.0, round(100 * ((moment.until or now) - moment.at) / whole, 1))
        kind = _colour(moment)
        return Markup(
            '<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
            '<rect class="track" width="100" height="4"/>'
            f'<rect class="fill {kind}" x="{x}" width="{min(width, 100 - x if x < 99 else 1)}" height="4"/></svg>'
        )

    return bar


def _colour(moment: Moment) -> str:
    if moment.until is None:
        return "go"
    if moment.kind == "proof":
        return {"passed": "ok", "": "off"}.get(str(moment.facts["outcome"]), "bad")
    if moment.kind == "turn":
        turn: TurnSheet = moment.facts["turn"]
        return {"FAILED": "bad", "CANCELLED": "off"}.get(
            turn.status, {"correct": "hold", "block": "bad"}.get(turn.verdict, "ok")
        )
    return "ok"
