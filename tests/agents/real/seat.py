"""A real agent in the real sandbox, driven turn by turn as a worker does, its model a script behind the gateway."""

import asyncio
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.runners.kinds import runner_for
from app.runners.permissions import ROLE_GRANTS, Bounds
from app.runners.registry import Registry, RunnerSpec
from app.runners.runner import Ask, EventType, RunnerEvent, SessionRef, SessionSpec, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.runs.verdicts import AgentResult
from app.settings import ModelSettings
from app.turns.reach import shown_to, with_models
from app.workspace.launcher import Launcher
from app.workspace.rooms import Room
from app.workspace.sandbox.model import Limits, Sandbox, Workspace
from app.workspace.sandbox.uids import tasks_of
from tests.agents.model.server import ModelServer

NONCE = "K7Q2MZ4TRA5XWD3B"
FIRST = f"You repair one failure in a code repository.\nREMEDY_RESULT:{NONCE}"
AGAIN = f"Hand in only the result.\nREMEDY_RESULT:{NONCE}"


@dataclass
class Seat:
    """`turn` starts a process of the agent, says one prompt (and the second asking), and ends it."""

    runner_id: str
    sandbox: Sandbox
    room: Room
    data: Path
    model: ModelServer
    events: list[RunnerEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        tree = self.room.folder("tree")
        (tree / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        subprocess.run(["git", "init", "-q", "."], cwd=tree, check=True)
        if self.room.uid is not None:
            subprocess.run(["chown", "-R", f"{self.room.uid}:{self.room.uid}", str(tree)], check=True)

    @property
    def tree(self) -> Path:
        return self.room.path / "tree"

    def turn(self, ref: SessionRef | None = None, limit_s: float = 150) -> TurnResult:
        return asyncio.run(self._turn(ref, limit_s))

    async def _turn(self, ref: SessionRef | None, limit_s: float) -> TurnResult:
        found = Registry(self.data / "runners-dir", self.data, {}).find(self.runner_id, "agent")
        assert isinstance(found, RunnerSpec), found
        upstream = {"url": self.model.url, "key": "sk-provider-canary"}
        models = ModelSettings.model_validate(dict.fromkeys(("openai", "anthropic", "gemini"), upstream))
        place = Workspace(self.tree, self.room.uid, binds=shown_to(found), home=self.room.folder("home"))
        launcher = Launcher(self.sandbox, place, Limits.for_agents(limit_s + 60), "turn")
        launcher, spec = with_models(launcher, found, models)
        session = SessionSpec(self.tree, launcher.cwd, Bounds(ROLE_GRANTS[Role.AGENT], Role.AGENT), config=spec.config)
        ask = Ask("turn", FIRST, NONCE, time.monotonic() + limit_s, reask=lambda why: AGAIN)
        return await drive_turn(runner_for(spec, launcher), session, ref, ask, AgentResult, self.events.append)

    def left(self) -> int:
        """Living processes of the sandbox's user; 0 where it has none of its own."""
        return 0 if self.room.uid is None else tasks_of(self.room.uid)

    def of(self, kind: EventType) -> list[Any]:
        return [event.data for event in self.events if event.type is kind]
