"""The machine against a second, simpler one: whatever happens in whatever order, both agree (domain.md, 20).

The model knows no rules of its own beyond a few sentences: where a run is, how often it was sent back, what is done.
"""

from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.runs.facts import (
    CiEnded,
    Command,
    Ended,
    EngineError,
    Fact,
    ProofDone,
    ProofFailed,
    Published,
    PublishRefused,
    Repaired,
    Rules,
    Start,
    Transition,
    TurnDone,
    TurnFailed,
    Verdict,
)
from app.runs.machine import advance
from app.runs.model import BlockCause, Ci, Decision, ProofOutcome, Run, Stage, Status, Step, StepStatus

RULES = Rules(self_repair=True)
ROUNDS, RESTARTS, REPAIRS = 3, 2, 2
JUDGED = (Stage.PLAN_REVIEW, Stage.SUPERVISOR)
WITH_TURN = (*JUDGED, Stage.AGENT)


class TwoMachines(RuleBasedStateMachine):
    """`place` is the stage, or the word BLOCKED or OVER; `back` is where a blocked run goes on."""

    @initialize(steps=st.integers(1, 3))
    def start(self, steps: int) -> None:
        self.run = Run("R", Status.RUNNING, Stage.PLAN_REVIEW, tuple(Step(f"s{n + 1}") for n in range(steps)))
        self.place, self.back = "PLAN_REVIEW", ""
        self.sent_back = self.lost = self.repairs = 0
        self.repairing = False
        self.done, self.steps, self.attempts = 0, steps, 0
        self.limits = RULES
        self.go(Start("x"))

    # What happens

    @precondition(lambda self: self.place in (*WITH_TURN, Stage.PROVE))
    @rule(how=st.integers(0, 4))
    def spent(self, how: int) -> None:
        """Now and then the budget is used up; whatever ends then, no turn is begun, and a resume adds one more."""
        if how or self.limits.budgets_needed == 3:
            return
        back = self.place
        if back == Stage.PROVE:
            back, self.lost = "SUPERVISOR", 0
        self.blocks(back, helps=False)
        self.limits = replace(self.limits, budgets_needed=self.limits.budgets_needed + 1)
        lost = (
            ProofDone(self.item, ProofOutcome.PASSED)
            if back == "SUPERVISOR" and self.run.stage is Stage.PROVE
            else None
        )
        self.go(lost or TurnFailed(self.item, "interrupted"))

    @precondition(lambda self: self.place in JUDGED)
    @rule(decision=st.sampled_from(list(Decision)))
    def judged(self, decision: Decision) -> None:
        plan = self.place == Stage.PLAN_REVIEW
        if decision is Decision.BLOCK or (decision is Decision.CORRECT and self.sent_back == ROUNDS):
            self.blocks("PLAN_REVIEW" if plan else "AGENT")
        elif decision is Decision.CORRECT:
            self.sent_back, self.lost = self.sent_back + 1, 0
            if not plan:
                self.works()
        else:
            self.sent_back = self.lost = 0
            self.done += not plan
            self.works(fresh=True) if self.done < self.steps else self.goes("PUBLISH")
        self.go(TurnDone(self.item, Verdict(decision, "why")))

    @precondition(lambda self: self.place == Stage.AGENT)
    @rule()
    def worked(self) -> None:
        self.goes("PROVE")
        self.go(TurnDone(self.item, text="done"))

    @precondition(lambda self: self.place == Stage.PROVE)
    @rule(outcome=st.sampled_from(list(ProofOutcome)))
    def proved(self, outcome: ProofOutcome) -> None:
        if outcome is ProofOutcome.PASSED:
            self.lost = 0
            self.goes("SUPERVISOR")
        elif outcome is ProofOutcome.FAILED and self.sent_back < ROUNDS:
            self.sent_back, self.lost = self.sent_back + 1, 0
            self.works()
        elif outcome is ProofOutcome.FAILED:
            self.blocks("AGENT")
        else:
            back = {"needs_human": "SUPERVISOR", "forbidden": "AGENT", "not_run": "PROVE"}[outcome.value]
            self.blocks(back, helps=False)
        self.go(ProofDone(self.item, outcome, "rows"))

    @precondition(lambda self: self.place in WITH_TURN)
    @rule()
    def turn_lost(self) -> None:
        if self.lost < RESTARTS:
            self.lost += 1
        else:
            self.blocks(self.place)
        self.go(TurnFailed(self.item, "interrupted"))

    @precondition(lambda self: self.place == Stage.PROVE)
    @rule()
    def proof_lost(self) -> None:
        if self.lost < RESTARTS:
            self.lost += 1
        else:
            self.blocks("PROVE")
        self.go(ProofFailed(self.item, "interrupted"))

    @precondition(lambda self: self.place == Stage.PUBLISH)
    @rule(well=st.booleans())
    def published(self, well: bool) -> None:
        self.goes("AWAIT_CI") if well else self.blocks("PUBLISH", helps=False)
        self.go(Published(self.item) if well else PublishRefused(self.item, BlockCause.NO_PERMISSION, "no"))

    @precondition(lambda self: self.place == Stage.AWAIT_CI)
    @rule(ci=st.sampled_from([Ci.GREEN, Ci.RED_OTHER, Ci.NONE]))
    def ci_ended(self, ci: Ci) -> None:
        self.goes("FINAL_REVIEW")
        self.go(CiEnded(self.item, ci))

    @precondition(lambda self: self.place == Stage.FINAL_REVIEW)
    @rule()
    def last_words(self) -> None:
        self.goes("OVER")
        self.go(TurnDone(self.item, text="good"))

    @precondition(lambda self: self.place not in ("BLOCKED", "OVER"))
    @rule(fault=st.booleans())
    def stopped(self, fault: bool) -> None:
        self.blocks(self.place, helps=fault)
        self.go(EngineError("KeyError: x") if fault else Command("block", "dana"))

    @precondition(lambda self: self.place == "BLOCKED")
    @rule()
    def resumed(self) -> None:
        self.sent_back = self.lost = 0
        self.goes_on()
        self.go(Command("resume", "dana"))

    @precondition(lambda self: self.place == "BLOCKED" and self.repairing)
    @rule(fixed=st.booleans())
    def repaired(self, fixed: bool) -> None:
        self.repairing = False
        if fixed:
            self.lost = 0
            self.goes_on()
        self.go(Repaired("other", "fixed" if fixed else "needs_user"))

    @rule()
    def late(self) -> None:
        before = self.run
        assert advance(before, TurnDone("somebody else's", Verdict(Decision.APPROVE, "")), self.limits).refused, (
            "T47, T25"
        )

    @precondition(lambda self: self.place not in ("OVER", Stage.AWAIT_CI, Stage.FINAL_REVIEW))
    @rule(closes=st.integers(0, 9))
    def closed(self, closes: int) -> None:
        if closes:
            return
        self.goes("OVER")
        self.go(Ended("closed"))

    # The model

    def goes(self, place: str) -> None:
        self.place, self.repairing = place, False

    def works(self, *, fresh: bool = False) -> None:
        self.goes("AGENT")
        self.attempts = 1 if fresh else self.attempts + 1
        self.lost = 0

    def blocks(self, back: str, *, helps: bool = True) -> None:
        self.place, self.back = "BLOCKED", back
        self.repairing = helps and self.repairs < REPAIRS
        self.repairs += self.repairing

    def goes_on(self) -> None:
        """A wait for CI is entered again through the publication, which searches the remote first."""
        if self.back == "AGENT":
            self.works()
        else:
            self.goes("PUBLISH" if self.back == "AWAIT_CI" else self.back)

    # Both

    @property
    def item(self) -> str:
        return str(self.run.active_id)

    def go(self, fact: Fact) -> None:
        step: Transition = advance(self.run, fact, self.limits)
        assert not step.refused, step.refused
        assert step.run.version == self.run.version + 1, "IV-15"
        assert step.repair == (self.place == "BLOCKED" and self.repairing), "5.3"
        self.run = step.run

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "run") or self.run.version == 0:
            return
        run = self.run
        seen = {Status.BLOCKED: "BLOCKED", Status.COMPLETED: "OVER", Status.CANCELLED: "OVER"}
        assert seen.get(run.status, run.stage.value) == self.place
        assert (run.round, run.restarts, run.self_repairs) == (self.sent_back, self.lost, self.repairs), "IV-17, IV-18"
        assert sum(step.status is StepStatus.APPROVED for step in run.steps) == self.done, "IV-6"
        if run.current is not None:
            assert run.steps[run.current].attempts == self.attempts, "IV-5"
        if self.place == "BLOCKED":
            assert run.blocked_stage is not None and run.blocked_stage.value == self.back, "BS-1"


TestTwoMachines = TwoMachines.TestCase
TestTwoMachines.settings = settings(
    max_examples=120, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]
)
