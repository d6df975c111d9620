"""A small world to drive runners in: a workspace, a HOME, the QA agent with a scenario, and the events of its turns."""

import asyncio
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from app.runners.acp.link import Waits
from app.runners.acp.runner import AcpRunner, Options
from app.runners.acp.wire import Caps
from app.runners.codes import Code
from app.runners.permissions import ROLE_GRANTS, Bounds, Grant, decide, intersect
from app.runners.registry import Registry, RunnerSpec
from app.runners.runner import Answer, Ask, EventType, RunnerEvent, SessionRef, SessionSpec, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.runs.verdicts import AgentResult, Supervision
from tests.agents.install import install_qa
from tests.agents.plain import PlainLauncher

NONCE = "K7Q2MZ4TRA5XWD3B"
WAITS = Waits(initialize_s=10, session_s=10, idle_s=10, abort_s=5, exit_s=5)
MODELS: dict[Role, tuple[type[BaseModel], str]] = {
    Role.AGENT: (AgentResult, "You repair one failure\n{}\nREMEDY_RESULT:" + NONCE),
    Role.SUPERVISOR: (Supervision, "You are the supervisor of one repair\n{}\nREMEDY_VERDICT:" + NONCE),
}


class World:
    """A workspace, a HOME, a QA agent with a scenario, and the events of its turns.

    A move goes into the prompt as `[[qa:MOVE]]`; an empty one leaves the choice to the scenario.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.workspace = self.folder / "ws"
        self.home = self.folder / "home"
        self.workspace.mkdir()
        self.home.mkdir()
        self.launcher = PlainLauncher(self.workspace, self.home)
        self.events: list[RunnerEvent] = []
        self.grant: Grant = ROLE_GRANTS[Role.AGENT]
        self._something = asyncio.Event()

    def sink(self, event: RunnerEvent) -> None:
        self.events.append(event)
        self._something.set()

    def of(self, kind: EventType) -> list[Any]:
        return [event.data for event in self.events if event.type is kind]

    async def until(self, kind: EventType, count: int = 1) -> None:
        while len(self.of(kind)) < count:
            self._something.clear()
            await self._something.wait()

    def registry(self) -> Registry:
        return Registry(self.folder / "runners", self.folder / "data", {})

    def install(self, scenario: dict[str, Any] | None = None, **spec: Any) -> RunnerSpec:
        runner_id = install_qa(self.folder / "runners", scenario or {}, **spec)
        found = self.registry().find(runner_id, "agent")
        assert isinstance(found, RunnerSpec), found
        return found

    def runner(self, spec: RunnerSpec | None = None, waits: Waits = WAITS, caps: Caps | None = None) -> AcpRunner:
        return AcpRunner(spec or self.install(), self.launcher, Options(waits=waits, caps=caps or Caps()))

    def session(self, role: Role = Role.AGENT, **more: Any) -> SessionSpec:
        bounds = Bounds(intersect(self.grant, ROLE_GRANTS[role]), role)
        return SessionSpec(self.workspace, str(self.workspace), bounds, **more)

    def ask(
        self, move: str = "", role: Role = Role.AGENT, limit_s: float = 30, again: str = "good", attempt: int = 1
    ) -> Ask:
        def text(what: str) -> str:
            return MODELS[role][1].format(f"Attempt: {attempt}\n" + (f"[[qa:{what}]]" if what else ""))

        return Ask("turn-1", text(move), NONCE, time.monotonic() + limit_s, reask=lambda why: text(again))

    async def send(self, runner: AcpRunner, ref: SessionRef, move: str = "", attempt: int = 1) -> Answer:
        bounds = self.session().bounds
        asked = self.ask(move, attempt=attempt)
        return await runner.send(ref, asked, self.sink, lambda request: decide(request, bounds))

    async def turn(
        self,
        move: str = "",
        role: Role = Role.AGENT,
        *,
        runner: AcpRunner | None = None,
        ref: SessionRef | None = None,
        **ask: Any,
    ) -> TurnResult:
        asked = self.ask(move, role, **ask)
        return await drive_turn(runner or self.runner(), self.session(role), ref, asked, MODELS[role][0], self.sink)


def code(result: TurnResult) -> Code | None:
    return result.error.code if result.error else None
