"""People steer Remedy: by comment and by button, if they may (domain.md, 18)."""

from collections.abc import Callable

import pytest

from tests.journeys.steps import a_red_pull, bodies, check_of, reactions
from tests.journeys.world import AUTHOR, REPO, STRANGER, World


def test_a_maintainer_stops_a_run_and_lets_it_go_on_C13_C25(world: World) -> None:
    number = a_red_pull(world)
    world.step_to("turn")

    said = world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block I rewrite this part\n\nthanks")
    world.step_until_quiet()

    assert check_of(world, number).conclusion == "cancelled"
    assert check_of(world, number).title == "Stopped by ann"
    assert "I rewrite this part" in bodies(world, number)[0]
    assert reactions(said) == ["+1"]

    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume keep the page of an empty list")
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    assert any("keep the page of an empty list" in turn.prompt for turn in world.turns_of(number))


def test_the_buttons_do_what_the_commands_do_CM_11(world: World) -> None:
    number = a_red_pull(world)
    world.step_to("turn")

    world.github.click(AUTHOR, check_of(world, number), "block")
    world.step_until_quiet()
    assert check_of(world, number).conclusion == "cancelled"

    world.github.click(AUTHOR, check_of(world, number), "resume")
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED"


def test_somebody_without_write_access_is_refused_and_nothing_changes_CM_6(world: World) -> None:
    number = a_red_pull(world)
    world.step_to("turn")
    before = world.run_of(number)

    said = world.github.comment(STRANGER, f"{REPO}#{number}", "/remedy block")
    for job, item in world.ready():
        if job in ("intake", "deliver"):
            world.run(job, item)
    world.step("deliver")

    assert world.run_of(number) == before
    assert reactions(said) == ["-1"]
    assert "needs write access" in bodies(world, number)[-1]


@pytest.mark.long
def test_help_lists_the_commands_and_a_mistyped_one_is_answered_CM_8(world: World) -> None:
    number = a_red_pull(world)
    world.step_until_quiet()

    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy help")
    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy rezume")
    world.step_until_quiet()

    help_text, unknown = bodies(world, number)[-2:]
    assert "| `/remedy resume` |" in help_text
    assert "resume" in unknown and "rezume" in unknown


@pytest.mark.long
def test_a_quoted_or_fenced_command_does_nothing_CM_3(world: World) -> None:
    number = a_red_pull(world)
    world.step_until_quiet()
    count = len(bodies(world, number))

    for text in ("> /remedy block", "```\n/remedy block\n```", "say `/remedy block` to stop it"):
        world.github.comment(AUTHOR, f"{REPO}#{number}", text)
    world.step_until_quiet()

    assert len(bodies(world, number)) == count


def test_the_same_press_delivered_twice_changes_nothing_IT_3(a_world: Callable[..., World]) -> None:
    world = a_world()
    number = a_red_pull(world)
    world.step_to("turn")

    said = world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block")
    world.github.redeliver(world.github.deliveries("issue_comment", "created")[-1].guid)
    world.step_until_quiet()

    assert len(bodies(world, number)) == 1
    assert reactions(said) == ["+1"]
