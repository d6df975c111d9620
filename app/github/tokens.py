"""What an installation token may do: the smallest scope for each purpose (GH-20)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

LEAST_LIFE_MS = 5 * 60 * 1000
"""A token with less life than this counts as expired (GH-19)."""


class Purpose(StrEnum):
    READ = "read"
    DELIVER = "deliver"
    CLONE = "clone"
    PUSH = "push"
    RERUN = "rerun"
    SWEEP = "sweep"


_READ_SET = {"actions": "read", "checks": "read", "contents": "read", "issues": "read", "pull_requests": "read"}

PERMISSIONS: Mapping[Purpose, Mapping[str, str]] = {
    Purpose.READ: _READ_SET,
    # `contents: read` beside the writes: heads are read again right before a text about them is sent (OB-8).
    Purpose.DELIVER: {"checks": "write", "contents": "read", "issues": "write", "pull_requests": "write"},
    Purpose.CLONE: {"contents": "read"},
    Purpose.PUSH: {"contents": "write"},
    # Not in app.yml: a site adds it by hand (decisions.md 6).
    Purpose.RERUN: {"actions": "write"},
    Purpose.SWEEP: _READ_SET,
}

ALL_OR_NOTHING = frozenset({Purpose.CLONE, Purpose.PUSH, Purpose.RERUN})
"""Purposes that are one deed: with less than they ask for, nothing of it can be done."""


@dataclass(frozen=True)
class Token:
    """An installation token in memory; it is never a row, an argument or part of a URL. `expires_at` in UTC ms."""

    value: str
    expires_at: int

    def lives(self, now_ms: int) -> bool:
        return self.expires_at - now_ms >= LEAST_LIFE_MS


def token_body(purpose: Purpose, repository_id: int | None) -> dict[str, object]:
    """The body that asks for it. Only `SWEEP` may do without a repository: it means all of the installation."""
    if repository_id is None and purpose is not Purpose.SWEEP:
        raise ValueError(f"a token for {purpose} is always for one repository")
    body: dict[str, object] = {"permissions": dict(PERMISSIONS[purpose])}
    if repository_id is not None:
        body["repository_ids"] = [repository_id]
    return body
