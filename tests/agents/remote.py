"""A remote agent for contract tests: a vendor, a way to it, a clock that jumps, and one turn after the other."""

import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.runners.mcp.follow import Errand, Follower, Later, Times
from app.runners.mcp.remote import Remote
from app.runners.mcp.standing import Standing, opening
from app.runners.registry import Registry, RunnerSpec
from app.runners.runner import Ask, RunnerEvent, TurnResult
from app.runs.verdicts import AgentResult
from tests.agents.devin import Devin
from tests.agents.install import DEVIN, DEVIN_KEY, install_devin
from tests.agents.litellm import LiteLLM

KEY = "dv-canary-key"
NONCE = "AB2C3D4E5F6G7H2A"
WAYS = ("flat", "sessions", "rest 1.108", "rest 1.85")
"""Native MCP in both shapes of arguments, and a gateway's REST routes in two versions."""
MOST_STEPS = 60


@dataclass
class Place:
    """`place.turn()` follows a turn to its end; `now` jumps by what each step asks to wait."""

    folder: Path
    devin: Devin
    gateway: LiteLLM | None
    url: str
    key: str
    more: dict[str, Any]
    now: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    events: list[RunnerEvent] = field(default_factory=list)
    kept: list[Standing] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    ours: bool = True

    def spec(self, **gateway: Any) -> RunnerSpec:
        install_devin(self.folder / "runners", self.url, gateway={**self.more, **gateway})
        registry = Registry(self.folder / "runners", self.folder / "data", {DEVIN_KEY: self.key})
        found = registry.find(DEVIN, "agent")
        assert isinstance(found, RunnerSpec), found
        return found

    def remote(self, **gateway: Any) -> Remote:
        return Remote(self.spec(**gateway))

    def follower(self, *, text: str = "Repair it.", limit_s: float = 3600, **gateway: Any) -> Follower:
        return Follower(
            remote=self.remote(**gateway),
            errand=Errand("remedy-0123456789ab", "Fix 1 failing test(s) [tag]", ("a", "b", "tag"), "acme/listing"),
            ask=Ask("turn-1", text, NONCE, 0, reask=lambda why: f"Only the result: {'; '.join(why)}"),
            model=AgentResult,
            times=Times(lambda: self.now, self.now + int(limit_s * 1000), limit_s),
            keep=self._keep,
            sink=self.events.append,
        )

    def _keep(self, standing: Standing, text: str) -> bool:
        self.kept.append(standing)
        return self.ours

    async def turn(self, standing: Standing | None = None, **order: Any) -> TurnResult:
        follower = self.follower(**order)
        at = standing or opening("", "")
        for _ in itertools.repeat(None, MOST_STEPS):
            done = await follower.step(Standing.of(at.to_json()))
            if not isinstance(done, Later):
                return done
            at = done.standing
            self.waits.append(done.wait_s)
            self.now += int(done.wait_s * 1000) + 1
        raise AssertionError(f"the turn never ends: {at}")

    def data(self, kind: str) -> list[Mapping[str, object]]:
        return [event.data for event in self.events if event.type.value == kind]


@contextmanager
def a_place(folder: Path, way: str = "flat", **more: Any) -> Iterator[Place]:
    """A vendor reached in one of `WAYS`."""
    with ExitStack() as stack:
        devin = stack.enter_context(Devin("flat" if way.startswith("rest") else way, key=KEY))
        if not way.startswith("rest"):
            yield Place(folder, devin, None, devin.url, KEY, {"timeout_s": 2, **more})
            return
        gateway = stack.enter_context(LiteLLM(devin, way.removeprefix("rest ")))
        more = {"transport": "litellm-rest", "timeout_s": 2, **more}
        yield Place(folder, devin, gateway, gateway.url, gateway.key, more)
