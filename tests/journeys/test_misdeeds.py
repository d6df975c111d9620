"""What an agent does against the rules inside its workspace reaches nobody (runners.md, 5; security.md, S48)."""

from collections.abc import Callable

import pytest

from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies
from tests.journeys.world import REPO, World, fix


@pytest.mark.long
def test_a_workflow_changed_by_shell_is_not_published(a_world: Callable[..., World]) -> None:
    """RN-31, S48: permission rules are guidance; the check of the resulting diff is the wall."""
    escape = {"do": "escape", "path": ".github/workflows/ci.yml"}
    world = a_world({"agent": [[escape, fix(shop.SECOND_TRY)]]})
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "BLOCKED", run and run.status
    assert not [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")]
    assert ".github/workflows/ci.yml" in bodies(world, number)[0]
