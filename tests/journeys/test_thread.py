"""The thread: from a red check to a judged, published, merged fix."""

from tests.journeys.steps import a_red_pull
from tests.journeys.world import World


def test_a_red_check_is_repaired_proved_published_and_the_author_is_told(world: World) -> None:
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None, world.outcome_of(number)
    assert run.status.value == "COMPLETED", (run.status, run.stage, run.block_cause, run.error)
