"""One way to make every kind of runner behave in a named way, and to see what came of it (runners.md, 13).

A new kind is one more class here and one more row of `KINDS`; what its agent cannot show is left out of `moves`.
"""

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from app.errors import UserError
from app.runners.acp.link import Waits
from app.runners.acp.wire import Caps
from app.runners.permissions import ROLE_GRANTS, Bounds
from app.runners.registry import Registry, RunnerSpec
from app.runners.runner import Ask, RunnerEvent, TurnResult
from app.runners.turn import last_event
from app.runs.model import Role
from app.runs.verdicts import AgentResult
from app.settings import Settings
from app.turns.driving import Seat, drive
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.uids import tasks_of
from tests.agents.devin import FINISHED, WORKING, Fault
from tests.agents.install import install_qa
from tests.agents.remote import a_place
from tests.agents.world import NONCE, World
from tests.contracts.opencode import a_desk

QUICK = Waits(initialize_s=10, session_s=10, idle_s=30, abort_s=0.5, exit_s=0.5)


@dataclass(frozen=True)
class Seen:
    """What a turn came to, how long it took, and which processes it left behind."""

    result: TurnResult
    events: list[RunnerEvent]
    took_s: float
    left: list[int]

    @property
    def code(self) -> str:
        return self.result.error.code.value if self.result.error is not None else ""


class Harness(Protocol):
    """`moves` are the behaviours that this kind's agent can show."""

    moves: Mapping[str, Any]

    def turn(self, behaviour: str, limit_s: float) -> Seen: ...


Kind = Callable[[Path], AbstractContextManager[Harness]]


class Acp:
    """The QA agent over stdio, as a plain process."""

    moves: Mapping[str, Any] = {
        "good": "good",
        "wrong schema": "invalid",
        "nothing": "no_result",
        "crash": "crash code=3",
        "hang": "hang",
        "ignores cancel": "ignore_cancel",
        "floods stdout": "flood",
        "floods stderr": "flood_stderr mib=5",
        "junk": "junk_stdout",
        "endless line": "huge_line mib=2",
        "huge answer": "huge_output mib=5",
        "unauthorized": "error code=401",
        "rate limited": "error code=429",
        "provider down": "error",
        "refuses": "stop reason=refusal",
    }

    def __init__(self, folder: Path) -> None:
        self._world = World(folder)

    def turn(self, behaviour: str, limit_s: float) -> Seen:
        world, move = self._world, self.moves[behaviour]
        runner = world.runner(waits=QUICK, caps=Caps(line_bytes=1 << 20))
        began = time.monotonic()
        again = move if behaviour in ("wrong schema", "nothing") else "good"
        result = asyncio.run(world.turn(move, runner=runner, limit_s=limit_s, again=again))
        return Seen(result, world.events, time.monotonic() - began, world.launcher.running())


class Sandboxed:
    """The QA agent as a worker drives it: in the strongest sandbox of this machine, in a room of its own."""

    moves: Mapping[str, Any] = {
        **{name: move for name, move in Acp.moves.items() if name not in ("endless line", "huge answer")},
        "leaves a daemon": "daemon",
    }

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        accepted = {"i_accept_no_isolation": ("any/any",)}
        self.settings = Settings(
            data=folder / "data", DATABASE_URL="", REDIS_URL="redis://127.0.0.1:9/0", sandbox=accepted
        )

    def spec(self, scenario: Mapping[str, Any]) -> RunnerSpec:
        runner_id = install_qa(self.folder / "runners", scenario)
        found = Registry(self.folder / "runners", self.settings.data).find(runner_id, "agent")
        assert isinstance(found, RunnerSpec), found
        return found

    def turn(self, behaviour: str, limit_s: float) -> Seen:
        move = self.moves[behaviour]
        again = move if behaviour in ("wrong schema", "nothing") else "good"
        return self.drive({"agent": [_parsed(move)], "reask": [_parsed(again)]}, limit_s)

    def drive(self, scenario: Mapping[str, Any], limit_s: float, prepare: Callable[[Room], None] | None = None) -> Seen:
        """One turn with this scenario; `prepare` fills the room before it."""
        events: list[RunnerEvent] = []
        text = "You repair one failure\nREMEDY_RESULT:" + NONCE
        with Rooms.of(self.settings).scratch() as room:
            room.folder("workspace")
            if prepare is not None:
                prepare(room)
            seat = Seat("any/any", False, room, limit_s, "turn-1", Bounds(ROLE_GRANTS[Role.AGENT], Role.AGENT))
            ask = Ask(
                "turn-1", text, NONCE, time.monotonic() + limit_s, reask=lambda why: f"Hand in only the result\n{text}"
            )
            began = time.monotonic()
            driven = drive(
                self.settings, self.spec(scenario), seat, (ask, None, AgentResult), (events.append, lambda: False)
            )
            took_s = time.monotonic() - began
            assert driven is not None
            left = _processes_of(room.uid) if room.uid is not None else []
        return Seen(driven.result, events, took_s, left)


