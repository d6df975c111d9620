"""Webhooks come in any order, twice, late, forged or not at all: the same end (IT-2 to IT-5, GH-35)."""

import json
from collections.abc import Callable

import pytest

from app.events.lost import Lost
from app.events.payloads import MODELS, CheckRunEvent
from app.ledger import deliveries
from tests.journeys.deadly import DeadlyWorld
from tests.journeys.outcome import assert_repaired, created, left_over
from tests.journeys.steps import a_red_pull
from tests.journeys.world import MAINTAINER, REPO, World
from tests.unit.test_cli_runs import said

Make = Callable[[], DeadlyWorld]


def step_and_ask_again(world: World) -> int:
    """Run everything, ask GitHub for what never came, until nothing is missing; how many were asked for."""
    asked, lost = 0, Lost()
    while True:
        world.step_until_quiet()
        missing = lost.ask_again(world.services)
        if not missing:
            return asked
        asked += missing
        world.github.settle()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_deliveries_shuffled_doubled_and_missed_end_the_same(seed: int, a_deadly_world: Make) -> None:
    world = a_deadly_world()
    world.github.shuffle_hooks(seed)
    world.github.fault(where="hook", hook="miss", times=5, p=0.4, seed=seed)
    world.github.fault(where="hook", hook="duplicate", times=None, p=0.5, seed=seed)
    number = a_red_pull(world)

    asked = step_and_ask_again(world)

    assert asked > 0
    assert_repaired(world, number)


def test_the_red_check_itself_is_missed_and_comes_back_CR_1(a_deadly_world: Make) -> None:
    world = a_deadly_world()
    world.github.fault(where="hook", hook="miss", event="check_run", action="completed")
    number = a_red_pull(world)
    world.step_until_quiet()
    assert world.github.our_checks(f"{REPO}#{number}") == []

    assert step_and_ask_again(world) == 1

    assert_repaired(world, number)


def test_what_is_not_for_us_is_not_asked_for_again_and_again_GH_35(a_deadly_world: Make) -> None:
    """A success that failed to arrive leaves no row when it comes at last; that is no reason to ask for ever."""
    world = a_deadly_world()
    world.github.fault(where="hook", hook="miss", event="check_run", times=2)
    world.github.push(MAINTAINER, REPO, "main", {"README.md": "# More\n"})
    world.github.run_ci()
    world.github.settle()
    missed = [one for one in world.github.deliveries("check_run") if not one.ok]
    assert {one.action for one in missed} == {"created", "completed"}

    assert step_and_ask_again(world) == 1

    with world.services.read() as conn:
        assert not any(deliveries.get(conn, one.guid) for one in missed)


def test_a_forged_delivery_is_refused_and_leaves_no_row_and_the_true_one_counts_S_34(a_deadly_world: Make) -> None:
    world = a_deadly_world()
    world.github.fault(where="hook", hook="bad_signature", event="check_run", action="completed")
    number = a_red_pull(world)
    world.github.settle()
    (forged,) = [one for one in world.github.deliveries("check_run", "completed") if one.status_code == 401]
    with world.services.read() as conn:
        assert deliveries.get(conn, forged.guid) is None

    assert step_and_ask_again(world) == 1

    with world.services.read() as conn:
        assert deliveries.get(conn, forged.guid) is not None
    assert_repaired(world, number)


def test_everything_delivered_once_more_changes_nothing_IT_2(a_deadly_world: Make) -> None:
    world = a_deadly_world()
    number = a_red_pull(world)
    world.step_until_quiet()
    before, written = world.github.snapshot(), created(world)

    for delivery in world.github.deliveries():
        world.github.redeliver(delivery.guid)
    world.step_until_quiet()

    assert world.github.snapshot() == before
    assert created(world) == written
    assert_repaired(world, number)


def test_github_is_away_for_a_while_and_nothing_is_lost_GH_12(a_deadly_world: Make) -> None:
    """Every answer is an error until the outage ends; the work waits and goes on by itself."""
    world = a_deadly_world()
    number = a_red_pull(world)
    outage = world.github.outage()
    for _ in range(12):
        world.step()
        world.pass_time(1)
    assert outage.struck > 0
    world.github.lift(outage)

    world.step_until_quiet()

    assert_repaired(world, number)
    assert left_over(world.services) == {}


class Stricter(CheckRunEvent):
    """The model of a version that asks for what GitHub does not send any more."""

    shoe_size: int


def test_what_this_version_cannot_read_is_kept_seen_and_read_after_an_upgrade_IT_4(
    a_deadly_world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_deadly_world()
    with monkeypatch.context() as old_version:
        old_version.setitem(MODELS, "check_run", Stricter)
        number = a_red_pull(world)
        world.step_until_quiet()
    assert world.github.our_checks(f"{REPO}#{number}") == [], "nothing was understood"

    monkeypatch.setenv("REMEDY_DATA", str(world.settings.data))
    monkeypatch.setenv("DATABASE_URL", world.settings.database_url)
    seen = json.loads(said("deliveries", "--unread", "--json")[1])
    assert {(one["event"], one["action"]) for one in seen["deliveries"]} >= {("check_run", "completed")}
    assert all("shoe_size" in one["error"] for one in seen["deliveries"])
    assert world.web.get("/readyz").json()["post"]["unread_deliveries"] == seen["unread_deliveries"] > 0

    assert said("deliveries", "retry", "--unread")[0] == 0
    world.step_until_quiet()
    assert_repaired(world, number)
    assert json.loads(said("deliveries", "--json")[1])["failed_deliveries"] == 0
