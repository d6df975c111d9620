"""Answers to commands, and the hand-over reply, which alone mentions somebody."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.redact import Redactor
from app.render.comment import PATTERNS
from app.render.engine import fill
from app.render.links import Links, links_of
from app.render.markers import marker
from app.render.prompts.prompt import Prompt
from app.render.scope import mapped
from app.render.space import tidy
from app.render.text import code, cut_end, facts, fence, one_line
from app.runs.projection import project
from app.runs.view import ScopeView

HAND_OVER = 300
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")
_DRY_RUN_BYTES = 50_000


@dataclass(frozen=True)
class HelpRow:
    """One command as `commands/table` has it: verb with its argument, who may, what happens."""

    verb: str
    who: str
    line: str


@dataclass(frozen=True)
class Help:
    rows: tuple[HelpRow, ...]
    example: str = ""
    number: int = 0


@dataclass(frozen=True)
class Unknown:
    """A `/remedy` line that was not understood."""

    word: str
    verbs: tuple[str, ...]
    nearest: str = ""


@dataclass(frozen=True)
class Denied:
    """`needs` and `has` are GitHub's words: read, write, none. `why` says that the asking failed."""

    verb: str
    actor: str
    needs: str = "write"
    has: str = "read"
    why: str = ""


@dataclass(frozen=True)
class Nothing:
    """A command that changed nothing."""

    why: Literal["stopped", "running", "not_blocked", "no_failures", "nothing_to_cancel", "finished", "updating"]
    by: str = ""
    at: int | None = None
    sha: str = ""


@dataclass(frozen=True)
class NotNow:
    """A command that was understood and refused."""

    verb: str
    why: Literal["ci_running", "not_ready", "ended", "plan_changed", "hint_on_publish", "off", "other"]
    sha: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Mistake:
    """Our own error while handling a comment; `delivery` is what the operator looks for."""

    delivery: str


@dataclass(frozen=True)
class Ping:
    """Which version answers, and since when the oldest delivery waits (UTC ms), if one does."""

    version: str
    oldest_at: int | None = None


@dataclass(frozen=True)
class DryRun:
    """What a dry run shows: runner, title, tags and the whole prompt of each step."""

    runner: str
    title: str
    tags: tuple[str, ...]
    prompts: tuple[Prompt, ...]


Reply = Help | Unknown | Denied | Nothing | NotNow | Mistake | Ping
_TEMPLATES: Mapping[type, str] = {
    Help: "help",
    Unknown: "unknown",
    Denied: "denied",
    Nothing: "nothing",
    NotNow: "not_now",
    Mistake: "error",
    Ping: "ping",
}


def render_reply(reply: Reply, links: Links, key: str, redactor: Redactor = PATTERNS) -> str:
    """The answer to one command comment; `key` names that comment in the marker."""
    values = {
        "r": mapped(reply, redactor.text),
        "links": links,
        "run_id": links.run_id,
        "marker": Markup(marker("reply", key)),
    }
    return redactor.text(tidy(fill(f"replies/{_TEMPLATES[type(reply)]}.md.j2", values)))


def render_hand_over(view: ScopeView, login: str, comment_id: int | None = None, redactor: Redactor = PATTERNS) -> str:
    """One short comment with one mention of the person whose turn it is (UX-L8); a strange login is not mentioned."""
    shown = project(view)
    if shown is None:
        raise ValueError("nothing may be written about this scope")
    mention = Markup(f"@{login}") if _LOGIN.fullmatch(login) else code(login, 40)
    run = view.run
    links = links_of(view)
    key = run.run_id if run else view.scope_key
    values: dict[str, object] = {
        "s": shown.state.value[:2],
        "run": run,
        "mention": mention,
        "links": links,
        "number": view.number,
        "comment_id": comment_id,
        "marker": Markup(marker("handover", key)),
    }

    def text(reason_size: int) -> str:
        reason = (
            facts(redactor.text(run.error).rstrip(". "), reason_size) if run and run.error and reason_size else None
        )
        return tidy(fill("replies/handover.md.j2", values | {"reason": reason}))

    for size in (160, 100, 60, 30, 0):
        made = text(size)
        if len(made.split("\n", 1)[1].strip()) <= HAND_OVER:
            break
    return redactor.text(made)


def render_hand_over_done(view: ScopeView) -> str:
    """What the hand-over reply becomes when the turn has passed (decisions.md, 81)."""
    shown = project(view)
    key = view.run.run_id if view.run else view.scope_key
    state = shown.state.value[:2] if shown else ""
    return tidy(fill("replies/handover_done.md.j2", {"s": state, "marker": Markup(marker("handover", key))}))


def render_doubled(view: ScopeView) -> str:
    """What a second status comment of ours becomes."""
    return tidy(fill("replies/doubled.md.j2", {"marker": Markup(marker("notice", view.scope_key))}))


def render_dry_run(dry_run: DryRun, links: Links, key: str, redactor: Redactor = PATTERNS) -> str:
    """The one answer of a dry run; a prompt too long for a comment is cut at a line, and the cut is stated (A17)."""
    values = {
        "d": mapped(dry_run, redactor.text),
        "prompts": [_shown(prompt.text, _DRY_RUN_BYTES // len(dry_run.prompts)) for prompt in dry_run.prompts],
        "links": links,
        "run_id": links.run_id,
        "marker": Markup(marker("reply", key)),
    }
    return redactor.text(tidy(fill("replies/dry_run.md.j2", values)))


def render_note(text: str, run_id: str, turn_id: str, redactor: Redactor = PATTERNS) -> str:
    """What an agent says on an issue; its text stands in a fence, so nothing in it is live."""
    values = {"text": redactor.text(text), "run_id": run_id, "marker": Markup(marker("note", turn_id))}
    return redactor.text(tidy(fill("replies/note.md.j2", values)))


def _shown(text: str, most_bytes: int) -> Mapping[str, object]:
    kept: list[str] = []
    used = 0
    for line in text.split("\n"):
        used += len(line.encode()) + 1
        if used > most_bytes:
            break
        kept.append(line)
    body = "\n".join(kept)
    return {
        "fence": fence(body, lines=len(kept), width=100_000),
        "shown": len(body.strip()),
        "total": len(text.strip()),
    }


def nearest_verb(word: str, verbs: Sequence[str]) -> str:
    """The verb that a mistyped word is closest to, or empty."""
    close = difflib.get_close_matches(cut_end(one_line(word), 40).lower(), verbs, n=1, cutoff=0.6)
    return close[0] if close else ""
