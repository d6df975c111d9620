"""The texts of every state as files; `python -m tests.unit.render.golden` writes them anew, the diff is then read."""

from pathlib import Path

from app.render import render_check, render_comment
from app.runs.view import ScopeView
from tests.unit.render.views import STATES

FOLDER = Path(__file__).parent / "golden"


def file_name(name: str) -> str:
    """The state's own name with the case that it shows."""
    state, _ = STATES[name]
    return f"{state.value}.{name.replace(' ', '-').replace(',', '').replace(':', '')}.md"


def shown(view: ScopeView) -> str:
    """Check and comment as one text."""
    check = render_check(view)
    buttons = " · ".join(f"{action.label}: {action.description}" for action in check.actions) or "no button"
    head = f"{check.status} {check.conclusion or ''}".rstrip()
    parts = ["# Check", f"{head} | {check.title} | {buttons}", check.summary, "# Its text", check.text or "(none)"]
    return "\n\n".join(parts) + "\n\n# Comment\n\n" + render_comment(view)


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, (_, view) in STATES.items():
        (FOLDER / file_name(name)).write_text(shown(view))


if __name__ == "__main__":
    write()
