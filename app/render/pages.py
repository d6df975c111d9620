"""Fill the page templates: HTML with autoescape, every text cleaned of what cannot be seen (UX-H1, UX-E7)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.render.engine import TEMPLATES
from app.render.text import clean, cut_middle, one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

FOLDER = TEMPLATES / "pages"


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # only a web process that shows a run pays for it (PN-1)

    return MarkdownIt("commonmark", {"html": False, "linkify": False}).disable("image")


def said(text: str) -> Markup:
    """A text of ours in Markdown, whose outside parts are inert already, as HTML; raw HTML in it stays text."""
    return Markup(_markdown().render(text))


def said_inline(text: str) -> Markup:
    return Markup(_markdown().renderInline(text))


def _visible(value: object) -> object:
    """Jinja calls this for each `{{ value }}`: outside text shows its colour codes and hidden characters (UX-E8)."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _at(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def hour(at_ms: int) -> str:
    return _at(at_ms).strftime("%H:%M")


def day(at_ms: int) -> str:
    return _at(at_ms).strftime("%Y-%m-%d %H:%M")


def iso(at_ms: int) -> str:
    return _at(at_ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def span(ms: int) -> str:
    """`41 s`, `2 min 10 s`, `3 h 5 min`."""
    seconds = max(0, round(ms / 1000))
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def ago(ms: int) -> str:
    """`20 s ago`, `51 min ago`, `5 h ago`, `3 days ago`; beside an absolute time only (UX-W1)."""
    minutes = max(0, ms) // 60_000
    if minutes < 1:
        return f"{max(0, ms) // 1000} s ago"
    if minutes < 120:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 2880 else f"{minutes // 1440} days ago"


def count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


FILTERS: Mapping[str, Any] = {
    "ago": ago,
    "count": count,
    "cut": lambda text, n: cut_middle(one_line(str(text)), n),
    "day": day,
    "hour": hour,
    "iso": iso,
    "said": said,
    "said_inline": said_inline,
    "short": lambda sha: str(sha)[:7],
    "span": span,
    "thousands": lambda n: f"{n:,}",
}


@cache
def environment() -> Environment:
    """The one environment of all pages."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS)
    return made


def fill_page(name: str, values: Mapping[str, object]) -> str:
    """The HTML of one page or part; raises UndefinedError for a value that is missing."""
    return environment().get_template(name).render(values)
