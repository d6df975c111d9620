"""Random walks through the machine: whatever happens, the invariants of domain.md 4.4 hold, an end is reachable."""

import random
from dataclasses import dataclass, replace

import pytest

from app.runs.facts import (
    CatchUp,
    CiEnded,
    Command,
    Ended,
    EngineError,
    Fact,
    HeadMoved,
    ProofDone,
    ProofFailed,
    Published,
    PublishInterrupted,
    PublishRefused,
    Repaired,
    Rules,
    Start,
    Transition,
    TurnDone,
    TurnFailed,
    TurnOrder,
    Verdict,
)
from app.runs.machine import advance
from app.runs.model import (
    BlockCause,
    Ci,
    Decision,
    ItemKind,
    ProofOutcome,
    Run,
    Stage,
    Status,
    Step,
    StepStatus,
)

pytestmark = pytest.mark.slow

KIND_OF_STAGE = {
    Stage.PROVE: ItemKind.PROOF,
    Stage.PUBLISH: ItemKind.PUBLICATION,
    Stage.AWAIT_CI: ItemKind.PUBLICATION,
}
ENDED = (Status.COMPLETED, Status.CANCELLED)
CODES = ("interrupted", "runner.session_lost", "runner.crashed", "runner.timeout", "result.validation")


@dataclass
class Walk:
    """One random walk: a run, the rules it lives under, and what its last proof said."""

    random: random.Random
    rules: Rules
    run: Run
    proven: bool = False

    def fact(self) -> Fact:
        """Something that may really happen now; sometimes late, sometimes a person, sometimes a fault of ours."""
        item = self.run.active_id or "none"
        dice = self.random.random()
        if self.random.random() < 0.1:
            self.rules = replace(self.rules, budgets_needed=self.random.choice([1, 1, 2, 3, 4]))
        if dice < 0.05:
            return TurnDone("R-0", text="late")
        if dice < 0.13:
            return self._person()
        if dice < 0.15:
            return EngineError("boom")
        if dice < 0.20:
            return HeadMoved("b" * 40, applies=self.random.random() < 0.5)
        if self.run.status is Status.BLOCKED and self.random.random() < 0.4:
            decision = self.random.choice(["fixed", "needs_user", "failed"])
            return self.random.choice(
                [CatchUp(Stage.AGENT), Repaired("x", decision, may_reask=self.random.random() < 0.5)]  # type: ignore[arg-type]
            )
        if self.run.status is Status.BLOCKED:
            return Command("resume", "dana", self.random.choice(["", "a hint"]))
        return self._result(item)

    def _person(self) -> Fact:
        plan = {step.step_id: "new" for step in self.run.steps} if self.random.random() < 0.3 else {}
        verb = self.random.choice(["block", "resume", "retry", "resume"])
        if self.random.random() < 0.05:
            return Ended("closed")
        return Command(verb, "dana", plan=plan)  # type: ignore[arg-type]

    def _result(self, item: str) -> Fact:
        stage = self.run.stage
        if stage is Stage.PROVE:
            whole = self.run.current is None
            if self.random.random() < 0.1:
                return ProofFailed(item, self.random.choice(["interrupted", "fault"]), whole=whole)
            outcome = self.random.choice([ProofOutcome.PASSED] * 4 + list(ProofOutcome))
            return ProofDone(item, outcome, "rows", self.random.random() < 0.1, whole)
        if stage is Stage.PUBLISH:
            return self.random.choice(
                [
                    Published(item),
                    Published(item, handed_over=True),
                    PublishRefused(item, BlockCause.HUMAN_PUSHED),
                    PublishRefused(item, BlockCause.TREE_MISMATCH),
                    PublishInterrupted(item, "502", self.random.random() < 0.8),
                ]
            )
        if stage is Stage.AWAIT_CI:
            return CiEnded(item, self.random.choice(list(Ci)))
        if self.random.random() < 0.15:
            return TurnFailed(item, self.random.choice(CODES), fallback="summary")
        verdict = Verdict(self.random.choice([Decision.APPROVE] * 3 + list(Decision)), "why")
        return TurnDone(item, None if self.random.random() < 0.1 else verdict, "text", reask=self.random.random() < 0.3)


