"""The thread: from a red check to a judged, published, merged fix."""

from collections.abc import Callable

import pytest

from app.ledger import events
from jobs.sweep import tidy
from tests.demo import shop
from tests.journeys.steps import a_red_pull
from tests.journeys.world import World, fix


def test_a_red_check_is_repaired_proved_published_and_the_author_is_told(a_pytest_world: Callable[..., World]) -> None:
    world = a_pytest_world()
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None, world.outcome_of(number)
    assert run.status.value == "COMPLETED", (run.status, run.stage, run.block_cause, run.error)


@pytest.mark.long
def test_the_rooms_of_an_ended_run_are_removed_and_those_of_an_open_one_kept(world: World) -> None:
    number = a_red_pull(world)
    world.step_to("prove")
    rooms = world.settings.data / "workspaces"

    tidy(world.services)
    assert [path for path in rooms.iterdir() if path.is_dir()], "the agent's room is still needed"

    world.step_until_quiet()
    tidy(world.services)
    assert world.run_of(number) is not None
    assert [path for path in rooms.iterdir() if path.is_dir()] == []


@pytest.mark.long
def test_a_workspace_is_told_as_prepared_once_for_each_session(a_world: Callable[..., World]) -> None:
    """B10: an agent's session of two turns, and a supervisor's of three."""
    first, second = fix(shop.FIRST_TRY), fix(shop.SECOND_TRY)
    world = a_world({"agent": [first, second], "review": ["correct", "approve"]})
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None
    taken = [turn.session_id for turn in world.turns_of(number)]
    with world.services.read() as conn:
        told = [event.details["session"] for event in events.of_run(conn, run.id) if event.kind == "workspace.prepared"]
    assert len(taken) > len(set(taken)), "a session had more than one turn"
    assert sorted(told) == sorted(set(taken))
