"""Put one text into every place of a view that the outside fills."""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from app.runs.view import ScopeView

# Made by our own code or checked at the door: addresses, ids, counts in words, closed words.
OURS = frozenset(
    {
        *("scope_key", "repository", "check_key", "head_sha", "base_sha", "sha", "newer_sha", "pushed_sha", "run_id"),
        *("public_url", "web_url", "log_url", "issue_url", "pull_url", "base_repair_url"),
        *("mode", "ci", "repair_state", "approval", "cancel_reason", "tier", "expected", "seen", "verdict", "cost"),
        *("verb",),
        *("tree", "group_id", "framework", "line", "tag", "event", "extra"),
    }
)


def filled(view: ScopeView, text: str) -> ScopeView:
    """`view` with `text` in place of everything that is set and not ours."""
    result: ScopeView = _filled(view, text)
    return result


def _filled(value: Any, text: str) -> Any:
    if isinstance(value, Enum) or (not isinstance(value, str | tuple) and not is_dataclass(value)):
        return value
    if isinstance(value, str):
        return text if value else value
    if isinstance(value, tuple):
        return tuple(_filled(item, text) for item in value)
    return replace(
        value,
        **{part.name: _filled(getattr(value, part.name), text) for part in fields(value) if part.name not in OURS},
    )
