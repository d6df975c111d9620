"""A review whose comments are the fix: one block that GitHub can commit for each place."""

from markupsafe import Markup

from app.redact import Redactor
from app.render.engine import fill
from app.render.markers import marker
from app.render.scope import redacted
from app.render.text import clean, longest_run
from app.runs.view import ScopeView


def is_sayable(text: str) -> bool:
    """A suggestion is committed as it stands, so one with a character that cannot be seen is not made."""
    return clean(text) == text.replace("\t", "    ")


def suggestion_block(text: str) -> str:
    """The new lines in a fence that is longer than any run of backticks in them."""
    ticks = "`" * max(3, longest_run(text) + 1)
    return f"{ticks}suggestion\n{text}{ticks}"


def render_review(view: ScopeView, suggestions: int, redactor: Redactor) -> str:
    """What stands above the suggestions."""
    safe = redacted(view, redactor)
    key = view.run.run_id if view.run else view.scope_key
    values = {"view": safe, "suggestions": suggestions, "marker": Markup(marker("review", key))}
    return redactor.text(fill("pulls/review.md.j2", values).strip())
