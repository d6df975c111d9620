"""Worlds in which a real agent is the agent and the supervisor, and its model is a script."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.plugins.sources import opened
from tests.agents.model.script import Script
from tests.agents.model.server import ModelServer
from tests.agents.real.install import PROGRAMS, NotHere, node_modules
from tests.agents.real.seat import Seat
from tests.demo import shop
from tests.demo.tools import make_tools
from tests.journeys.conftest import here, worlds
from tests.journeys.world import World
from tests.unit.workspace.tools import a_sandbox

__all__ = ["here"]
KEY = "sk-provider-canary-0123456789"
IDS = {"opencode": "remedy/opencode/http", "opencode-acp": "remedy/opencode/acp"}


def id_of(agent: str) -> str:
    return IDS.get(agent, f"remedy/{agent}/acp")


@dataclass(frozen=True)
class Bench:
    """A world, and the model that its agents have."""

    world: World
    model: ModelServer
    agent: str


@pytest.fixture(scope="session")
def modules() -> Path:
    cache = os.environ.get("REMEDY_TEST_AGENTS")
    if not cache:
        pytest.skip("REMEDY_TEST_AGENTS names no folder for the agents: say `make test-agents`")
    try:
        return node_modules(Path(cache).expanduser().resolve())
    except NotHere as why:
        pytest.skip(str(why))


@pytest.fixture
def seat(modules: Path) -> Iterator[Callable[..., Seat]]:
    """One real agent alone in a real sandbox, for turns without a thread."""
    with ExitStack() as stack:

        def made(agent: str, scripts: dict[str, Script]) -> Seat:
            sandbox, rooms = stack.enter_context(a_sandbox())
            room = stack.enter_context(rooms.scratch())
            model = stack.enter_context(ModelServer(scripts).running())
            with opened(agent, str(modules / PROGRAMS[agent]), "") as source:
                shutil.copytree(source.folder, rooms.data / "runners-dir" / agent)
            return Seat(id_of(agent), sandbox, room, rooms.data, model)

        yield made


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("tools")
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o711)
    yield make_tools(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bench(modules: Path, tools: Path) -> Iterator[Callable[..., Bench]]:
    """Make a world whose roles are all taken by one real agent, installed as an operator would."""
    with ExitStack() as stack:
        make = stack.enter_context(worlds(World, tools, shop.FILES))

        def made(agent: str, scripts: dict[str, Script], **settings: object) -> Bench:
            model = stack.enter_context(ModelServer(scripts).running())
            upstream = {"url": model.url, "key": KEY}
            roles = {"agent": id_of(agent), "supervisor": id_of(agent)}
            models = {"models": dict.fromkeys(("openai", "anthropic", "gemini"), upstream)}
            world = make(**{**roles, **models, **settings})
            with opened(agent, str(modules / PROGRAMS[agent]), "") as source:
                shutil.copytree(source.folder, world.folder / "runners" / agent)
            return Bench(world, model, agent)

        yield made
