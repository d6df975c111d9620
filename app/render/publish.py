"""What is published with a fix: pull request, commit message, the last words of a run."""

import re
import textwrap
from dataclasses import dataclass

from markupsafe import Markup

from app.redact import Redactor
from app.render.comment import PATTERNS
from app.render.engine import fill, parts_of
from app.render.markers import marker
from app.render.scope import redacted, values_of
from app.render.space import Space, fitted_parts, tidy
from app.render.text import cut_end, cut_line, one_line
from app.runs.projection import Projection, project
from app.runs.view import ScopeView

SUBJECT = 72
FINAL_CHARACTERS = 400
MOST_TRAILERS = 20
_TYPE = re.compile(r"^(?:\w{1,12}(?:\([^)]{0,40}\))?!?:\s*)+")
_SCOPE = re.compile(r"[a-z0-9][a-z0-9_-]{0,19}")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\[bot\])?")


@dataclass(frozen=True)
class Commit:
    """`summary` is line 1 of the agent's report, `why` one sentence; both are cleaned of everything that acts."""

    summary: str
    run_id: str
    round: int
    tests: tuple[str, ...] = ()
    why: str = ""
    scope: str = ""
    co_author: str = ""
    co_author_id: int = 0


def render_pull(view: ScopeView, redactor: Redactor = PATTERNS) -> tuple[str, str]:
    """Title and body of the pull request that holds a fix; it refers to issues without a closing word (A10)."""
    safe, shown = redacted(view, redactor), _shown(view)
    key = view.run.run_id if view.run else view.scope_key

    def render(space: Space) -> dict[str, str]:
        values = {**values_of(safe, shown, space, None), "marker": Markup(marker("fix", key))}
        return {"body": tidy(fill("pulls/body.md.j2", values))}

    title = parts_of("pulls/title.j2", values_of(safe, shown, Space(), None))["title"]
    return redactor.text(cut_line(title, SUBJECT)), redactor.text(fitted_parts(render)["body"])


def render_commit(commit: Commit, redactor: Redactor = PATTERNS) -> str:
    """The whole message: subject of at most 72 characters, reason, trailers (UX-X3)."""
    scope = f"({commit.scope})" if _SCOPE.fullmatch(commit.scope) else ""
    summary = _TYPE.sub("", _inactive(redactor.text(commit.summary))).strip(" .")
    summary = summary if summary[:2].isupper() else summary[:1].lower() + summary[1:]
    why = "\n".join(textwrap.wrap(cut_end(_inactive(redactor.text(commit.why)), 400), SUBJECT))
    values = {
        "c": commit,
        "scope": Markup(scope),
        "summary": Markup(summary),
        "why": Markup(why) if why else None,
        "tests": [redactor.text(test) for test in commit.tests[:MOST_TRAILERS]],
        "co_author": _co_author(commit),
    }
    return redactor.text(fill("pulls/commit.txt.j2", values).strip("\n") + "\n")


def render_final_summary(view: ScopeView) -> str:
    """The last words of a run when no model wrote them, at most 400 characters (VF-11, T49)."""
    text = parts_of("pulls/summary.j2", values_of(view, _shown(view), Space(), None))["text"]
    return cut_end(one_line(text), FINAL_CHARACTERS)


def _shown(view: ScopeView) -> Projection:
    shown = project(view)
    if shown is None:
        raise ValueError("nothing may be written about this scope")
    return shown


def _inactive(text: str) -> str:
    """One line that mentions nobody, refers to nothing and is no trailer: git and GitHub read commit messages."""
    line = one_line(text).replace("@", "").replace("://", ":")
    line = re.sub(r"#(?=\d)", "", line)
    line = re.sub(r"\bGH-(?=\d)", "GH ", line, flags=re.IGNORECASE)
    return re.sub(r"(?i)\b(co-authored|signed-off|remedy)-", r"\1 ", line)


def _co_author(commit: Commit) -> Markup | None:
    if not commit.co_author_id or not _LOGIN.fullmatch(commit.co_author):
        return None
    address = f"{commit.co_author_id}+{commit.co_author}@users.noreply.github.com"
    return Markup(f"{commit.co_author} <{address}>")
