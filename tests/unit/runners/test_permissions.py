"""Grants only shrink; one request, one ruling (runners.md, 5)."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.permissions import (
    EVERYTHING,
    HOST_TOOLS,
    RISK_GRANTS,
    ROLE_GRANTS,
    TOOL_KINDS,
    Bounds,
    Grant,
    Level,
    PermissionRequest,
    choose_option,
    decide,
    grant,
    intersect,
    is_protected,
    narrowing,
)
from app.runs.model import Role

AGENT = Bounds(
    intersect(ROLE_GRANTS[Role.AGENT], grant(["submit_result"], {"edit": "allow", "execute": "ask"}.items())),
    Role.AGENT,
)
JUDGE = Bounds(ROLE_GRANTS[Role.SUPERVISOR], Role.SUPERVISOR)
JUDGE_READ_ONLY = Bounds(ROLE_GRANTS[Role.SUPERVISOR], Role.SUPERVISOR, read_only=True)
REPAIR = Bounds(ROLE_GRANTS[Role.SELF_REPAIR], Role.SELF_REPAIR)


@dataclass(frozen=True)
class Case:
    name: str
    bounds: Bounds
    kind: str
    allow: bool
    paths: tuple[str | None, ...] = ()
    tool: str = ""


CASES = [
    Case("agent: host tool in the grant", AGENT, "other", True, tool="submit_result"),
    Case("agent: host tool not in the grant", AGENT, "other", False, tool="issue_comment"),
    Case("self-repair: submit_result", REPAIR, "other", True, tool="submit_result"),
    Case("SR-4 self-repair writes with no host tool", REPAIR, "other", False, tool="state_set"),
    Case("supervisor asks a person", JUDGE, "other", True, tool="request_human"),
    Case("agent reads", AGENT, "read", True, ("src/a.py",)),
    Case("agent reads CI", AGENT, "read", True, (".github/workflows/ci.yml",)),
    Case("supervisor searches", JUDGE, "search", True),
    Case("agent thinks", AGENT, "think", True),
    Case("agent edits inside", AGENT, "edit", True, ("src/a.py",)),
    Case("agent edits an unnamed file", AGENT, "edit", True),
    Case("agent moves inside", AGENT, "move", True, ("a.py", "b.py")),
    Case("agent deletes inside", AGENT, "delete", True, ("a.py",)),
    Case("RN-32 supervisor edits", JUDGE_READ_ONLY, "edit", False, ("src/a.py",)),
    Case("self-repair deletes", REPAIR, "delete", False, ("src/a.py",)),
    Case("protected: CI", AGENT, "edit", False, (".github/workflows/ci.yml",)),
    Case("protected: git", AGENT, "delete", False, (".git/config",)),
    Case("protected: git of a submodule", AGENT, "edit", False, ("sub/.git/config",)),
    Case("RN-48 protected: agent configuration", AGENT, "edit", False, (".claude/settings.local.json",)),
    Case("protected: one of two", AGENT, "move", False, ("src/a.py", ".github/a.yml")),
    Case("outside the workspace", AGENT, "edit", False, (None,)),
    Case("outside, reading", AGENT, "read", False, (None,)),
    Case("agent executes by grant", AGENT, "execute", True),
    Case("supervisor executes in a writable workspace", JUDGE, "execute", False),
    Case("supervisor executes in a read-only one", JUDGE_READ_ONLY, "execute", True),
    Case("agent fetches without grant", AGENT, "fetch", False),
    Case("supervisor fetches", JUDGE_READ_ONLY, "fetch", False),
    Case("switch_mode", AGENT, "switch_mode", False),
    Case("other", AGENT, "other", False),
    Case("unknown kind", AGENT, "teleport", False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_request_one_ruling(case: Case) -> None:
    ruling = decide(PermissionRequest("c1", case.kind, "title", case.tool, case.paths), case.bounds)
    assert ruling.allow is case.allow
    assert ruling.rule  # RN-33


def test_everything_asked_of_is_refused_without_a_grant() -> None:
    """D16: what no grant names is denied."""
    nothing = Bounds(Grant(), Role.AGENT)
    assert not any(decide(PermissionRequest("c", kind, "t"), nothing).allow for kind in TOOL_KINDS)


levels = st.dictionaries(st.sampled_from(TOOL_KINDS), st.sampled_from(Level))
grants = st.builds(Grant, st.frozensets(st.sampled_from(HOST_TOOLS)), levels)


@given(st.lists(grants, min_size=1, max_size=4))
def test_an_intersection_never_allows_more_than_any_part(parts: list[Grant]) -> None:
    """D16, C34: an upper bound, whatever the order."""
    whole = intersect(*parts)
    assert all(whole.host_tools <= part.host_tools for part in parts)
    assert all(whole.level(kind) <= part.level(kind) for part in parts for kind in TOOL_KINDS)
    assert whole == intersect(*reversed(parts))


def test_each_of_the_three_ways_takes_a_tool_away() -> None:
    """D16: manifest, policy and risk tier each narrow what the role has."""
    role = ROLE_GRANTS[Role.AGENT]
    manifest = grant(HOST_TOOLS, {"edit": "allow", "fetch": "allow"}.items())
    assert intersect(role, manifest).level("fetch") is Level.ALLOW
    assert intersect(role, manifest).level("execute") is Level.DENY
    policy = narrowing(["submit_result"], {"fetch": "deny"}.items())
    assert intersect(role, policy).level("execute") is Level.ALLOW
    assert intersect(role, narrowing(None, ())) == intersect(role)
    assert intersect(role, manifest, policy).level("fetch") is Level.DENY
    assert intersect(role, manifest, policy).host_tools == {"submit_result"}
    assert intersect(role, manifest, RISK_GRANTS["production"]).level("fetch") is Level.DENY


def test_a_grant_is_kept_as_words() -> None:
    """D16: the snapshot of `turns.grant_json`."""
    kept = grant(["submit_result"], {"edit": "ask"}.items()).to_json()
    assert kept["host_tools"] == ["submit_result"]
    assert kept["agent_tools"] == {
        **dict.fromkeys(TOOL_KINDS, "deny"),
        **dict.fromkeys(("read", "search", "think"), "allow"),
        **dict.fromkeys(("edit", "delete", "move"), "ask"),
    }


OPTIONS = [
    ("Claude: always comes first", [("allow_always", "a"), ("allow_once", "b"), ("reject_once", "c")], "b", "c"),
    (
        "Codex: two always",
        [("allow_once", "1"), ("allow_always", "2"), ("allow_always", "3"), ("reject_once", "4")],
        "1",
        "4",
    ),
    ("RN-30 only always", [("allow_always", "a"), ("reject_once", "c")], "c", "c"),
    ("RN-30 no reject_once", [("allow_once", "b"), ("reject_always", "d")], "b", None),
    ("the first of two of a kind", [("allow_once", "b1"), ("allow_once", "b2")], "b1", None),
    ("nothing offered", [], None, None),
]


@pytest.mark.parametrize("name, options, allowed, rejected", OPTIONS, ids=[row[0] for row in OPTIONS])
def test_an_always_option_is_never_chosen(
    name: str, options: list[tuple[str, str]], allowed: str | None, rejected: str | None
) -> None:
    """RN-29, RN-30."""
    assert choose_option(options, allow=True) == allowed
    assert choose_option(options, allow=False) == rejected


@pytest.mark.parametrize(
    "path, patterns, expected",
    [
        ("uv.lock", ["*.lock"], True),
        ("sub/uv.lock", ["*.lock"], True),
        ("src/lock.py", ["*.lock"], False),
        ("vendor/a/b.py", ["vendor/"], True),
        ("vendor/a/b.py", ["vendor/**"], True),
        ("src/vendor/b.py", ["vendor/"], False),
        ("docs/.github/x", [], True),
        ("github/x", [], False),
        ("opencode.json", [], True),
        ("src/a.py", [], False),
    ],
)
def test_policy_adds_protected_paths(path: str, patterns: list[str], expected: bool) -> None:
    assert is_protected(path, patterns) is expected


def test_everything_is_a_grant_of_all_kinds() -> None:
    assert all(EVERYTHING.level(kind) is Level.ALLOW for kind in TOOL_KINDS)
