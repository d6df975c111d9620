"""The hidden first line by which our own comments, issues and pull requests are found again (github.md, GH-14)."""

from typing import Literal
from urllib.parse import quote

Kind = Literal["status", "issue", "fix", "reply", "handover", "note", "review", "closing", "notice"]


def marker(kind: Kind, key: str) -> str:
    """`<!-- remedy:status pr:318 v1 -->`; signs of the key that could end the comment are percent-encoded."""
    return f"<!-- remedy:{kind} {quote(key, safe=':/._', errors='replace')} v1 -->"


def is_ours(body: str) -> bool:
    """Whether a body begins with a marker of ours; whose comment it is must be checked besides (UX-C15)."""
    return body.startswith("<!-- remedy:")
