"""Real agents from a red check to a published fix, on the local GitHub and without a way to the internet."""

from collections.abc import Callable

import pytest

from tests.agents.model.script import Script
from tests.agents.real.conftest import KEY, Bench
from tests.agents.real.install import PROGRAMS
from tests.demo import shop
from tests.journeys.outcome import assert_repaired
from tests.journeys.steps import a_red_pull

pytestmark = [pytest.mark.agents, pytest.mark.timeout(900)]

[(PATH, OLD, NEW)] = shop.SECOND_TRY
CHECK = "python3 -c 'from listing.pages import page_count; print(page_count(20, 10))'"
REPORT = "Count a full last page once\nCause: the division.\nChange: it rounds up.\nChecked: ran it.\nOpen: none"
FIX: Script = [
    {"text": "I look at the file first.", "ops": [["read", {"path": PATH}]]},
    {"ops": [["edit", {"path": PATH, "old": OLD, "new": NEW}]]},
    {"ops": [["bash", {"command": CHECK}]]},
    {"hand_in": {"summary": REPORT}, "usage": [2000, 100, 500]},
]


def told(place: Bench, number: int) -> str:
    """What to read when a thread did not end well."""
    turns = [(turn.role.value, turn.status.value, turn.error) for turn in place.world.turns_of(number)]
    asked = [(seen.path, seen.place and (seen.place.script, seen.place.number)) for seen in place.model.seen]
    return f"turns: {turns}\nasked: {asked}\nunknown: {place.model.unknown}"


@pytest.mark.parametrize("agent", PROGRAMS)
def test_a_red_check_becomes_a_published_fix(bench: Callable[..., Bench], agent: str) -> None:
    """The whole thread with the same agent in every role: it edits, runs, hands in; it reviews; the fix is there."""
    place = bench(agent, {"agent": FIX})
    number = a_red_pull(place.world)

    place.world.step_until_quiet()

    print(told(place, number))
    assert_repaired(place.world, number)
    assert {seen.place.script for seen in place.model.seen if seen.place} >= {"agent", "review"}
    assert place.model.unknown == []


@pytest.mark.parametrize("agent", PROGRAMS)
def test_the_providers_key_reaches_the_provider_and_nobody_else(bench: Callable[..., Bench], agent: str) -> None:
    """RN-42, B11, K14: what the agent's own shell sees is a token of the turn."""
    look = {"ops": [["bash", {"command": "env; cat ~/.codex/* ~/.gemini/* ~/.config/opencode/* 2>/dev/null"}]]}
    place = bench(agent, {"agent": [look, *FIX]})
    number = a_red_pull(place.world)
    item = place.world.step_to("prove")
    assert item and place.world.run_of(number) is not None
    assert all(KEY in seen.credential for seen in place.model.seen)
    assert not any(KEY in str(seen.body) for seen in place.model.seen), "the output of `env` went to the model"
