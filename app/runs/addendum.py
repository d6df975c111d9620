"""What a self-repair may add to a step's prompt: plain sentences, nothing that steers people, tools or us (SR-6)."""

import re

from app.runs.verdicts import MARKER_WORDS

ADDENDUM_CHARS = 2000
_RULES = (
    ("a mention", re.compile(r"(?<![\w.])@\w")),
    ("a command", re.compile(r"(?im)^[ \t>*-]*/[a-z]")),
    ("a fence", re.compile(r"`{3}|~{3}")),
    ("an evidence id", re.compile(r"\bE-[0-9a-fA-F]{10}")),
)


def addendum_fault(text: str) -> str:
    """Why an addendum is not taken, or an empty text; a bad one makes the whole answer unreadable (SR-6)."""
    if len(text) > ADDENDUM_CHARS:
        return f"prompt_addendum: longer than {ADDENDUM_CHARS} characters"
    for what, pattern in _RULES:
        if pattern.search(text):
            return f"prompt_addendum: holds {what}"
    if any(word in text for word in MARKER_WORDS):
        return "prompt_addendum: holds a marker word"
    return ""
