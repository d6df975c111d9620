"""Worlds for the journeys: made on demand, checked against GitHub's description at their end."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.demo import shop
from tests.demo.tools import make_tools
from tests.journeys import place, quick
from tests.journeys.deadly import DeadlyWorld
from tests.journeys.world import AUTHOR, GOOD, MAINTAINER, REPO, World

W = TypeVar("W", bound=World)


@pytest.fixture(scope="session")
def tools() -> Iterator[Path]:
    """One environment with pytest for all proofs of this worker."""
    folder = Path(tempfile.mkdtemp(prefix="remedy-tools-"))
    folder.chmod(0o711)
    yield make_tools(folder)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def worlds(kind: type[W], tools: Path, files: Mapping[str, str]) -> Iterator[Callable[..., W]]:
    """Make worlds with a scenario for their agents; at the end no rule of GitHub may have been broken."""
    made: list[W] = []
    databases = ExitStack()

    def make(scenario: Any = GOOD, **settings: Any) -> W:
        folder = Path(tempfile.mkdtemp(prefix="remedy-world-"))
        folder.chmod(0o711)  # a root app's sandbox user must get through (PN-11); pytest's own folders are shut
        database = databases.enter_context(place.database_url())
        world = kind(folder, scenario, **{"proof_tools": str(tools), "DATABASE_URL": database, **settings})
        made.append(world)
        world.github.create_repo(REPO, dict(files))
        world.github.collaborator(REPO, AUTHOR, "write")
        world.github.collaborator(REPO, MAINTAINER, "write")
        world.github.push(MAINTAINER, REPO, "main", {"README.md": "# Listing\n\nPages of a list.\n"})
        world.github.run_ci()
        return world

    yield make
    for world in made:
        try:
            world.close()
        finally:
            shutil.rmtree(world.folder, ignore_errors=True)
    databases.close()


@pytest.fixture(scope="session", autouse=True)
def here() -> Iterator[None]:
    """The servers of the place that the journeys run in."""
    with place.running():
        yield


@pytest.fixture
def a_world(tools: Path) -> Iterator[Callable[..., World]]:
    """Worlds with a quick test command."""
    with worlds(World, tools, quick.FILES) as make:
        yield make


@pytest.fixture
def a_pytest_world(tools: Path) -> Iterator[Callable[..., World]]:
    """Worlds whose proofs run pytest, as it is found in most repositories."""
    with worlds(World, tools, shop.FILES) as make:
        yield make


@pytest.fixture
def a_deadly_world(tools: Path) -> Iterator[Callable[..., DeadlyWorld]]:
    """Worlds whose workers can be killed."""
    with worlds(DeadlyWorld, tools, quick.FILES) as make:
        yield make


@pytest.fixture
def world(a_world: Callable[..., World]) -> World:
    """A world whose agent fixes the bug at once."""
    return a_world()
