"""A runner in front of the OpenCode double, with the events of its turns."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml

from app.runners.acp.link import Waits
from app.runners.opencode.runner import OpenCodeRunner, Options
from app.runners.permissions import ROLE_GRANTS, Bounds
from app.runners.registry import Registry, RunnerSpec
from app.runners.runner import Ask, EventType, Readiness, RunnerEvent, SessionRef, SessionSpec, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.runs.verdicts import AgentResult
from tests.agents.opencode_server import OpenCodeServer
from tests.agents.plain import PlainLauncher
from tests.agents.serving import served

WAITS = Waits(initialize_s=15, session_s=5, idle_s=10, abort_s=2, exit_s=2)
CONFIG = {"provider": "remedy", "model": "vendor/m"}
PASSWORD = "pass-canary"
T = TypeVar("T")


class Desk:
    """One workspace and one server; `run(lambda desk: ...)` drives it in a loop of its own."""

    def __init__(self, folder: Path, server: OpenCodeServer, url: str, waits: Waits = WAITS) -> None:
        self.folder, self.server, self.url, self.waits = folder, server, url, waits
        self.workspace = folder / "ws"
        for name in ("ws", "home", "runners"):
            (folder / name).mkdir(exist_ok=True)
        self.launcher = PlainLauncher(self.workspace, folder / "home")
        self.events: list[RunnerEvent] = []

    def spec(self, config: dict[str, Any] | None = None, **spec: Any) -> RunnerSpec:
        """The runner as an operator installs it: by address, or with `command` as a server of our own."""
        manifest: dict[str, Any] = {
            "apiVersion": "remedy/v1",
            "kind": "Runner",
            "metadata": {"author": "acme", "name": "opencode", "runner": "http", "version": "1"}
            | {"label": "OpenCode", "description": "The double."},
            "spec": {"usages": ["agent", "supervisor"], "protocol": "opencode/1", "config_schema": {"type": "object"}},
        }
        reach = {"url": "$OPENCODE_URL", "env": ["OPENCODE_URL", "OPENCODE_SERVER_PASSWORD"]}
        manifest["spec"] |= {"env_fixed": {"OPENCODE_ISOLATED": "yes"}} | ({} if "command" in spec else reach) | spec
        home = self.folder / "runners" / "opencode"
        home.mkdir(exist_ok=True)
        (home / "runner.yaml").write_text(yaml.safe_dump(manifest))
        environ = {"OPENCODE_URL": self.url, "OPENCODE_SERVER_PASSWORD": PASSWORD}
        found = Registry(self.folder / "runners", self.folder / "data", environ).find(
            "acme/opencode/http", "agent", {**CONFIG, **(config or {})}
        )
        assert isinstance(found, RunnerSpec), found
        return found

    def runner(self, spec: RunnerSpec | None = None) -> OpenCodeRunner:
        return OpenCodeRunner(spec or self.spec(), self.launcher, Options(self.waits))

    async def ready(self, runner: OpenCodeRunner | None = None, calls: int = 1) -> Readiness:
        """What `calls` concurrent questions got; all of them the same."""
        runner = runner or self.runner()
        try:
            told, *others = await asyncio.gather(*(runner.ready() for _ in range(calls)))
            assert all(other == told for other in others)
            return told
        finally:
            await runner.close()

    def own_server(self, scenario: str = "{}") -> RunnerSpec:
        """The double as a command, to be started by the runner."""
        env = {"OPENCODE_DOUBLE": scenario, "PYTHONPATH": str(Path(__file__).parents[2])}
        return self.spec(command=[sys.executable, "-m", "tests.agents.opencode_server", "serve"], env_fixed=env)

    def session(self, role: Role = Role.AGENT) -> SessionSpec:
        return SessionSpec(self.workspace, str(self.workspace), Bounds(ROLE_GRANTS[role], role))

    def sink(self, event: RunnerEvent) -> None:
        self.events.append(event)

    def of(self, kind: EventType) -> list[Any]:
        return [event.data for event in self.events if event.type is kind]

    async def turn(
        self,
        *,
        runner: OpenCodeRunner | None = None,
        ref: SessionRef | None = None,
        limit_s: float = 30,
        model: Any = AgentResult,
    ) -> TurnResult:
        ask = Ask("turn-1", "Put it right.", "N" * 16, time.monotonic() + limit_s, reask=self.reask)
        return await drive_turn(runner or self.runner(), self.session(), ref, ask, model, self.sink)

    def reask(self, reasons: Any) -> str:
        return f"Hand in the result only, without repeating repository work. Wrong: {'; '.join(reasons)}"

    def run(self, work: Callable[["Desk"], Awaitable[T]]) -> T:
        async def whole() -> T:
            return await work(self)

        return asyncio.run(whole())


@contextmanager
def a_desk(folder: Path, scenario: dict[str, Any] | None = None, waits: Waits = WAITS) -> Iterator[Desk]:
    server = OpenCodeServer(scenario or {})
    with served(server.app()) as url:
        yield Desk(folder, server, url, waits)
