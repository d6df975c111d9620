"""The thread with an agent that works elsewhere: from a red check to a published fix, through an MCP server."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.agents.devin import Devin, Session
from tests.agents.install import DEVIN, DEVIN_KEY, install_devin
from tests.demo import shop
from tests.journeys.steps import a_red_pull
from tests.journeys.world import MAINTAINER, REPO, World

KEY = "dv-canary-7f3a19"


@pytest.fixture
def devin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Devin]:
    monkeypatch.setenv(DEVIN_KEY, KEY)
    with Devin(key=KEY) as vendor:
        yield vendor


@pytest.fixture
def world(devin: Devin, a_world: Callable[..., World]) -> World:
    return with_devin(a_world(agent=DEVIN), devin)


def with_devin(world: World, devin: Devin, **gateway: Any) -> World:
    install_devin(world.folder / "runners", devin.url, gateway=gateway)
    devin.on_work = pushing(world, shop.SECOND_TRY)
    return world


def pushing(world: World, edits: list[tuple[str, str, str]]) -> Callable[[Session, str], None]:
    """The agent pushes these edits to the branch that its prompt names, with its own rights."""

    def work(session: Session, text: str) -> None:
        found = re.search(r"Work on branch `([^`]+)` from `([0-9a-f]{40})`", session.prompt)
        assert found is not None
        files = {path: shop.CHANGE[path].replace(old, new) for path, old, new in edits}
        world.github.push(MAINTAINER, REPO, found[1], files, base=found[2])

    return work


def test_a_red_check_is_repaired_by_a_remote_agent(world: World, devin: Devin) -> None:
    """RN-60, G9, G18, G20: one session, its branch taken as a patch, proved, judged and published as our own."""
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run and run.block_cause, run and run.error)
    assert devin.count("create") == 1
