"""What the status comment says about a scope, for our own page: one text in two places never disagrees (UX-S3)."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from app.redact import Redactor
from app.render.comment import PATTERNS
from app.render.engine import blocks_of
from app.render.patch import take_away
from app.render.scope import redacted, values_of
from app.render.space import Space
from app.runs.projection import Projection, project
from app.runs.view import ScopeView

WIDE = Space(rows_open=50, rounds_text=400, evidence_lines=200, diff_lines=2000)


@dataclass(frozen=True)
class Told:
    """Markdown of ours, outside parts inert: the fact, whose turn it is, and why a run stopped."""

    shown: Projection
    headline: str
    turn: str
    reason: str


def told(view: ScopeView, redactor: Redactor = PATTERNS) -> Told | None:
    """The sentences of the comment; None for a scope about which nothing is written."""
    shown = project(view)
    if shown is None:
        return None
    safe = redacted(replace(view, pages=True), redactor)
    values = {**values_of(safe, shown, WIDE, take_away(safe)), "marker": Markup()}
    found = blocks_of(f"comments/{shown.state}.md.j2", values, ("headline", "turn", "reason"))
    return Told(shown, found["headline"], found["turn"], found["reason"])
