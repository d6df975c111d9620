"""Where a followed turn stands between two steps, as it is kept in the turn's row."""

import hashlib
import json
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from app.runners.mcp.states import Seen


class Phase(StrEnum):
    STARTING = "starting"
    SAYING = "saying"
    WAITING = "waiting"


@dataclass(frozen=True)
class Standing:
    """Where a followed turn stands; kept in its row.

    `tried` is written before a call that makes or says something, so that whoever comes after a crash looks first;
    `unsure`: such a call got no clear answer. `before` and `stale` are digests of what the session showed, and of its
    result, when it was last spoken to: what it still shows later is no answer. `fresh` is said instead to a new session
    when the old one is over.
    """

    phase: Phase
    session: str = ""
    gone: str = ""
    fresh: str = ""
    tried: bool = False
    unsure: bool = False
    looks: int = 0
    asks: int = 0
    wrong: tuple[str, ...] = ()
    said_at: int = 0
    before: str = ""
    stale: str = ""
    acu: str = ""
    word: str = ""
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name)}

    @classmethod
    def of(cls, data: dict[str, Any]) -> "Standing":
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in data.items() if name in known}
        return cls(**{**values, "phase": Phase(data["phase"]), "wrong": tuple(data.get("wrong") or ())})


def opening(session: str, fresh: str) -> Standing:
    """How a turn begins: in the session that its conversation has, else with a new one."""
    return Standing(Phase.SAYING, session, fresh=fresh) if session else Standing(Phase.STARTING)


def digest(seen: Seen) -> str:
    return digest_of([seen.structured, seen.text, seen.pulls])


def digest_of(value: object) -> str:
    if not value:
        return ""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
