"""A place where a pull request turns red without running CI: everything that people meet before an agent starts."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo import shop
from tests.journeys import quick
from tests.journeys.threads.place import Place
from tests.journeys.world import MAINTAINER, REPO


@pytest.fixture
def a_place() -> Iterator[Callable[..., Place]]:
    """Make a place with a policy text; at the end no rule of GitHub may have been broken."""
    made: list[Place] = []

    def make(policy: str | None = "enabled: true\n", **more: Any) -> Place:
        folder = Path(tempfile.mkdtemp(prefix="remedy-place-"))
        folder.chmod(0o711)
        place = Place(folder, policy, **more)
        made.append(place)
        return place

    yield make
    for place in made:
        place.world.close()
        shutil.rmtree(place.world.folder, ignore_errors=True)
        assert place.github.violations() == []


@pytest.fixture
def place(a_place: Callable[..., Place]) -> Place:
    return a_place()


@pytest.fixture
def a_red_place(a_place: Callable[..., Place], tools: Path) -> Callable[..., Place]:
    """A place whose pull request 1 is really broken, and red; with `fork` it comes from a stranger's fork."""

    def make(scenario: Any, policy: str = "", *, fork: bool = False, **settings: Any) -> Place:
        place = a_place(f"{quick.POLICY}{policy}", proof_tools=str(tools), **settings)
        place.world.scenario(scenario)
        place.github.push(MAINTAINER, REPO, "main", quick.BESIDE)
        place.base("success")
        number = place.fork_pull(files=shop.CHANGE) if fork else place.pull("feature", files=shop.CHANGE)
        assert number == 1
        place.fail(1)
        return place

    return make
