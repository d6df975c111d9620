"""GitHub's sizes, held at the client's boundary: an oversize text is cut safely and logged, never a 422 (GH-18)."""

import re
from collections.abc import Sequence
from typing import TypeVar

import structlog

T = TypeVar("T")

BODY = 65_536
"""Characters of a comment, issue or pull request (F-I1)."""
CHECK_TEXT = 65_535
"""Characters of a check's summary, and of its text (F-C3)."""
TITLE = 250
"""Characters of an issue's or pull request's title (F-I2)."""
ANNOTATIONS = 50
ANNOTATION_TITLE = 255
ANNOTATION_TEXT = 64 * 1024
"""Bytes of an annotation's message, and of its details (F-C4)."""
ACTIONS = 3
ACTION_LABEL, ACTION_DESCRIPTION, ACTION_IDENTIFIER = 20, 40, 20
LABELS, LABEL_NAME, LABEL_DESCRIPTION = 100, 50, 100

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_ROOM = 300


def fit_text(text: str, limit: int, what: str) -> str:
    """`text` within `limit` characters: cut on a line end, an open fence closed. `what` names it in the log."""
    if len(text) <= limit:
        return text
    _report(what, len(text), limit)
    room = text[: limit - _ROOM]
    kept = room[: room.rfind("\n")] if "\n" in room else room
    fence = _open_fence(kept)
    return kept + (f"\n{fence}" if 0 < len(fence) < _ROOM - 10 else "") + "\n\n…"


def fit_line(text: str, limit: int, what: str) -> str:
    """One line within `limit` characters."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    _report(what, len(line), limit)
    return line[: limit - 1] + "…"


def fit_bytes(text: str, limit: int, what: str) -> str:
    """`text` within `limit` bytes of UTF-8, cut on a character."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    _report(what, len(data), limit)
    return data[: limit - 3].decode("utf-8", "ignore") + "…"


def fit_list(items: Sequence[T], limit: int, what: str) -> list[T]:
    """The first `limit` items."""
    if len(items) > limit:
        _report(what, len(items), limit)
    return list(items[:limit])


def _open_fence(text: str) -> str:
    """The fence that is still open at the end of `text`, or nothing."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if not match:
            continue
        marks, rest = match.groups()
        if not fence and not (marks[0] == "`" and "`" in rest):
            fence = marks
        elif fence and marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip():
            fence = ""
    return fence


def _report(what: str, size: int, limit: int) -> None:
    structlog.get_logger().warning("text over a limit of GitHub was cut", what=what, size=size, limit=limit)
