"""Worlds for the journeys: made on demand, checked against GitHub's description at their end."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo import shop
from tests.demo.tools import make_tools
from tests.journeys.world import AUTHOR, GOOD, MAINTAINER, REPO, World


@pytest.fixture(scope="session")
def tools() -> Iterator[Path]:
    """One environment with pytest for all proofs of this worker."""
    folder = Path(tempfile.mkdtemp(prefix="remedy-tools-"))
    folder.chmod(0o711)
    yield make_tools(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def a_world(tools: Path) -> Iterator[Callable[..., World]]:
    """Make a world with a scenario for its agents; at the end no rule of GitHub may have been broken."""
    made: list[World] = []

    def make(scenario: Any = GOOD, **settings: Any) -> World:
        folder = Path(tempfile.mkdtemp(prefix="remedy-world-"))
        folder.chmod(0o711)  # a root app's sandbox user must get through (PN-11); pytest's own folders are shut
        world = World(folder, scenario, **{"proof_tools": str(tools), **settings})
        made.append(world)
        world.github.create_repo(REPO, shop.FILES)
        world.github.collaborator(REPO, AUTHOR, "write")
        world.github.collaborator(REPO, MAINTAINER, "write")
        world.github.push(MAINTAINER, REPO, "main", {"README.md": "# Listing\n\nPages of a list.\n"})
        world.github.run_ci()
        return world

    yield make
    for world in made:
        world.close()
        shutil.rmtree(world.folder, ignore_errors=True)
        assert world.github.violations() == []


@pytest.fixture
def world(a_world: Callable[..., World]) -> World:
    """A world whose agent fixes the bug at once."""
    return a_world()
