"""What an agent's permission request asks for, and the answer it gets (runners.md, 5.1 and 5.2)."""

from pathlib import Path
from typing import Any

import pytest

from app.runners.acp.permission import answer, host_tool
from app.runners.acp.turn import Prompted
from app.runners.permissions import ROLE_GRANTS, Bounds, PermissionRequest, Ruling, decide
from app.runners.runner import EventType, RunnerEvent, SessionSpec, Usage
from app.runs.model import Role

TITLES: list[tuple[str, str, object, str, str]] = [
    ("Claude", "mcp__remedy__submit_result", None, "", "submit_result"),
    ("OpenCode", "remedy_submit_result", None, "", "submit_result"),
    ("Gemini", "submit_result (remedy MCP Server)", None, "", "submit_result"),
    (
        "Codex, by the earlier start",
        "Approve MCP tool call",
        {"server_name": "remedy"},
        "Tool: remedy/run_log",
        "run_log",
    ),
    (
        "Codex, by its message",
        "Approve MCP tool call",
        {"server_name": "remedy", "request": {"message": "Call submit_result?"}},
        "",
        "submit_result",
    ),
    ("another server", "mcp__files__submit_result", None, "", ""),
    ("another server at Codex", "Approve MCP tool call", {"server_name": "files"}, "", ""),
    ("not a tool of ours", "mcp__remedy__merge_everything", None, "", ""),
    ("a command that names us", "echo mcp__remedy__submit_result; curl example.com", None, "", ""),
    ("a command that ends like us", "rm -rf x # submit_result (remedy MCP Server)", None, "", ""),
    ("nothing", "", "text", "", ""),
]


@pytest.mark.parametrize("name, title, raw, earlier, expected", TITLES, ids=[row[0] for row in TITLES])
def test_our_tools_are_recognised_by_whole_titles(
    name: str, title: str, raw: object, earlier: str, expected: str
) -> None:
    assert host_tool(title, raw, earlier) == expected


OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_always", "allow_once", "reject_once")]


class Asked:
    """One session whose requests are answered as the runner answers them."""

    def __init__(self, workspace: Path) -> None:
        self.events: list[RunnerEvent] = []
        self.prompted = Prompted("t.1", self.events.append, Usage())
        self.bounds = Bounds(ROLE_GRANTS[Role.AGENT], Role.AGENT)
        self.spec = SessionSpec(workspace, "/workspace", self.bounds)

    def ask(self, options: Any = OPTIONS, rule: Any = None, **call: Any) -> str | None:
        params = {"sessionId": "s", "toolCall": {"toolCallId": "c1", **call}, "options": options}
        rule = rule or (lambda request: decide(request, self.bounds))
        outcome: Any = answer(params, self.prompted, self.spec, rule)["outcome"]
        chosen: str | None = outcome.get("optionId")
        return chosen


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    workspace = tmp_path / "ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src/a.py").write_text("a = 1\n")
    (workspace / "link").symlink_to("/etc")
    (workspace / "inner").symlink_to("src")
    (workspace / "sly").symlink_to(".github")
    return Asked(workspace)


def test_the_once_option_is_chosen_and_told(asked: Asked) -> None:
    """RN-29, RN-33."""
    assert asked.ask(kind="edit", title="Edit a.py", locations=[{"path": "/workspace/src/a.py"}]) == "allow_once"
    told = asked.events[0]
    assert told.type is EventType.PERMISSION_DECIDED
    assert told.data["decision"] == "allow_once" and told.data["rule"] == "grant_edit"


@pytest.mark.parametrize(
    "path, allowed",
    [
        ("/workspace/src/a.py", True),
        ("src/new/b.py", True),
        ("/workspace/inner/a.py", True),
        ("/workspace", True),
        ("/etc/passwd", False),
        ("/workspace/../etc/passwd", False),
        ("../../etc/passwd", False),
        ("/workspace/link/passwd", False),
        ("/workspace/sly/ci.yml", False),
        ("/workspace2/a.py", False),
        ("/workspace/a\x00b", False),
        ("/workspace/.git/config", False),
    ],
)
@pytest.mark.parametrize("where", ["locations", "diff", "rawInput"])
def test_paths_are_resolved_wherever_they_stand(asked: Asked, where: str, path: str, allowed: bool) -> None:
    """5.1: outside the workspace after resolving links, or protected: rejected."""
    call: dict[str, Any] = {
        "locations": {"locations": [{"path": path}]},
        "diff": {"content": [{"type": "diff", "path": path, "newText": "x"}]},
        "rawInput": {"rawInput": {"file_path": path}},
    }[where]
    assert asked.ask(kind="edit", title="Edit", **call) == ("allow_once" if allowed else "reject_once")


def test_a_denied_request_is_counted_and_told(asked: Asked) -> None:
    assert asked.ask(kind="fetch", title="x", rule=lambda request: Ruling(False, "no_grant_fetch")) == "reject_once"
    assert asked.prompted.denials == 1
    assert [event.type for event in asked.events] == [EventType.PERMISSION_DECIDED, EventType.TOOL_DENIED]


def test_a_bug_in_the_rule_answers_reject(asked: Asked) -> None:
    """RN-34."""

    def broken(request: PermissionRequest) -> Ruling:
        raise KeyError(request.kind)

    assert asked.ask(kind="read", title="x", rule=broken) == "reject_once"


@pytest.mark.parametrize(
    "options", [None, [], "all", [{"kind": "allow_once"}], [{"kind": "allow_forever", "optionId": "x", "name": "x"}]]
)
def test_an_unreadable_request_is_cancelled_not_left_open(asked: Asked, options: object) -> None:
    """RN-30, RN-34."""
    assert asked.ask(options=options, kind="read", title="x") is None


def test_an_unknown_kind_of_option_hides_no_known_one(asked: Asked) -> None:
    more = [{"optionId": "z", "name": "z", "kind": "allow_forever"}, *OPTIONS]
    assert asked.ask(options=more, kind="read", title="x") == "allow_once"


def test_an_unknown_kind_of_tool_is_rejected(asked: Asked) -> None:
    assert asked.ask(kind="teleport", title="x") == "reject_once"


def test_a_request_outside_of_a_prompt_is_cancelled(asked: Asked) -> None:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
    outcome = answer(params, None, asked.spec, lambda request: Ruling(True, "x"))
    assert outcome == {"outcome": {"outcome": "cancelled"}}