def check(before: Run, fact: Fact, step: Transition, rules: Rules) -> None:
    """Every invariant that one transition can break; the id stands in each message."""
    run = step.run
    if step.refused:
        assert run == before, "a refusal changes nothing"
        return
    assert run.version == before.version + 1 and step.events, "IV-15"
    assert (run.status is Status.RUNNING) == (run.active_id is not None), "IV-1"
    if run.status is Status.RUNNING:
        assert run.active_kind is KIND_OF_STAGE.get(run.stage, ItemKind.TURN), "IV-1"
    assert (run.stage is Stage.IDLE) == (run.status is not Status.RUNNING), "IV-2"
    assert (run.status is Status.BLOCKED) == (run.blocked_stage is not None and run.cause is not None), "IV-8"
    for old, new in zip(before.steps, run.steps, strict=True):
        assert new.attempts >= old.attempts, "IV-5"
        assert old.status is not StepStatus.APPROVED or new.status is StepStatus.APPROVED, "IV-6"
    _check_order_of_steps(run)
    if run.stage in (Stage.PUBLISH, Stage.AWAIT_CI, Stage.FINAL_REVIEW):
        assert all(s.status is StepStatus.APPROVED for s in run.steps), "IV-10"
    if run.stage is Stage.FINAL_REVIEW:
        assert run.ci is not None, "IV-11"
    if run.status is Status.COMPLETED:
        assert run.result is not None and run.final_text, "IV-12"
    if run.status is Status.CANCELLED:
        assert run.cancel_reason, "IV-12"
    if isinstance(fact, ProofDone) and fact.outcome is ProofOutcome.FAILED:
        assert run.stage is not Stage.SUPERVISOR, "IV-13"
    assert run.round <= rules.rounds and run.restarts <= rules.restarts and run.head_moves <= rules.head_moves, "IV-17"
    assert run.self_repairs <= rules.self_repairs, "IV-17"
    assert not step.repair or run.status is Status.BLOCKED, "IV-3"
    assert before.budgets <= run.budgets <= max(rules.budgets_allowed, before.budgets), "within the operator's ceiling"
    spent = run.budgets < rules.budgets_needed and run.stage not in (Stage.FINAL_REVIEW, Stage.IDLE)
    assert not (spent and isinstance(step.order, TurnOrder)), "T45"
    if run.round > before.round:
        assert isinstance(fact, TurnDone | ProofDone), "IV-18"


def _check_order_of_steps(run: Run) -> None:
    if run.current is None:
        return
    assert all(s.status is StepStatus.APPROVED for s in run.steps[: run.current]), "IV-7"
    assert all(s.status is StepStatus.PENDING for s in run.steps[run.current + 1 :]), "IV-7"


def a_walk(seed: int) -> Walk:
    chance = random.Random(seed)
    steps = tuple(
        Step(f"s{n + 1}", risk=chance.choice(["code", "code", "production"])) for n in range(chance.randint(1, 4))
    )
    rules = Rules(
        approval=chance.choice(["none", "none", "plan", "publish", "both"]), self_repair=chance.random() < 0.5
    )
    return Walk(chance, rules, Run("R", Status.RUNNING, Stage.PLAN_REVIEW, steps))


def go(walk: Walk, fact: Fact) -> None:
    step = advance(walk.run, fact, walk.rules)
    check(walk.run, fact, step, walk.rules)
    walk.rules = replace(walk.rules, approved=walk.rules.approved | set(step.approves))
    walk.run = step.run


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(n, marks=pytest.mark.long) for n in range(4, 20))])
def test_random_walks_keep_every_invariant_and_can_end_IV_19(block: int) -> None:
    for seed in range(block * 500, block * 500 + 500):
        walk = a_walk(seed)
        go(walk, Start("x"))
        for _ in range(60):
            go(walk, walk.fact())
        _bring_to_an_end(walk)
        assert walk.run.status in ENDED, "IV-19"


def _bring_to_an_end(walk: Walk) -> None:
    """Good answers only, and money for them; no run needs more than a few dozen."""
    walk.rules = replace(walk.rules, budgets_needed=1)
    for _ in range(200):
        run, item = walk.run, walk.run.active_id or "none"
        if run.status in ENDED:
            return
        if run.status is Status.BLOCKED:
            go(walk, Command("resume", "dana"))
        elif run.stage is Stage.PROVE:
            go(walk, ProofDone(item, ProofOutcome.PASSED, whole=run.current is None))
        elif run.stage is Stage.PUBLISH:
            go(walk, Published(item))
        elif run.stage is Stage.AWAIT_CI:
            go(walk, CiEnded(item, Ci.GREEN))
        else:
            go(walk, TurnDone(item, Verdict(Decision.APPROVE, "good"), "text"))
