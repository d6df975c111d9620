"""Views of all states, as the mock-ups show them; each test changes only what it is about."""

from dataclasses import replace

from app.runs.model import BlockCause, Cause, DiagnosisState, Outcome, Result, Stage, Status
from app.runs.projection import State
from app.runs.view import (
    AskedLog,
    ConfigMistake,
    Evidence,
    FixView,
    FoundView,
    GridRow,
    GroupView,
    LimitRow,
    Press,
    ProofView,
    PublicationView,
    RoundView,
    RunView,
    ScopeView,
    Unasked,
)

HEAD = "4be1d074c2a9f3e8d5b60718293a4b5c6d7e8f90"
BASE = "c01dfee1b2a394857606f1e2d3c4b5a697887960"
FIXED = "9d20c11aa0b1c2d3e4f5061728394a5b6c7d8e9f"
NEWER = "b7718aa0b1c2d3e4f5061728394a5b6c7d8e9f00"
AT_0914 = 1_796_030_040_000
MINUTE = 60_000

DIFF = """\
--- a/billing/money.py
+++ b/billing/money.py
@@ -18,3 +18,3 @@ def total(self) -> Decimal:
-    return sum(round_line(x) for x in self.lines)
+    return quantize(sum(self.lines), self.currency, ROUND_HALF_EVEN)
--- a/tests/test_invoice.py
+++ b/tests/test_invoice.py
@@ -44,0 +45,4 @@
+def test_total_keeps_currency_precision():
+    inv = Invoice(lines=[Decimal("0.4")] * 3, currency="JPY")
+
+    assert inv.total() == Decimal("1")
"""
LOG = """\
    def test_total_rounds_half_even(currency):
        inv = Invoice(lines=[Decimal("0.125")] * 3, currency=currency)
>       assert inv.total() == expected[currency]
E       AssertionError: assert Decimal('0.39') == Decimal('0.38')
E        +  where Decimal('0.39') = total()

tests/test_invoice.py:41: AssertionError
"""
TESTS = (
    "tests/test_invoice.py::test_total_rounds_half_even[EUR]",
    "tests/test_invoice.py::test_total_rounds_half_even[JPY]",
)
OURS = GroupView(
    group_id="g1",
    cause=Cause.THIS_CHANGE,
    tests=TESTS,
    title="test_total_rounds_half_even",
    how_we_know="passes on `main` 5 of 5, fails here 5 of 5",
    file="tests/test_invoice.py",
    line=41,
    framework="pytest",
    error_head="AssertionError: assert Decimal('0.39') == Decimal('0.38')",
    why_grouped="Both cases share one frame.",
    issue_number=321,
    diff_file="billing/money.py",
    diff_line=18,
)
FLAKY = GroupView(
    group_id="g2",
    cause=Cause.KNOWN_FLAKY,
    tests=("tests/test_webhook.py::test_retry_backoff",),
    title="test_retry_backoff",
    how_we_know="failed 4 of its last 50 runs on `main`",
    file="tests/test_webhook.py",
    issue_number=207,
)
BASE_RED = replace(
    OURS,
    cause=Cause.BASE_RED,
    tests=tuple(f"tests/test_tax.py::test_vat_table[{name}]" for name in ("DE", "FR", "NL")),
    title="test_vat_table",
    how_we_know="fails on `main` since `a91c0de`, 06:12 UTC, with the same error",
    file="tests/test_tax.py",
    issue_number=329,
)
STALE = replace(
    OURS,
    cause=Cause.STALE_BASE,
    tests=("tests/test_clock.py::test_leap_day",),
    title="test_leap_day",
    how_we_know="fails on your base `c01dfee`, passes on `main` `77f2ab9` and on your change merged with it",
    file="tests/test_clock.py",
    issue_number=None,
)
INFRA = replace(
    OURS,
    cause=Cause.INFRASTRUCTURE,
    tests=(),
    title="unit (3.12)",
    how_we_know="`No space left on device` while installing packages, before the first test",
    file=None,
    issue_number=None,
)
SET_UP = replace(
    OURS, cause=Cause.INFRASTRUCTURE, how_we_know="every test failed in set-up, before it began", issue_number=None
)
UNDECIDED = replace(OURS, cause=Cause.NOT_DECIDED, how_we_know="fails here 1 of 1, no run on `main` to compare")

