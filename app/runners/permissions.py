"""Permissions as an upper bound: grants that only shrink, and the ruling on one request; pure (runners.md, 5)."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, get_args

from app.runs.model import Role

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
HostTool = Literal[
    "submit_result",
    "run_log",
    "state_get",
    "state_set",
    "state_list",
    "failure_detail",
    "issue_comment",
    "request_human",
]
TOOL_KINDS: tuple[str, ...] = get_args(ToolKind)
HOST_TOOLS: tuple[str, ...] = get_args(HostTool)
PROTECTED = frozenset({".github", ".git", "opencode.json", ".opencode", ".claude", ".codex", ".gemini", ".mcp.json"})
"""Names that no agent may change, at any depth: CI, git and agent configuration (RN-48); policy adds patterns."""

READS = frozenset({"read", "search", "think"})
CHANGES = frozenset({"edit", "delete", "move"})


class Level(IntEnum):
    DENY = 0
    ASK = 1
    ALLOW = 2


@dataclass(frozen=True)
class Grant:
    """What a turn may do: host tools by name, the agent's own tools by class. What is not named is denied."""

    host_tools: frozenset[str] = frozenset()
    agent_tools: Mapping[str, Level] = field(default_factory=dict)

    def level(self, kind: str) -> Level:
        return self.agent_tools.get(kind, Level.DENY)

    def to_json(self) -> dict[str, object]:
        """The frozen snapshot kept in `turns.grant_json` (D16)."""
        tools = {kind: self.level(kind).name.lower() for kind in TOOL_KINDS}
        return {"host_tools": sorted(self.host_tools), "agent_tools": tools}


def grant(host_tools: Iterable[str], agent_tools: Iterable[tuple[str, str]]) -> Grant:
    """A grant from pairs of tool kind and word (`allow`, `ask`, `deny`), as manifests and policies hold them.

    `delete` and `move` follow `edit` where they are not named; read, search and think are allowed unless denied.
    """
    levels = {kind: Level[word.upper()] for kind, word in agent_tools}
    for kind in READS:
        levels.setdefault(kind, Level.ALLOW)
    for kind in CHANGES:
        levels.setdefault(kind, levels.get("edit", Level.DENY))
    return Grant(frozenset(host_tools), levels)


def narrowing(host_tools: Iterable[str] | None, agent_tools: Iterable[tuple[str, str]]) -> Grant:
    """What a repository's policy leaves of a grant: only what it names is narrowed; None leaves all host tools (D9)."""
    levels = dict.fromkeys(TOOL_KINDS, Level.ALLOW) | {kind: Level[word.upper()] for kind, word in agent_tools}
    return Grant(frozenset(HOST_TOOLS if host_tools is None else host_tools), levels)


EVERYTHING = Grant(frozenset(HOST_TOOLS), dict.fromkeys(TOOL_KINDS, Level.ALLOW))

_AGENT_TOOLS = {**EVERYTHING.agent_tools, "switch_mode": Level.DENY, "other": Level.DENY}
_JUDGE_TOOLS = {"read": Level.ALLOW, "search": Level.ALLOW, "think": Level.ALLOW, "execute": Level.ALLOW}
ROLE_GRANTS: Mapping[Role, Grant] = {
    Role.AGENT: Grant(EVERYTHING.host_tools, _AGENT_TOOLS),
    Role.SUPERVISOR: Grant(frozenset({"submit_result", "run_log", "failure_detail", "request_human"}), _JUDGE_TOOLS),
    Role.SELF_REPAIR: Grant(frozenset({"submit_result"}), _JUDGE_TOOLS),
}

_NO_FETCH = Grant(EVERYTHING.host_tools, {**EVERYTHING.agent_tools, "fetch": Level.DENY})
RISK_GRANTS: Mapping[str, Grant] = {
    "code": EVERYTHING,
    "test": EVERYTHING,
    "config": _NO_FETCH,
    "production": _NO_FETCH,
}


def intersect(first: Grant, *others: Grant) -> Grant:
    """The smallest of all grants: manifest, policy, role and risk tier of the step (D16, C34)."""
    host = first.host_tools.intersection(*(other.host_tools for other in others))
    tools = {kind: min(one.level(kind) for one in (first, *others)) for kind in TOOL_KINDS}
    return Grant(host, tools)


@dataclass(frozen=True)
class Bounds:
    """What rules over the requests of one session; `read_only`: the workspace is mounted read-only (RN-32)."""

    grant: Grant
    role: Role
    read_only: bool = False
    protected: tuple[str, ...] = ()


@dataclass(frozen=True)
class PermissionRequest:
    """One request of an agent. `kind` is an ACP tool kind or any other word; `host_tool` is set for one of our tools.

    `paths` are relative to the workspace with links resolved; None stands for a path outside it.
    """

    call_id: str
    kind: str
    title: str
    host_tool: str = ""
    paths: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class Ruling:
    """Allow once or reject once, with the name of the rule that made it (RN-33)."""

    allow: bool
    rule: str


def decide(request: PermissionRequest, bounds: Bounds) -> Ruling:
    """The table of runners.md 5.1, first fitting row."""
    if request.host_tool:
        granted = request.host_tool in bounds.grant.host_tools
        return Ruling(granted, "host_tool_granted" if granted else "host_tool_not_granted")
    if request.kind not in TOOL_KINDS or request.kind in ("switch_mode", "other"):
        return Ruling(False, "kind_never_allowed")
    if None in request.paths:
        return Ruling(False, "outside_workspace")
    if request.kind in READS:
        return _granted(request.kind, bounds)
    if any(is_protected(path, bounds.protected) for path in request.paths if path is not None):
        return Ruling(False, "protected_path")
    if bounds.role is Role.AGENT:
        return _granted(request.kind, bounds)
    if request.kind == "execute" and bounds.read_only:
        return _granted("execute", bounds)
    return Ruling(False, "role_changes_nothing")


def _granted(kind: str, bounds: Bounds) -> Ruling:
    allowed = bounds.grant.level(kind) > Level.DENY
    return Ruling(allowed, f"grant_{kind}" if allowed else f"no_grant_{kind}")


def is_protected(path: str, patterns: Sequence[str] = ()) -> bool:
    """Whether `path` (relative, with `/`) may not be changed.

    `patterns` are shell patterns over the whole path; `folder/` means all below it, one without `/` fits names too.
    """
    if not PROTECTED.isdisjoint(path.split("/")):
        return True
    return any(_fits(path, f"{pattern}*" if pattern.endswith("/") else pattern) for pattern in patterns)


def _fits(path: str, pattern: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return fnmatch.fnmatchcase(path, pattern) or ("/" not in pattern and fnmatch.fnmatchcase(name, pattern))


def choose_option(options: Sequence[tuple[str, str]], allow: bool) -> str | None:
    """The id of the option to answer with, from (kind, id) pairs; None means the outcome `cancelled` (RN-29, RN-30).

    Never an `_always` option, and chosen by kind alone: `allow_always` is the first option of two known agents.
    """
    by_kind = dict(reversed(options))
    if allow and "allow_once" in by_kind:
        return by_kind["allow_once"]
    return by_kind.get("reject_once")
