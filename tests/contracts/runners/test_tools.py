"""Host tools between a real agent process and a real socket: over HTTP, over the stdio bridge, granted and not."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.ledger.schema import outbox
from app.runners.codes import Code
from app.runners.permissions import HOST_TOOLS
from app.runners.runner import Ask, EventType, HostTools, Source, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.runs.verdicts import AgentResult
from app.services import make
from app.settings import Settings
from app.turns.tools.doing import Desk, rehearsal, toolbox
from app.turns.tools.serve import ToolServer
from app.workspace.serving import serving
from tests.agents.world import NONCE, World, code
from tests.databases import a_ledger

BY_BRIDGE = {"offers": {"mcpCapabilities": {"http": False}}}


@dataclass
class Place:
    """A world whose agent reaches a toolbox; `moves` come from its scenario."""

    world: World
    desk: Desk
    granted: frozenset[str] = frozenset(HOST_TOOLS)
    limit_s: float = 30
    servers: list[ToolServer] = field(default_factory=list)

    def turn(self, *moves: Any, scenario: dict[str, Any] | None = None) -> TurnResult:
        return asyncio.run(self._served(lambda server, url: self._turn(server, url, moves, scenario or {})))

    async def _served(self, work: Callable[[ToolServer, str], Awaitable[TurnResult]]) -> TurnResult:
        box = toolbox(self.desk, self.granted)
        server = ToolServer(box, "turn-1", time.monotonic() + self.limit_s, lambda: False)
        self.servers.append(server)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}{server.path}"
            task = asyncio.create_task(serving(server)(listener))
            try:
                return await work(server, url)
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _turn(self, server: ToolServer, url: str, moves: Any, scenario: dict[str, Any]) -> TurnResult:
        world = self.world
        runner = world.runner(world.install({**scenario, "agent": [list(moves)], "reask": ["no_result"]}))
        session = world.session(tools=HostTools(url, server.token))
        text = "You repair one failure\nHand it in once with the tool whose name ends in `submit_result`."
        asked = Ask("turn-1", text, NONCE, time.monotonic() + self.limit_s, reask=lambda why: "Hand in only the result")
        asked = Ask(**{**vars(asked), "submitted": lambda: self.desk.submitted})
        return await drive_turn(runner, session, None, asked, AgentResult, world.sink)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    world = World(tmp_path)
    settings = Settings(data=tmp_path / "data", DATABASE_URL="", REDIS_URL="redis://127.0.0.1:9/0")
    a_ledger(settings.database).dispose()
    s = make(settings)
    turn = SimpleNamespace(id="turn-1", simulated=False, session_id="s-1", role=Role.AGENT)
    step, groups = SimpleNamespace(group_id="g"), {"g": SimpleNamespace(issue_id="i-1")}
    case: Any = SimpleNamespace(turn=turn, step=step, groups=groups)
    return Place(world, Desk(s, case, "remedy/agents/qa", AgentResult, world.sink))


@pytest.mark.parametrize("scenario", [{}, BY_BRIDGE], ids=["http", "stdio bridge"])
def test_k11_a_result_comes_by_the_tool_after_a_correction(place: Place, scenario: dict[str, Any]) -> None:
    """K11, RN-24, RN-38, RN-39: refused with the reason, corrected, accepted; an agent without HTTP gets the bridge."""
    result = place.turn("tools", "bad_then_good", scenario=scenario)
    assert isinstance(result.value, AgentResult) and result.source is Source.TOOL and result.asks == 1
    assert f"offered: {' '.join(HOST_TOOLS)}" in result.text and "refused: arguments:" in result.text
    titles = [one["title"] for one in place.world.of(EventType.TOOL_STARTED)]
    assert titles == ["submit_result", "submit_result"] and place.world.launcher.running() == []


def test_k11_nobody_else_gets_in_and_nothing_is_granted_silently(place: Place) -> None:
    """K11, D16, D22, S49."""
    place.granted = frozenset({"run_log"})
    note = {"do": "tool", "tool": "issue_comment", "args": {"body": "x"}}
    result = place.turn({"do": "thief", "token": "another"}, "tools", note, "no_result")
    assert code(result) is Code.VALIDATION
    assert "status 401" in result.text and "offered: run_log\n" in result.text
    assert "issue_comment: refused: issue_comment is not granted" in result.text


def test_a_dead_token_cannot_be_used_after_the_turn(place: Place) -> None:
    """RN-35: the server is gone with the turn, and a server of another turn does not know the token."""
    place.turn("submit")
    (first,) = place.servers
    result = place.turn({"do": "thief", "token": first.token}, "submit")
    assert "status 401" in result.text and first.token != place.servers[1].token


@pytest.mark.parametrize("tool", ["issue_comment", "request_human", "state_set"])
def test_a_dry_run_has_no_effect(place: Place, tool: str) -> None:
    """RN-37, D18: the host's flag decides, no argument; `mock` is said and no row is written."""
    place.desk.case.turn.simulated = True
    arguments = {
        "issue_comment": {"body": "x"},
        "request_human": {"question": "x"},
        "state_set": {"scope": "session", "key": "k", "value": 1},
    }[tool]
    reply = toolbox(place.desk, frozenset(HOST_TOOLS)).call(tool, arguments)
    assert (reply.text, reply.is_error) == ('{"mock": true}', False) and place.desk.submitted is None
    with place.desk.s.read() as conn:
        assert conn.execute(outbox.select()).all() == []


def test_a_rehearsal_answers_for_every_tool(place: Place) -> None:
    """D11, D18."""
    box = rehearsal(frozenset(HOST_TOOLS), place.world.sink)
    assert box.call("run_log", {"text": "x"}).text == '{"mock": true}'
    assert box.call("issue_comment", {"issue": 7}).is_error


def test_a_log_line_is_a_row_and_never_a_letter(place: Place) -> None:
    """RN-14, D19: at most 200 of them."""
    box = toolbox(place.desk, frozenset({"run_log"}))
    replies = [box.call("run_log", {"text": f"line {n}"}) for n in range(201)]
    assert [one["text"] for one in place.world.of(EventType.LOG)] == [f"line {n}" for n in range(200)]
    assert replies[199].text == "logged" and replies[200].is_error
    with place.desk.s.read() as conn:
        assert conn.execute(outbox.select()).all() == []
