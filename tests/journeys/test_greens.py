"""What a green head does: it ends a run that nobody needs any more, and completes one whose fix it holds."""

from sqlalchemy import select

from app.ledger.schema import diagnoses
from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World

BY_HAND = {"listing/pages.py": shop.PAGES.replace("-(-total // size)", "max(1, -(-total // size))")}


def test_a_green_newer_head_ends_the_run_at_once_IT_33_HM_3(world: World) -> None:
    number = a_red_pull(world)
    world.step_to("prove")

    world.github.push(AUTHOR, REPO, "one-page-minimum", BY_HAND)
    world.github.run_ci()
    world.github.settle()
    while world.step("intake"):
        pass

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.cancel_reason) == ("CANCELLED", "superseded_green"), run
    assert not [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")]


def test_a_merged_fix_that_is_green_completes_the_check_IT_35_IT_7_IT_13(world: World) -> None:
    number = a_red_pull(world)
    world.step_until_quiet()
    assert check_of(world, number).conclusion == "action_required"
    fix = next(pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/"))
    long = len(bodies(world, number)[0])

    world.github.merge(AUTHOR, f"{REPO}#{fix.thread.number}")
    world.step_until_quiet()

    assert check_of(world, number).conclusion == "success"
    assert len(bodies(world, number)) == 1 and len(bodies(world, number)[0]) < long, "the comment shrinks"
    with world.services.read() as conn:
        seen = conn.execute(select(diagnoses.c.check_runs, diagnoses.c.head_sha)).all()
    names = {check["name"] for row in seen for check in row.check_runs or ()}
    assert names == {"unit"}, "IT-7: our own check is nobody's reason"
    run = world.run_of(number)
    assert run is not None and {row.head_sha for row in seen} == {run.head_sha}, "IT-13"
