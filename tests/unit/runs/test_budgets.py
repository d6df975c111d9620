"""A run at its budget: no turn is begun, the reason stays, and a maintainer may add one more (T45, W65, W71)."""

from dataclasses import replace

import pytest

from app.runs.entering import is_spent
from app.runs.facts import Command, Fact, ProofDone, Rules, TurnDone, TurnFailed, Verdict
from app.runs.machine import advance
from app.runs.model import BlockCause, Decision, ProofOutcome, Run, Stage, Status
from app.runs.rules_commands import AT_CEILING
from tests.unit.runs.test_machine import a_run, blocked

USED_UP = Rules(budgets_needed=2, budgets_allowed=3, budget_note="money: 3.00 of 3.00 USD", self_repair=True)
CORRECT = TurnDone("item", Verdict(Decision.CORRECT, "why"))
STOPS: dict[str, tuple[Run, Fact, Stage]] = {
    "after a proof that does not hold": (
        a_run(Stage.PROVE),
        ProofDone("item", ProofOutcome.FAILED, "rows"),
        Stage.AGENT,
    ),
    "after a correction": (a_run(Stage.SUPERVISOR), CORRECT, Stage.AGENT),
    "before a review": (a_run(Stage.PROVE), ProofDone("item", ProofOutcome.PASSED), Stage.SUPERVISOR),
    "before the plan is read again": (a_run(Stage.PLAN_REVIEW), CORRECT, Stage.PLAN_REVIEW),
    "before the next step": (
        a_run(Stage.SUPERVISOR, steps=2),
        TurnDone("item", Verdict(Decision.APPROVE, "good")),
        Stage.AGENT,
    ),
    "before a verdict is asked for again": (a_run(Stage.SUPERVISOR), TurnDone("item"), Stage.SUPERVISOR),
    "instead of a restart": (a_run(), TurnFailed("item", "interrupted"), Stage.AGENT),
    "instead of a wait": (a_run(), TurnFailed("item", "provider.rate_limited", may_wait=True), Stage.AGENT),
    "when its time was what ended a turn": (a_run(), TurnFailed("item", "runner.timeout"), Stage.AGENT),
}


@pytest.mark.parametrize("case", STOPS.values(), ids=STOPS)
def test_no_turn_is_begun_beyond_the_budget_T45_UX_R8(case: tuple[Run, Fact, Stage]) -> None:
    run, fact, stage = case
    step = advance(run, fact, USED_UP)

    assert (step.run.status, step.run.blocked_stage, step.run.cause) == (Status.BLOCKED, stage, BlockCause.BUDGET_USED)
    assert step.run.error == "money: 3.00 of 3.00 USD"
    assert "budget.exhausted" in {event.kind for event in step.events}
    assert step.order is None and not step.repair and step.repair_not_asked
    assert [s.attempts for s in step.run.steps] == [s.attempts for s in run.steps], "nothing was begun"


def test_a_block_for_another_reason_keeps_it_and_asks_no_self_repair() -> None:
    step = advance(a_run(Stage.SUPERVISOR), TurnDone("item", Verdict(Decision.BLOCK, "no")), USED_UP)
    assert (step.run.cause, step.repair, step.repair_not_asked) == (BlockCause.VERDICT, False, True)


def test_resume_adds_one_budget_and_goes_on_W65() -> None:
    stopped = blocked(Stage.AGENT, BlockCause.BUDGET_USED)
    step = advance(stopped, Command("resume", "mo"), USED_UP)

    assert (step.run.status, step.run.stage, step.run.budgets) == (Status.RUNNING, Stage.AGENT, 2)
    assert {"what": "budget", "by": "mo"} in [dict(event.details) for event in step.events]
    assert not is_spent(step.run, USED_UP)


def test_a_turn_that_took_several_budgets_is_met_by_as_many() -> None:
    stopped = blocked(Stage.AGENT, BlockCause.BUDGET_USED)
    step = advance(stopped, Command("resume", "mo"), replace(USED_UP, budgets_needed=3))
    assert (step.run.stage, step.run.budgets) == (Stage.AGENT, 3)


def test_above_the_ceiling_of_the_operator_nothing_changes_W65() -> None:
    stopped = blocked(Stage.AGENT, BlockCause.BUDGET_USED, budgets=3)
    step = advance(stopped, Command("resume", "mo"), replace(USED_UP, budgets_needed=4))
    assert (step.refused, step.run) == (AT_CEILING, stopped)


def test_a_resume_for_another_cause_adds_none() -> None:
    step = advance(blocked(Stage.AGENT, BlockCause.VERDICT), Command("resume", "mo"), USED_UP)
    assert (step.run.cause, step.run.budgets) == (BlockCause.BUDGET_USED, 1)


def test_the_last_look_is_ordered_even_so_T49() -> None:
    """The fix is out; `jobs/turn` then says the last words itself."""
    step = advance(a_run(Stage.FINAL_REVIEW), TurnFailed("item", "budget.used", fallback="our words"), USED_UP)
    assert (step.run.status, step.run.final_text) == (Status.COMPLETED, "our words")
