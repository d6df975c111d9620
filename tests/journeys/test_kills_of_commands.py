"""A worker dies while it hears a person: the command is done, once, and answered (CM-10)."""

from collections.abc import Callable, Iterator

import pytest

from app.ledger import commands
from app.services import Services
from tests.journeys.deadly import DeadlyWorld, Trap
from tests.journeys.outcome import left_over
from tests.journeys.steps import a_red_pull, bodies, check_of, reactions
from tests.journeys.victim import Point
from tests.journeys.world import AUTHOR, REPO

Make = Callable[[], DeadlyWorld]

MOMENTS = {
    "stored and not yet run": Point("jobs.intake:_command", "before"),
    "done and not yet answered": Point("app.commands.run:_acknowledge"),
    "done, answered, and its delivery not yet ticked off": Point("jobs.intake:_command"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_is_killed_when_a_command_is(moment: str, a_deadly_world: Make) -> None:
    world = a_deadly_world()
    number = a_red_pull(world)
    world.step_to("turn")
    world.set_traps([Trap("intake", MOMENTS[moment])])

    said = world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block I look at it")
    world.step_until_quiet()

    world.assert_all_met()
    assert check_of(world, number).title == "Stopped by ann"
    assert reactions(said) == ["+1"]
    assert len(bodies(world, number)) == 1
    assert left_over(world.services) == {}


def test_commands_of_one_comment_keep_their_order_after_a_death_CM_2(a_deadly_world: Make) -> None:
    """Both are stored, none is run; the run is stopped first and goes on then, not the other way round."""
    world = a_deadly_world()
    number = a_red_pull(world)
    world.step_to("turn")
    world.set_traps([Trap("intake", MOMENTS["stored and not yet run"])])

    said = world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block\n\n/remedy resume mind the empty list")
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None
    assert run.status == "COMPLETED", run.block_cause
    assert any("mind the empty list" in turn.prompt for turn in world.turns_of(number))
    assert reactions(said) == ["+1"]


@pytest.fixture
def a_command_that_fails(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A fault of ours that no input brings out on purpose: asking for the permission breaks."""

    def broken(s: Services, *rest: object) -> bool:
        raise RuntimeError("broken on purpose")

    with monkeypatch.context() as patch:
        patch.setattr("app.commands.run._may", broken)
        yield


@pytest.mark.usefixtures("a_command_that_fails")
def test_a_command_that_fails_again_and_again_is_refused_in_the_end_CM_8(a_deadly_world: Make) -> None:
    world = a_deadly_world()
    number = a_red_pull(world)
    world.step_to("turn")

    said = world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block")
    guid = next(item for job, item in world.ready() if job == "intake")
    assert world.run("intake", guid) == "waiting"
    with world.services.read() as conn:
        (waiting,) = commands.waiting(conn)
    assert ("intake", f"command-{waiting.id}") in world.ready()

    world.pass_time(601)
    assert world.run("intake", f"command-{waiting.id}") == "processed"
    world.step("deliver")
    assert reactions(said) == ["-1"]
    assert "Remedy itself failed" in bodies(world, number)[-1]
