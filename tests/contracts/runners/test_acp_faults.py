"""Each way in which an agent's process goes wrong has its code and leaves no process (runners.md, 2.2 and 7)."""

from pathlib import Path
from typing import Any

import pytest

from app.errors import UserError
from app.runners.acp.link import Waits
from app.runners.acp.wire import Caps
from app.runners.codes import Code
from app.runners.runner import EventType
from tests.agents.world import World, code

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


FAULTS = [
    ("crash", Code.CRASHED),
    ("junk_stdout", Code.PROTOCOL),
    ("huge_line mib=2", Code.PROTOCOL),
    ("bad_answer", Code.PROTOCOL),
    ("error code=401", Code.AUTH_REQUIRED),
    ("error code=429", Code.RATE_LIMITED),
    ("error", Code.PROVIDER_FAILED),
    ("no_such_move", Code.PROVIDER_FAILED),
]


@pytest.mark.parametrize("move, expected", FAULTS, ids=[row[0] for row in FAULTS])
async def test_each_fault_has_its_code_and_leaves_nothing(world: World, move: str, expected: Code) -> None:
    """D25, RN-8."""
    runner = world.runner(caps=Caps(line_bytes=1 << 20))
    result = await world.turn(move, runner=runner)
    assert code(result) is expected and world.launcher.running() == []
    assert world.events[-1].type is EventType.FAILED and world.events[-1].data["code"] == expected.value
    assert not world.of(EventType.CLEANUP_FAILED)


STARTS: list[tuple[str, dict[str, Any], dict[str, Any], Code]] = [
    ("ends before it answers", {"start": "crash"}, {}, Code.START_FAILED),
    ("stays silent", {"start": "silent"}, {}, Code.START_FAILED),
    ("speaks no protocol", {"start": "junk"}, {}, Code.PROTOCOL),
    ("wrong command", {}, {"command": ["/nonexistent/agent"]}, Code.START_FAILED),
    ("another protocol version", {"protocol": 9}, {}, Code.BROKEN_MANIFEST),
    ("RN-70 claims what it does not offer", {}, {"capabilities": {"load_session": True}}, Code.BROKEN_MANIFEST),
    ("wrong version", {"version": "0.9"}, {}, Code.NOT_READY),
]


@pytest.mark.parametrize("name, scenario, spec, expected", STARTS, ids=[row[0] for row in STARTS])
async def test_each_bad_start_has_its_code(
    world: World, name: str, scenario: dict[str, Any], spec: dict[str, Any], expected: Code
) -> None:
    """D25, RN-70."""
    waits = Waits(initialize_s=0.5 if name == "stays silent" else 10, exit_s=1)
    result = await world.turn("good", runner=world.runner(world.install(scenario, **spec), waits))
    assert code(result) is expected and world.launcher.running() == []


async def test_without_a_sandbox_nothing_starts(world: World) -> None:
    """RN-40: no silent fallback."""

    async def refuse(*args: Any) -> Any:
        raise UserError("No sandbox works here.")

    world.launcher.spawn = refuse  # type: ignore[method-assign]
    result = await world.turn("good")
    assert code(result) is Code.SANDBOX_UNAVAILABLE
    assert result.error is not None and result.error.message == "No sandbox works here."
