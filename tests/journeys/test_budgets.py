"""A run at its budget says so, and a maintainer's resume adds one more (domain.md, 6; T45, T49; issue 4)."""

from collections.abc import Callable

from app.ledger import events, turns
from app.ledger.rows import Row
from tests.journeys import quick
from tests.journeys.steps import a_red_pull, bodies, check_of, reactions
from tests.journeys.world import AUTHOR, REPO, World

TOKENS = f"{quick.POLICY}limits: {{run_tokens: 200, budgets: 2}}\n"
"""A turn of the agent for tests takes 120."""
SECONDS = f"{quick.POLICY}limits: {{run_s: 1, budgets: 1}}\n"


def happened(world: World, run: Row) -> list[str]:
    with world.services.read() as conn:
        return [event.kind.value for event in events.of_run(conn, run.id)]


def test_used_up_tokens_stop_a_run_and_resume_adds_a_budget_T45_T49_W65(a_world: Callable[..., World]) -> None:
    world = a_world()
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": TOKENS})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "budget_used"), run
    assert [turn.purpose.value for turn in world.turns_of(number)] == ["plan"], "the agent was not begun"
    said = bodies(world, number)[0]
    assert "stopped at its spending limit" in said and "one turn more may take 120 tokens" in said
    assert "`/remedy resume` adds one more budget of 200 tokens" in said
    check = check_of(world, number)
    assert (check.conclusion, check.title) == ("neutral", "Spending limit reached: /remedy resume")
    assert "120 of 200 tokens" in check.summary
    seen = happened(world, run)
    assert "budget.exhausted" in seen and "budget.reserved" in seen

    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and (run.status.value, run.result.value, run.budgets) == ("COMPLETED", "fixed", 2), run
    assert "approval.recorded" in happened(world, run)
    told = world.turns_of(number)
    assert told[-1].error_code == "budget.used", "the last words are Remedy's own: T49"
    assert run.final_text and sum(turn.cost_json["input"] + turn.cost_json["output"] for turn in told) == 360
    with world.services.read() as conn:
        verdicts = turns.verdicts_of_run(conn, run.id)
    assert {verdict.prompt_version.partition("@")[0] for verdict in verdicts} == {"plan_review", "review"}
    assert all("qa" in verdict.model and verdict.rules_version.startswith("verdicts@") for verdict in verdicts)


def test_used_up_time_stops_a_run_and_the_ceiling_holds_W65_W71(a_world: Callable[..., World]) -> None:
    world = a_world({"plan": [[{"do": "sleep", "s": 2}, "approve"]]})
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": SECONDS})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "budget_used"), run
    assert "once the operator allows this run more budget" in bodies(world, number)[0]
    asked = world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    world.step_until_quiet()
    again = world.run_of(number)
    assert again is not None and (again.version, again.budgets) == (run.version, 1), "nothing changed"
    assert reactions(asked) == ["-1"]
    assert "The operator allows no more budget for this run." in bodies(world, number)[-1]
