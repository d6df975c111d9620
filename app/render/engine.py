"""Fill the templates; a value that did not go through a text function never reaches the page."""

import re
import textwrap
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.render.text import cell, clean, code, cut_end, cut_middle, facts, fence, one_line, prose
from app.runs.view import ConfigMistake

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_PLAIN_WORD = re.compile(r"[\w./-]+", re.ASCII)


def _only_made_safe(value: object) -> object:
    """Jinja calls this for each `{{ value }}`: plain text is a forgotten text function, and so a bug."""
    if isinstance(value, str) and not isinstance(value, Markup):
        raise TypeError(f"text without code, fence or prose in a template: {value[:40]!r}")
    return value


def ours(text: object) -> Markup:
    """A word or link of our own that needs no care: a state, a run id, an address below our own server."""
    return Markup(one_line(str(text)))


def line_of(text: object, n: int = 120) -> Markup:
    """One line of outside text as it is, cut in the middle; for prompts, whose notice covers it (PM-8)."""
    return Markup(cut_middle(one_line(str(text)), n))


def short(sha: object) -> Markup:
    """Seven characters of a commit as a code span."""
    return code(str(sha)[:7], 7)


def utc(at_ms: int) -> Markup:
    """`09:14 UTC` of UTC milliseconds."""
    return Markup(datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M UTC"))


def utc_day(at_ms: int) -> Markup:
    """`2026-11-30 09:14` of UTC milliseconds."""
    return Markup(datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M"))


def count(n: int, one: str, many: str = "") -> Markup:
    """`1 test`, `2 tests`, `1,204 tests`."""
    return Markup(f"{n:,} {one if n == 1 else many or one + 's'}")


def thousands(n: int) -> Markup:
    return Markup(f"{n:,}")


def sentence(text: object) -> str:
    """The text with a capital at its start; still to be made safe."""
    words = one_line(str(text))
    return words[:1].upper() + words[1:]


def in_words(n: int) -> Markup:
    """`four` for 4, digits from ten on."""
    return Markup(_SMALL[n] if n < len(_SMALL) else f"{n:,}")


def minutes(seconds: int) -> Markup:
    """`45 seconds`, `1 minute`, `20 minutes`."""
    return count(seconds, "second") if seconds < 60 else count(round(seconds / 60), "minute")


def html_code(text: object, n: int = 60) -> Markup:
    """An identifier inside an HTML tag of ours, as in `<summary>`, where Markdown code spans do not reach."""
    plain = str(code(text, n)).strip("`").strip() or " "
    entities = "".join(char if char.isalnum() or char in " .,-_()/=" else f"&#{ord(char)};" for char in plain)
    return Markup(f"<code>{entities}</code>")


def quoted(text: object) -> Markup:
    """Each line behind `> `, for an alert box; the text is ours and safe already."""
    return Markup("\n".join(f"> {line}" for line in str(text).strip().split("\n")))


def wrap_fence(text: object) -> Markup:
    """A note of a model, whole, wrapped at 100 columns in a fence (UX-R2)."""
    lines = [part for line in clean(str(text)).split("\n") for part in textwrap.wrap(line, 100) or [""]]
    return fence("\n".join(lines), lines=len(lines), width=100)


def plain(text: object, n: int = 24) -> Markup | None:
    """A word for a check's title, where no Markdown is read; None if it is long or not plain."""
    word = str(text)
    return Markup(word) if len(word) <= n and _PLAIN_WORD.fullmatch(word) else None


def excerpt(mistake: ConfigMistake) -> Markup:
    """The line of the policy file with a pointer at the column and what is allowed there."""
    at = f"{mistake.line} | "
    pointer = " " * (len(at) + max(mistake.column - 1, 0)) + "^ "
    return fence(f"{at}{mistake.excerpt}\n{pointer[:120]}{one_line(mistake.text)}", lines=4, width=160)


FILTERS: Mapping[str, Any] = {
    "cell": cell,
    "clean": lambda text: Markup(clean(str(text))),
    "code": code,
    "count": count,
    "cut": lambda text, n: Markup(cut_end(str(text), n)),
    "facts": facts,
    "fence": fence,
    "html_code": html_code,
    "in_words": in_words,
    "line_of": line_of,
    "minutes": minutes,
    "ours": ours,
    "plain": plain,
    "prose": prose,
    "quoted": quoted,
    "sentence": sentence,
    "short": short,
    "thousands": thousands,
    "utc": utc,
    "utc_day": utc_day,
    "wrap_fence": wrap_fence,
}


@cache
def environment() -> Environment:
    """The one environment of all templates."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_only_made_safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    made.filters.update(FILTERS)
    made.globals["excerpt"] = excerpt
    return made


def fill(name: str, values: Mapping[str, object]) -> str:
    """The text of one template; `TypeError` for a value without a text function, `UndefinedError` for a missing one."""
    return environment().get_template(name).render(values)


def parts_of(name: str, values: Mapping[str, object]) -> Mapping[str, str]:
    """What a template sets at its top level (`{% set title %}...{% endset %}`), by name, stripped."""
    module = environment().get_template(name).make_module(dict(values))
    return {key: str(value).strip() for key, value in vars(module).items() if isinstance(value, Markup)}


def blocks_of(name: str, values: Mapping[str, object], wanted: Iterable[str]) -> Mapping[str, str]:
    """The text of some `{% block %}`s of a template alone, stripped; one that it does not have is empty."""
    template = environment().get_template(name)
    context = template.new_context(dict(values))
    # Only a whole rendering runs the imports that its blocks need.
    list(template.root_render_func(context))
    return {block: "".join(context.blocks[block][0](context)).strip() for block in wanted if block in context.blocks}
