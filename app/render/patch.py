"""The patch that a person pastes into a terminal (state 15): exact, or not shown at all (UX-X4)."""

import re
from urllib.parse import urlsplit

from markupsafe import Markup

from app.render.engine import fill
from app.render.text import clean, longest_run
from app.runs.view import ScopeView

MOST_LINES = 100
MOST_COLUMNS = 400


def take_away(view: ScopeView) -> Markup | None:
    """A shell block with a here-document for `git am --3way`; None where only the link can carry the patch.

    None for more than 100 lines, a binary file, a line that equals the delimiter, a character that cannot be seen,
    or a line too long to paste; a patch is never cut.
    """
    if view.fix is None or view.run is None or not view.fix.diff.strip():
        return None
    diff = view.fix.diff.strip("\n")
    delimiter = "REMEDY_" + re.sub(r"[^A-Za-z0-9]", "", view.run.run_id)
    lines = diff.split("\n")
    if len(lines) > MOST_LINES or any(len(line) > MOST_COLUMNS or line.strip() == delimiter for line in lines):
        return None
    if "GIT binary patch" in diff or "\nBinary files " in diff or clean(diff) != diff.replace("\t", "    "):
        return None
    values = {
        "delimiter": Markup(delimiter),
        "host": Markup(urlsplit(view.public_url).hostname or "localhost"),
        "subject": view.fix.subject,
        "diff": Markup(diff),
    }
    body = fill("pulls/take_away.sh.j2", values).rstrip("\n")
    ticks = "`" * max(3, longest_run(body) + 1)
    return Markup(f"{ticks}sh\n{body}\n{ticks}")