EVIDENCE = Evidence("unit (3.12)", LOG, 7, 18204, "https://github.com/acme/billing/actions/runs/1/job/9")
ROUND_1 = RoundView(
    1, "Round once, after the sum", "3 of 4 trees as expected", "correct", "the JPY case still uses two decimals"
)
ROUND_2 = RoundView(2, "Use the currency's own precision", "4 of 4", "approve")
ROUND_2_BLOCKED = RoundView(
    2, "Two decimals in every currency", "3 of 4 trees as expected", "block", "the plan contradicts itself"
)
FOUND = FoundView(
    "expected value changed",
    "tests/test_invoice.py",
    41,
    "The test now wants another value for the same call.",
    ('assert inv.total() == Decimal("0.38")',),
    ('assert inv.total() == Decimal("0.39")',),
)
PROOF = ProofView(
    tests=TESTS,
    rows=(
        GridRow("base", BASE, "pass", ("pass 5 of 5", "pass 5 of 5"), True),
        GridRow("this pull request", HEAD, "fail", ("fail 5 of 5", "fail 5 of 5"), True),
        GridRow("this pull request + fix", "", "pass", ("pass 5 of 5", "pass 5 of 5"), True),
        GridRow("fix without its source part", "", "fail", ("fail 5 of 5", "fail 5 of 5"), True),
    ),
    tier="STRONG",
)
FIX = FixView(
    diff=DIFF,
    files=2,
    added=5,
    removed=1,
    what_was_wrong="billing/money.py line 18 rounded every line before adding, so three times 0.125 became 0.39 "
    "instead of 0.38.",
    approved_in_round=2,
    subject="fix(billing): round the invoice total once, after the sum",
    test_added=4,
)
RUN = RunView(
    run_id="8F3K2Q",
    status=Status.RUNNING,
    stage=Stage.AGENT,
    step_title="Repair test_total_rounds_half_even",
    step=1,
    steps=1,
    round=1,
    rounds=3,
    started_at=AT_0914 - 2 * MINUTE,
    stage_since=AT_0914 - 2 * MINUTE,
    limit_s=1200,
)
SCOPE = ScopeView(
    scope_key="pr:318",
    repository="acme/billing",
    check_key="k318",
    head_sha=HEAD,
    head_ref="half-even",
    base_ref="main",
    base_sha=BASE,
    updated_at=AT_0914,
    public_url="https://remedy.acme.example",
    web_url="https://github.com",
    state=DiagnosisState.DONE,
    outcome=Outcome.RUN_STARTED,
    jobs=("unit (3.11)", "unit (3.12)"),
    groups=(OURS, FLAKY),
    failures_total=3,
    evidence=EVIDENCE,
)


def ended(outcome: Outcome, **changes: object) -> ScopeView:
    """A diagnosis that ended without a run."""
    return replace(SCOPE, outcome=outcome, **changes)  # type: ignore[arg-type]


def running(**changes: object) -> RunView:
    return replace(RUN, **changes)  # type: ignore[arg-type]


def blocked(cause: BlockCause, stage: Stage = Stage.AGENT, **changes: object) -> RunView:
    return running(status=Status.BLOCKED, stage=Stage.IDLE, cause=cause, blocked_stage=stage, **changes)


def done(result: Result, **changes: object) -> RunView:
    return running(
        status=Status.COMPLETED, stage=Stage.IDLE, result=result, round=2, finished_at=AT_0914 + 14 * MINUTE, **changes
    )


def published(mode: str, **changes: object) -> PublicationView:
    values: dict[str, object] = {"mode": mode, "branch": "remedy/x/8F3K2Q"}
    if mode in ("stacked_pr", "commit"):
        values["pushed_sha"] = FIXED
    if mode == "stacked_pr":
        values |= {"pull_number": 322, "pull_url": "https://github.com/acme/billing/pull/322"}
    return PublicationView(**values | changes)  # type: ignore[arg-type]


PROVEN = replace(SCOPE, rounds=(ROUND_1, ROUND_2), proof=PROOF, fix=FIX)
CONTRADICTION = (
    "the step asks for two decimals in every total, and its JPY test asks for none; no patch can satisfy both"
)
ADDENDUM = (
    '"Two decimals" holds for EUR. For JPY use the precision that the currency itself declares;\n'
    "the named test test_total_rounds_half_even[JPY] decides. All other criteria stay as they are."
)
COST = "0.84 of 3.00 USD"

