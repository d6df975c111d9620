"""A run that stopped is looked at by a session of its own, which may clarify its plan, no more (domain.md, 10)."""

from collections.abc import Callable
from dataclasses import replace

from app.ledger import events, repairs
from app.ledger.audit import audit
from app.ledger.rows import Row
from app.runs.model import Role
from app.services import use
from jobs.sweep import sweep
from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World, fix

FIXED = {"do": "fixed", "addendum": "An empty list has one page. All else stays."}
BLOCKED_ONCE = {"agent": [fix(shop.SECOND_TRY)], "review": ["block", "approve"], "self_repair": [FIXED]}
UNREADABLE = {"plan": ["block"], "self_repair": ["prose"], "reask": ["prose"]}


def happened(world: World, number: int) -> list[str]:
    run = world.run_of(number)
    assert run is not None
    with world.services.read() as conn:
        return [event.kind.value for event in events.of_run(conn, run.id)]


def repairs_of(world: World, number: int) -> list[Row]:
    run = world.run_of(number)
    assert run is not None
    with world.services.read() as conn:
        return list(repairs.of_run(conn, run.id))


def repair_turn(world: World) -> str:
    """Run until a self-repair is to be asked; the id of its turn."""
    while True:
        turn_id = world.step_to("turn")
        with world.services.read() as conn:
            found = repairs.of_turn(conn, turn_id)
        if found is not None:
            return turn_id
        world.run("turn", turn_id)


def test_a_clarified_plan_goes_on_and_people_see_what_was_added_C14_C16_SR_3_SR_4_SR_8(
    a_world: Callable[..., World],
) -> None:
    world = a_world(BLOCKED_ONCE, self_repair=True)
    number = a_red_pull(world)

    turn_id = repair_turn(world)
    world.step("deliver")
    assert check_of(world, number).status == "in_progress", "PJ-2"
    world.run("turn", turn_id)
    run = world.run_of(number)
    assert run is not None and world.run("advance", run.id) == "self_repair_processed", "LE-8"
    while world.step("deliver"):
        pass
    assert FIXED["addendum"] in bodies(world, number)[0]
    assert "Plan repaired" in bodies(world, number)[0]
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    turns = world.turns_of(number)
    asked = next(turn for turn in turns if turn.role is Role.SELF_REPAIR)
    work = [turn for turn in turns if turn.role is Role.AGENT]
    assert "Never bypass a guard" in asked.prompt and "listing/pages.py" not in asked.prompt
    assert asked.grant_json["host_tools"] == ["submit_result"]
    assert asked.grant_json["agent_tools"]["edit"] == "deny"
    assert len({turn.session_id for turn in work}) == 1 and asked.session_id not in {t.session_id for t in work}
    assert len(work) == 2 and FIXED["addendum"] in work[1].prompt and FIXED["addendum"] not in work[0].prompt
    seen = happened(world, number)
    assert seen.index("self_repair.started") < seen.index("self_repair.resumed")
    with world.services.read() as conn:
        checked = audit(conn, world.services.store, run.id)
    assert (checked.broken, checked.verdicts) == ("", 3), "EV-2"


def test_an_unreadable_answer_gets_one_more_turn_and_a_person_decides_then_SR_10_SR_11(
    a_world: Callable[..., World],
) -> None:
    world = a_world(UNREADABLE, self_repair=True)
    number = a_red_pull(world)
    world.step_until_quiet()

    assert [row.status.value for row in repairs_of(world, number)] == ["FAILED"]
    assert [turn.role for turn in world.turns_of(number)].count(Role.SELF_REPAIR) == 2
    assert "self_repair.failed" in happened(world, number)
    assert "Plan repair failed" in bodies(world, number)[0]
    assert check_of(world, number).conclusion == "action_required"

    world.scenario({"plan": ["block"], "self_repair": ["needs_user"]})
    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    turn_id = repair_turn(world)
    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block later")
    for _ in range(4):
        world.step("intake")
    world.run("turn", turn_id)
    world.step_until_quiet()

    assert [row.status.value for row in repairs_of(world, number)] == ["SUPERSEDED", "SUPERSEDED"]
    assert happened(world, number).count("self_repair.owner_resolved") == 1


def test_switched_on_later_the_sweep_asks_for_old_blocks_T23_C24_CR_18(a_world: Callable[..., World]) -> None:
    world = a_world({"plan": ["block"], "self_repair": ["needs_user"]}, self_repair=False)
    number = a_red_pull(world)
    world.step_until_quiet()
    assert repairs_of(world, number) == [], "SR-1"
    run = world.run_of(number)
    assert run is not None

    settings = world.settings.model_copy(update={"self_repair": True})
    world.services = replace(world.services, settings=settings)
    use(world.services)
    assert ("advance", run.id) in sweep(world.services)
    assert world.run("advance", run.id) == "self_repair_recovered"
    world.step_until_quiet()

    assert [row.status.value for row in repairs_of(world, number)] == ["NEEDS_USER"]
    assert ("advance", run.id) not in sweep(world.services)
    assert "self_repair.catchup_started" in happened(world, number)
