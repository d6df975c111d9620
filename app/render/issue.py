"""The issue of a failure group, and the one line when it closes or opens again."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.redact import Redactor
from app.render.comment import PATTERNS
from app.render.engine import fill
from app.render.links import Links
from app.render.markers import marker
from app.render.scope import mapped, name_of, redacted, values_of
from app.render.space import Space, fitted_parts, tidy
from app.render.text import clean, cut_line, one_line
from app.runs.projection import ROWS, Projection, State, project
from app.runs.view import GroupView, ScopeView, SeenRow

TITLE = 72
_PLAIN_ID = re.compile(r"[\w./:\[\]=,+-]+", re.ASCII)
ClosingKind = Literal["pull_green", "pull_closed", "base_green"]


@dataclass(frozen=True)
class Closing:
    """Why an issue closes: CI of pull request `number` is green, it was closed, or `tests` passed on base `shas`."""

    kind: ClosingKind
    base_ref: str
    number: int = 0
    shas: tuple[str, ...] = ()
    tests: int = 1


@dataclass(frozen=True)
class Reopening:
    """Where a closed failure was seen again: in pull request `number`, or on the base (0)."""

    test: str
    base_ref: str
    sha: str
    number: int = 0


def render_issue(
    group: GroupView, view: ScopeView, seen: Sequence[SeenRow] = (), key: str = "", redactor: Redactor = PATTERNS
) -> tuple[str, str]:
    """Title and body; `seen` is newest first, `key` is what the marker holds (the failure's fingerprint)."""
    group, view = redacted(group, redactor), redacted(view, redactor)
    rows = mapped(tuple(seen), redactor.text)
    shown = project(view) or _unsaid()

    def render(space: Space) -> dict[str, str]:
        values = {
            **values_of(view, shown, space, None),
            "group": group,
            "seen": rows,
            "command": _command(group),
            "marker": Markup(marker("issue", key or group.group_id)),
        }
        return {"body": tidy(fill("issues/body.md.j2", values))}

    name = name_of(group).name
    title = cut_line(one_line(f"{name} fails: {group.error_head}" if group.error_head else f"{name} fails"), TITLE)
    return redactor.text(title), redactor.text(fitted_parts(render)["body"])


def render_closing(closing: Closing, key: str, redactor: Redactor = PATTERNS) -> str:
    """The comment that says why an issue was closed."""
    values = {"c": mapped(closing, redactor.text), "marker": Markup(marker("closing", key))}
    return redactor.text(tidy(fill("issues/closing.md.j2", values)))


def render_reopening(reopening: Reopening, links: Links, key: str, redactor: Redactor = PATTERNS) -> str:
    """The comment that says why an issue was opened again."""
    values = {
        "r": mapped(reopening, redactor.text),
        "links": links,
        "run_id": links.run_id,
        "marker": Markup(marker("closing", key)),
    }
    return redactor.text(tidy(fill("issues/reopening.md.j2", values)))


def _command(group: GroupView) -> str:
    tests = list(dict.fromkeys(clean(test).split("[", 1)[0] for test in group.tests[:5]))
    if group.framework != "pytest" or not tests or not all(_PLAIN_ID.fullmatch(test) for test in tests):
        return ""
    return shlex.join(["pytest", *tests])


def _unsaid() -> Projection:
    row = ROWS[State.NOTHING]
    return Projection(State.NOTHING, "completed", row.conclusion, row.buttons, row.turn, opens=False)
