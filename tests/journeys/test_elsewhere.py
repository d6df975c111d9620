"""Several machines share the database and the evidence alone, so any job may run where no other one did (issue 8)."""

import shutil
from collections.abc import Callable

import pytest

from tests.demo import shop
from tests.journeys.steps import a_red_pull
from tests.journeys.world import World, fix

OWN = ("repos", "workspaces", "drafts")
"""What belongs to one machine in a data folder."""


def test_every_job_may_run_on_a_machine_that_saw_nothing_of_the_run(
    a_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world({"agent": [fix(shop.FIRST_TRY), fix(shop.SECOND_TRY)], "review": ["correct", "approve"]})
    here = world.run

    def elsewhere(job: str, item: str) -> str:
        for folder in OWN:
            shutil.rmtree(world.settings.data / folder, ignore_errors=True)
        return here(job, item)

    monkeypatch.setattr(world, "run", elsewhere)
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None
    assert (run.status.value, run.result and run.result.value) == ("COMPLETED", "fixed"), (run.block_cause, run.error)
    assert [turn.purpose.value for turn in world.turns_of(number)].count("work") >= 2
