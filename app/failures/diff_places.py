"""Which lines a pull request's diff shows on its new side, and which failure of a group stands at one of them."""

import re
from collections.abc import Iterable, Mapping, Sequence

from app.failures.model import Failure

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

Shown = Mapping[str, Sequence[range]]
"""Lines of each file that the diff shows."""


def shown_by(patches: Iterable[tuple[str, str]]) -> Shown:
    """Files with their patches, as GitHub gives them, to the lines of their hunks' new side."""
    return {path: [_lines(hunk) for hunk in _HUNK.finditer(patch)] for path, patch in patches}


def place_in(shown: Shown, members: Sequence[Failure]) -> tuple[str, int] | None:
    """The place of the first failure that stands inside the diff; a path that is not exactly the file's is none."""
    for one in members:
        path, line = (one.file or "").removeprefix("./"), one.line or 0
        if any(line in lines for lines in shown.get(path, ())):
            return path, line
    return None


def _lines(hunk: re.Match[str]) -> range:
    start, count = int(hunk[1]), int(hunk[2] or 1)
    return range(start, start + count)