GREEN = replace(
    PROVEN,
    head_sha=FIXED,
    run=done(Result.FIXED, cost="0.84 USD"),
    publication=published("stacked_pr", ci="green"),
    fixed_in_head=True,
    closed_issues=(321,),
)
STATES: dict[str, tuple[State, ScopeView]] = {
    "nothing": (State.NOTHING, ended(Outcome.NOTHING_FAILED, groups=())),
    "diagnosing": (
        State.DIAGNOSING,
        replace(SCOPE, state=DiagnosisState.COLLECTING, outcome=None, groups=(), waiting_for=1),
    ),
    "measuring": (State.DIAGNOSING, replace(SCOPE, state=DiagnosisState.MEASURING, outcome=None)),
    "flaky, asked again": (State.FLAKY, ended(Outcome.NOT_OURS, groups=(FLAKY,), failures_total=1, rerun=True)),
    "flaky": (State.FLAKY, ended(Outcome.NOT_OURS, groups=(FLAKY,), failures_total=1, jobs=("unit (3.12)",))),
    "not decided": (
        State.FLAKY,
        ended(Outcome.NOT_OURS, groups=(UNDECIDED,), failures_total=2, problem="No run on the base is known."),
    ),
    "seen once of two": (
        State.FLAKY,
        ended(Outcome.NOT_OURS, groups=(OURS,), failures_total=2, sightings=(1, 2)),
    ),
    "a kind that is not repaired": (
        State.FLAKY,
        ended(
            Outcome.NOT_OURS, groups=(OURS,), failures_total=2, unasked=Unasked("repair", ("build", "lint"), ("a", "b"))
        ),
    ),
    "no cause is repaired": (
        State.FLAKY,
        ended(Outcome.NOT_OURS, groups=(OURS,), failures_total=2, unasked=Unasked("causes", (), ("a",))),
    ),
    "base red": (
        State.BASE_RED,
        ended(
            Outcome.NOT_OURS,
            groups=(BASE_RED,),
            failures_total=3,
            evidence=None,
            base_repair_number=330,
            also_red_in=6,
            base_red_since=("a91c0de0b1c2d3e4f5061728394a5b6c7d8e9f00", AT_0914),
        ),
    ),
    "base red, no repair": (State.BASE_RED, ended(Outcome.NOT_OURS, groups=(BASE_RED,), failures_total=3)),
    "infrastructure, asked again": (
        State.INFRASTRUCTURE,
        ended(Outcome.INFRASTRUCTURE, groups=(INFRA,), failures_total=0, jobs=("unit (3.12)",), rerun=True),
    ),
    "infrastructure": (
        State.INFRASTRUCTURE,
        ended(Outcome.INFRASTRUCTURE, groups=(), failures_total=0, jobs=("unit (3.12)",), problem="No space left"),
    ),
    "infrastructure, tests with it": (
        State.INFRASTRUCTURE,
        ended(Outcome.INFRASTRUCTURE, groups=(SET_UP,), failures_total=2, jobs=("unit (3.12)",)),
    ),
    "stale base": (State.STALE_BASE, ended(Outcome.STALE_BASE, groups=(STALE,), failures_total=1, evidence=None)),
    "plan review": (
        State.PLAN_REVIEW,
        replace(
            SCOPE,
            run=blocked(
                BlockCause.NEEDS_APPROVAL,
                approval="plan",
                plan="Total is rounded per line since billing/money.py line 18. Round once after the sum.",
                similar_approved=14,
                similar_total=19,
            ),
        ),
    ),
    "step needs approval": (
        State.PLAN_REVIEW,
        replace(SCOPE, run=blocked(BlockCause.NEEDS_APPROVAL, approval="step")),
    ),
    "a maintainer starts": (State.PLAN_REVIEW, ended(Outcome.NEEDS_MAINTAINER, is_fork=True)),
    "waits for a place": (State.FIXING, replace(SCOPE, state=DiagnosisState.WAITING, outcome=None, queue_before=2)),
    "plan is read": (State.FIXING, replace(SCOPE, run=running(stage=Stage.PLAN_REVIEW, round=0))),
    "fixing": (State.FIXING, replace(SCOPE, run=RUN)),
    "fixing, started by a button": (State.FIXING, replace(SCOPE, run=RUN, press=Press("dana", "fix"))),
    "fixing, a press was refused": (State.FIXING, replace(SCOPE, run=RUN, press=Press("eve", "block", denied=True))),
    "a press that could not be done": (
        State.BASE_RED,
        ended(
            Outcome.NOT_OURS,
            groups=(BASE_RED,),
            failures_total=3,
            press=Press("dana", "fix", "The pull request is not open any more."),
        ),
    ),
    "proving": (State.FIXING, replace(SCOPE, run=running(stage=Stage.PROVE))),
    "reviewing": (State.FIXING, replace(SCOPE, run=running(stage=Stage.SUPERVISOR))),
    "publishing": (State.CORRECTING, replace(PROVEN, run=running(stage=Stage.PUBLISH, round=2))),
    "correcting": (State.CORRECTING, replace(SCOPE, run=running(round=2), rounds=(ROUND_1,))),
    "correcting after the proof": (
        State.CORRECTING,
        replace(SCOPE, run=running(round=2), rounds=(replace(ROUND_1, verdict="", feedback=""),)),
    ),
    "repairing the plan": (
        State.REPAIRING_PLAN,
        replace(
            SCOPE,
            run=blocked(BlockCause.VERDICT, error=CONTRADICTION, round=2, repair_n=1, repair_state="RUNNING"),
            rounds=(ROUND_1, ROUND_2_BLOCKED),
        ),
    ),
    "plan repaired": (
        State.PLAN_REPAIRED,
        replace(
            SCOPE,
            run=running(
                error=CONTRADICTION,
                round=2,
                repair_n=1,
                repair_state="SUCCEEDED",
                repair_fresh=True,
                addendum=ADDENDUM,
            ),
            rounds=(ROUND_1, ROUND_2_BLOCKED),
        ),
    ),
    "final review": (
        State.FINAL_REVIEW,
        replace(PROVEN, run=blocked(BlockCause.NEEDS_APPROVAL, Stage.PUBLISH, approval="publish", cost=COST)),
    ),
    "stacked pull request": (
        State.STACKED_PULL,
        replace(PROVEN, run=done(Result.FIXED, cost=COST), publication=published("stacked_pr", ci="green")),
    ),
    "committed, CI runs": (
        State.PUBLISHED,
        replace(
            PROVEN, run=running(stage=Stage.AWAIT_CI, round=2), publication=published("commit"), fixed_in_head=True
        ),
    ),
    "stacked, CI runs": (
        State.PUBLISHED,
        replace(PROVEN, run=running(stage=Stage.AWAIT_CI, round=2), publication=published("stacked_pr")),
    ),
    "last look": (
        State.PUBLISHED,
        replace(PROVEN, run=running(stage=Stage.FINAL_REVIEW, round=2), publication=published("patch")),
    ),
    "suggestions": (
        State.SUGGESTION,
        replace(
            PROVEN,
            run=done(Result.HANDED_OVER),
            publication=published("suggestions", places=(("billing/money.py", 18), ("tests/test_invoice.py", 45))),
        ),
    ),
    "take-away patch": (
        State.TAKE_AWAY,
        replace(PROVEN, run=done(Result.HANDED_OVER), publication=published("patch"), is_fork=True),
    ),
    "completed": (State.COMPLETED, GREEN),
    "completed in another way": (State.COMPLETED, replace(GREEN, own_way=True)),
    "other job red": (
        State.STILL_RED,
        replace(
            PROVEN,
            head_sha=FIXED,
            run=done(Result.FIXED_OTHER_RED),
            publication=published("commit", red_jobs=("lint",), red_before=True),
        ),
    ),
    "other job red, nothing to repair in it": (
        State.STILL_RED,
        replace(
            PROVEN,
            head_sha=FIXED,
            outcome=Outcome.NO_TESTS_RECOGNISED,
            run=done(Result.FIXED_OTHER_RED),
            publication=published("commit", red_jobs=("lint",), red_before=False),
        ),
    ),
    "not fixed": (State.STILL_RED, replace(PROVEN, run=done(Result.NOT_FIXED), publication=published("stacked_pr"))),
    "superseded": (
        State.SUPERSEDED,
        replace(
            SCOPE,
            head_sha=NEWER,
            run=running(status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason="superseded", newer_sha=NEWER),
        ),
    ),
    "closed": (
        State.SUPERSEDED,
        replace(SCOPE, run=running(status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason="scope_closed")),
    ),
    "stopped": (
        State.STOPPED,
        replace(
            SCOPE,
            run=blocked(BlockCause.COMMAND, stopped_by="dana", stop_reason="I will rewrite this part anyway"),
            off_by="dana",
            off_at=AT_0914 + 7 * MINUTE,
            off_reason="I will rewrite this part anyway",
        ),
    ),
    "switched off": (State.STOPPED, replace(SCOPE, outcome=Outcome.NOT_OURS, off_by="dana", off_at=AT_0914)),
    "misconfigured": (
        State.MISCONFIGURED,
        ended(
            Outcome.MISCONFIGURED,
            groups=(),
            config=ConfigMistake(
                ".github/remedy.yml",
                "choose one: stacked_pr, commit, suggestions, patch",
                12,
                12,
                "publish",
                "  publish: stacked-pr, commit",
            ),
        ),
    ),
    "no runner": (State.MISCONFIGURED, ended(Outcome.MISCONFIGURED, groups=(), problem="No runner is installed.")),
    "ambiguous": (State.MISCONFIGURED, ended(Outcome.AMBIGUOUS_SCOPE, groups=(), problem="Two pull requests fit.")),
    "log unavailable": (
        State.LOG_UNAVAILABLE,
        ended(
            Outcome.LOG_UNAVAILABLE,
            groups=(),
            evidence=None,
            asked=(
                AskedLog("unit (3.12)", 6, "404, log not found", 600),
                AskedLog("unit (3.12)", 1, "none uploaded", report_file=True),
            ),
        ),
    ),
    "no tests recognised": (State.LOG_UNAVAILABLE, ended(Outcome.NO_TESTS_RECOGNISED, groups=(), evidence=None)),
    "budget used": (
        State.BUDGET,
        replace(
            SCOPE,
            run=blocked(
                BlockCause.BUDGET_USED,
                round=2,
                cost="3.00 of 3.00 USD",
                budget="3.00 USD",
                limits=(
                    LimitRow("Money for this pull request", "3.00 USD", "3.00 USD", True),
                    LimitRow("Time", "60 min", "38 min"),
                    LimitRow("Rounds", "3", "2"),
                ),
            ),
            rounds=(ROUND_1,),
            fix=replace(FIX, what_was_wrong="", approved_in_round=0),
        ),
    ),
    "ceiling reached": (
        State.BUDGET,
        replace(
            SCOPE,
            run=blocked(
                BlockCause.BUDGET_USED,
                cost="9.02 of 9.00 USD",
                limits=(LimitRow("Money", "9.00 USD", "9.02 USD", True), LimitRow("Rounds", "3", "0")),
            ),
        ),
    ),
    "limit reached": (State.BUDGET, ended(Outcome.LIMIT_REACHED, problem="This commit had its run already.")),
    "CI waits": (State.NO_CI, ended(Outcome.CI_WAITS_FOR_APPROVAL, groups=(), waiting_workflow="ci")),
    "no CI for the fix": (
        State.NO_CI,
        replace(PROVEN, run=done(Result.CI_UNKNOWN), publication=published("stacked_pr", ci="none")),
    ),
    "lost contact": (
        State.LOST_CONTACT,
        replace(
            SCOPE,
            run=running(lost_at=AT_0914 + 2 * MINUTE, stage_since=AT_0914 + 12 * MINUTE, restarts=1),
            rounds=(ROUND_1,),
        ),
    ),
}
BLOCKED_STAGES: dict[BlockCause, Stage] = {
    BlockCause.VERDICT: Stage.AGENT,
    BlockCause.CORRECTION_LIMIT: Stage.AGENT,
    BlockCause.NO_PROGRESS: Stage.AGENT,
    BlockCause.VERDICT_MISSING: Stage.SUPERVISOR,
    BlockCause.TURN_FAILED: Stage.AGENT,
    BlockCause.CRASH: Stage.AGENT,
    BlockCause.PROOF_FAILED: Stage.PROVE,
    BlockCause.PROOF_UNAVAILABLE: Stage.PROVE,
    BlockCause.NEEDS_APPROVAL: Stage.SUPERVISOR,
    BlockCause.QUESTION: Stage.AGENT,
    BlockCause.SECRET_FOUND: Stage.AGENT,
    BlockCause.HUMAN_PUSHED: Stage.PUBLISH,
    BlockCause.NO_PERMISSION: Stage.PUBLISH,
    BlockCause.TREE_MISMATCH: Stage.PROVE,
    BlockCause.PUBLISH_FAILED: Stage.PUBLISH,
}
STATES |= {
    f"blocked: {cause.value}": (
        State.BLOCKED,
        replace(
            SCOPE,
            run=blocked(
                cause,
                stage,
                round=3,
                error="the test expects 0.38 and docs/rounding.md asks for 0.39.",
                repair_n=1,
                repair_state="NEEDS_USER",
                repair_feedback="found nothing to clarify; a person must decide.",
                cost="1.12 of 3.00 USD",
            ),
            rounds=(ROUND_1, ROUND_2_BLOCKED),
            fix=replace(FIX, repairs=1),
            publication=published("stacked_pr", pull_number=None) if stage is Stage.PUBLISH else None,
            proof=replace(PROOF, findings=(FOUND,)),
        ),
    )
    for cause, stage in BLOCKED_STAGES.items()
}