def _parsed(move: str) -> dict[str, str]:
    name, *pairs = move.split(" ")
    return {"do": name, **dict(pair.split("=", 1) for pair in pairs)}


def _processes_of(uid: int) -> list[int]:
    return [] if tasks_of(uid) == 0 else [tasks_of(uid)]


class OpenCode:
    """The double of an OpenCode server, started by the runner itself as a process."""

    moves: Mapping[str, Any] = {
        "good": {},
        "wrong schema": {"messages": [{"structured": {"tests": "none"}}]},
        "nothing": {"messages": [{"text": "I approve."}]},
        "crash": {"messages": [{"crash": True}]},
        "hang": {"messages": [{"wait": True}]},
        "ignores cancel": {"messages": [{"wait": True}], "abort": {"status": 500, "json": {}}},
        "junk": {"messages": [{"no_info": True}]},
        "unauthorized": {"messages": [{"error": {"name": "ProviderAuthError", "data": {"message": "no key"}}}]},
    }

    def __init__(self, folder: Path) -> None:
        self._stack = a_desk(folder, waits=QUICK)
        self._desk = self._stack.__enter__()

    def turn(self, behaviour: str, limit_s: float) -> Seen:
        desk = self._desk
        spec = desk.own_server(json.dumps(self.moves[behaviour]))
        began = time.monotonic()
        result = desk.run(lambda _: desk.turn(runner=desk.runner(spec), limit_s=limit_s))
        return Seen(result, desk.events, time.monotonic() - began, desk.launcher.running())

    def close(self) -> None:
        self._stack.__exit__(None, None, None)


class Mcp:
    """A remote agent behind an MCP server, or behind LiteLLM's REST routes; its clock jumps."""

    moves: Mapping[str, Any] = {
        "good": [WORKING, FINISHED],
        "wrong schema": [{**FINISHED, "structured_output": {"tests": "none"}}],
        "nothing": [{**FINISHED, "structured_output": None}],
        "hang": [WORKING],
        "unauthorized": Fault("create", "http", status=401),
    }

    def __init__(self, folder: Path, way: str) -> None:
        self._stack = a_place(folder, way)
        self._place = self._stack.__enter__()

    def turn(self, behaviour: str, limit_s: float) -> Seen:
        place, move = self._place, self.moves[behaviour]
        if isinstance(move, Fault):
            place.devin.faults = [replace(move)]
        else:
            place.devin.script = place.devin.after_message = move
        began = time.monotonic()
        result = asyncio.run(place.turn(limit_s=3600))
        return Seen(result, [*place.events, last_event(result)], time.monotonic() - began, [])

    def close(self) -> None:
        self._stack.__exit__(None, None, None)


@contextmanager
def acp(folder: Path) -> Iterator[Harness]:
    yield Acp(folder)


@contextmanager
def sandboxed(_: Path) -> Iterator[Sandboxed]:
    """Not below pytest's own folder: a root app's sandbox user must get through (PN-11)."""
    folder = Path(tempfile.mkdtemp(prefix="remedy-contract-"))
    folder.chmod(0o711)
    try:
        (folder / "data").mkdir(mode=0o711)
        yield Sandboxed(folder)
    except UserError as error:
        raise AssertionError(error) from error
    finally:
        for place, folders, _names in os.walk(folder):
            for name in folders:
                Path(place, name).chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def opencode(folder: Path) -> Iterator[Harness]:
    made = OpenCode(folder)
    yield made
    made.close()


def mcp(way: str) -> Kind:
    @contextmanager
    def make(folder: Path) -> Iterator[Harness]:
        made = Mcp(folder, way)
        yield made
        made.close()

    return make


KINDS: Mapping[str, Kind] = {
    "acp": acp,
    "acp in the sandbox": sandboxed,
    "opencode": opencode,
    "mcp": mcp("flat"),
    "litellm": mcp("rest 1.108"),
}
MOVES: Mapping[str, Mapping[str, Any]] = {
    "acp": Acp.moves,
    "acp in the sandbox": Sandboxed.moves,
    "opencode": OpenCode.moves,
    "mcp": Mcp.moves,
    "litellm": Mcp.moves,
}
