"""The host's tools without an agent: what is offered, refused, written down, and when a token is dead."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from app.runners.permissions import HOST_TOOLS
from app.runners.runner import EventType, RunnerEvent
from app.runs.verdicts import AgentResult, Supervision
from app.turns.tools.box import CALLS, Refusal, Toolbox, definitions
from app.turns.tools.serve import ToolServer

GOOD = {"summary_markdown": "Put it right", "tests": []}


class Scene:
    """A toolbox whose tools echo, and all that it told."""

    def __init__(self, *granted: str, model: Any = AgentResult) -> None:
        self.told: list[RunnerEvent] = []
        self.done: list[Mapping[str, Any]] = []
        doers = dict.fromkeys(HOST_TOOLS, self._do)
        self.box = Toolbox(frozenset(granted or HOST_TOOLS), doers, model, self.told.append)
        self.lost = False
        self.server = ToolServer(self.box, "t-1", time.monotonic() + 60, lambda: self.lost)

    def _do(self, arguments: Mapping[str, Any]) -> str:
        if arguments.get("text") == "boom":
            raise ZeroDivisionError
        if arguments.get("text") == "no":
            raise Refusal("not today")
        self.done.append(arguments)
        return "done"

    def ask(self, method: str = "tools/list", params: Any = None, **how: Any) -> httpx.Response:
        """One request over the real HTTP layer of the application."""
        headers = {"authorization": f"Bearer {how.get('token', self.server.token)}"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}, **how.get("more", {})}
        content = how.get("content", json.dumps(body))

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.server)
            async with httpx.AsyncClient(transport=transport, base_url="http://tools") as client:
                verb = how.get("verb", "POST")
                return await client.request(verb, how.get("path", self.server.path), headers=headers, content=content)

        return asyncio.run(send())

    def call(self, name: str, **arguments: Any) -> tuple[str, bool]:
        result = self.ask("tools/call", {"name": name, "arguments": arguments}).json()["result"]
        return result["content"][0]["text"], result["isError"]


def test_only_what_is_granted_is_offered_and_done() -> None:
    """D16, RN-36: a call outside the grant is told as started and denied, and nothing is done."""
    scene = Scene("run_log", "submit_result")
    listed = scene.ask().json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["submit_result", "run_log"]
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in listed)
    assert set(listed[0]["inputSchema"]["required"]) == {"summary_markdown", "tests"}
    text, refused = scene.call("issue_comment", body="x")
    assert refused and "not granted" in text and scene.done == []
    assert [event.type for event in scene.told] == [EventType.TOOL_STARTED, EventType.TOOL_DENIED]
    assert {event.data["call"] for event in scene.told} == {"host-1"}


@pytest.mark.parametrize(
    "forbidden", ["merge", "dispatch", "push", "label", "close", "github", "secret", "fetch", "shell"]
)
def test_no_tool_acts_on_github_freely(forbidden: str) -> None:
    """Runners.md, 6: no merge, no dispatch, no free call."""
    assert not any(forbidden in name for name in HOST_TOOLS)
    assert set(definitions()) == set(HOST_TOOLS)


@pytest.mark.parametrize(
    "name, arguments, says",
    [
        ("run_log", {}, "text"),
        ("run_log", {"text": "x" * 2001}, "text"),
        ("run_log", {"text": "x", "to": "me"}, "to"),
        ("state_set", {"scope": "everything", "key": "k", "value": 1}, "scope"),
        ("issue_comment", {"body": "x", "issue": 7}, "issue"),
        ("request_human", {"question": " "}, "question"),
        ("submit_result", {"summary_markdown": "x"}, "tests"),
        ("run_log", {"text": "no"}, "not today"),
        ("run_log", {"text": "boom"}, "side of the host"),
    ],
)
def test_wrong_arguments_come_back_as_words_to_correct(name: str, arguments: dict[str, Any], says: str) -> None:
    """D17: completed, not ok; a mistake of ours does not end the turn."""
    scene = Scene()
    text, refused = scene.call(name, **arguments)
    assert refused and says in text and scene.done == []
    assert scene.told[-1].type is EventType.TOOL_COMPLETED and scene.told[-1].data["ok"] is False


def test_the_result_has_the_form_of_the_turn() -> None:
    """RN-24: the input schema of `submit_result` is the result's own."""
    assert Scene().call("submit_result", **GOOD) == ("done", False)
    text, refused = Scene(model=Supervision).call("submit_result", **GOOD)
    assert refused and "decision" in text


@pytest.mark.parametrize("how", ["changed byte", "another turn", "ended", "late"])
def test_a_token_is_worth_nothing_but_in_its_own_turn(how: str) -> None:
    """D22, D26, RN-21, RN-35, S49: 401 without a body."""
    scene = Scene()
    assert scene.ask().status_code == 200
    token = scene.server.token
    if how == "changed byte":
        token = token[:-1] + ("a" if token[-1] != "a" else "b")
    elif how == "another turn":
        token = Scene().server.token
    elif how == "ended":
        scene.lost = True
    else:
        scene.server = ToolServer(scene.box, "t-1", time.monotonic() - 1, lambda: False, token)
    answer = scene.ask("tools/call", {"name": "run_log", "arguments": {"text": "x"}}, token=token)
    assert (answer.status_code, answer.content) == (401, b"") and scene.done == []
    assert scene.server.token not in repr(scene.server)


def test_what_is_no_call_is_answered_as_clients_expect() -> None:
    """Runners.md, 6: versions are echoed, notifications accepted, unknown methods and junk refused."""
    scene = Scene()
    hello = scene.ask("initialize", {"protocolVersion": "2025-06-18"}).json()["result"]
    assert hello["protocolVersion"] == "2025-06-18" and hello["capabilities"] == {"tools": {}}
    assert (
        scene.ask("initialize", {"protocolVersion": "1999-01-01"}).json()["result"]["protocolVersion"] == "2025-11-25"
    )
    assert scene.ask("ping").json()["result"] == {}
    assert scene.ask("resources/list").json()["error"]["code"] == -32601
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert scene.ask(content=note).status_code == 202
    assert scene.ask(content="{").json()["error"]["code"] == -32700
    assert scene.ask(content="[1]").json()["error"]["code"] == -32600
    assert scene.ask(verb="GET").status_code == 405 and scene.ask(path="/turns/t-2/mcp").status_code == 404
    assert scene.ask(content="x" * 600_000).status_code == 413


def test_a_flood_of_calls_is_neither_done_nor_written_down() -> None:
    scene = Scene()
    for _ in range(CALLS + 50):
        reply = scene.box.call("run_log", {"text": "x"})
    assert reply.is_error and len(scene.done) == CALLS and len(scene.told) <= 2 * CALLS + 2
