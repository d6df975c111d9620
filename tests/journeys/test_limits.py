"""What stops a run, and that people read why (domain.md, section 6)."""

from collections.abc import Callable

import pytest

from app.runs.model import Role
from tests.demo import shop
from tests.journeys import quick
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World, fix

NARROW = f"""{quick.POLICY}\
runner:
  agent:
    allow: {{agent_tools: {{fetch: deny, execute: deny}}}}
limits: {{rounds: 1, agent_turn_s: 77}}
protected: [docs/]
"""
ONE_COMMIT = f"{quick.POLICY}publish: commit\nlimits: {{bot_commits: 1}}\n"
NEVER_GOOD = {"agent": [fix(shop.FIRST_TRY), fix(shop.SECOND_TRY)], "review": ["correct"]}


@pytest.mark.long
def test_the_policy_of_the_base_lowers_limits_and_rights_C34_D16_PL_11(a_world: Callable[..., World]) -> None:
    world = a_world(NEVER_GOOD)
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": NARROW})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "correction_limit"), run
    work = [turn for turn in world.turns_of(number) if turn.role is Role.AGENT]
    assert len(work) == 2, "one correction instead of three"
    assert work[0].grant_json["agent_tools"]["execute"] == "deny"
    assert work[0].grant_json["agent_tools"]["edit"] == "allow"
    assert work[0].deadline_at - work[0].started_at == 77_000
    assert "docs/" in work[0].prompt
    judged = next(turn for turn in world.turns_of(number) if turn.role is Role.SUPERVISOR)
    assert judged.grant_json["agent_tools"]["execute"] == "allow", "what was said of the agent narrows nobody else"


def test_our_own_commits_are_not_repaired_for_ever_IT_32_PB_11(a_world: Callable[..., World]) -> None:
    world = a_world({"agent": [fix(shop.ONLY_HERE)]})
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": ONE_COMMIT})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.result.value) == ("COMPLETED", "not_fixed"), run
    assert world.outcome_of(number) == "limit_reached"
    assert world.scope(number).bot_commits == 1
    assert check_of(world, number).conclusion == "neutral"
    assert "the limit is 1" in bodies(world, number)[0]
