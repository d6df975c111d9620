"""Inputs of every prompt: the pull request of prompts.md, section 11, and what may vary."""

from dataclasses import replace

from app.render.prompts.inputs import (
    AgentCorrect,
    AgentResume,
    AgentWork,
    Attempt,
    CellOutput,
    ConventionFile,
    EvidenceLine,
    Failure,
    Final,
    Finding,
    Form,
    Inputs,
    PlanReview,
    PlanStep,
    PullText,
    Reask,
    Review,
    RunFacts,
    Rung,
    SelfRepair,
    StepText,
    Task,
    TreeRow,
)

NONCE = "K7Q2MZ4TRA5XWD3B"
TEST = "tests/test_pages.py::test_last_page_is_full"
OUTPUT = """\
    def test_last_page_is_full():
>       assert page_count(20, 10) == 2
E       assert 3 == 2
E        +  where 3 = page_count(20, 10)

tests/test_pages.py:9: AssertionError
"""
PULL_DIFF = '''\
--- a/listing/pages.py
+++ b/listing/pages.py
@@ -4,3 +4,3 @@
 def page_count(total: int, size: int) -> int:
-    """Number of pages for `total` rows, `size` rows on a page."""
-    return -(-total // size)
+    """Number of pages for `total` rows, `size` rows on a page; an empty list has one page."""
+    return total // size + 1
--- a/tests/test_pages.py
+++ b/tests/test_pages.py
@@ -9,1 +9,5 @@
     assert page_count(20, 10) == 2
+
+
+def test_empty_list_has_one_page():
+    assert page_count(0, 10) == 1
'''
STEP_DIFF = '''\
--- a/listing/pages.py
+++ b/listing/pages.py
@@ -5,2 +5,2 @@
     """Number of pages for `total` rows, `size` rows on a page; an empty list has one page."""
-    return total // size + 1
+    return max(1, -(-total // size))
'''
NOTE = """\
Count a full last page once and keep one page for no rows
Cause: listing/pages.py line 6: total // size + 1 adds a page when total is a multiple of size (20 and 10 give 3).
Change: round up as before, then take at least 1, so an empty list keeps its page.
Checked: the test failed before and passes now; tests/test_pages.py 3 passed.
Open: callers of page_count were not run; size 0 raises as before."""

RUN = RunFacts(
    repository="acme/listing",
    head_sha="4be1d074c2a9f3e8d5b60718293a4b5c6d7e8f90",
    base_sha="c01dfee1b2a394857606f1e2d3c4b5a697887960",
    tag="e2e-fail-0a19abd5499b",
    failures_total=1,
    failures_in_step=1,
    pull_number=318,
    head_ref="one-page-minimum",
    base_ref="main",
    environment="unit (3.12)",
)
STEP = StepText("regression", why_grouped="One test, one cause.", frame="tests/test_pages.py line 9")
TASK = Task(
    "s1",
    "The tests below passed before this pull request and fail with it. Find which part of the change breaks them and "
    "repair the code. Keep what the pull request\nwants to achieve; undoing it is not a repair.\n"
    "One test, one cause. A place to start, not a finding: tests/test_pages.py line 9.",
)
FAILURE = Failure(TEST, "failed", "unit (3.12)", 1, OUTPUT, "assert 3 == 2")
PULL = PullText(
    "An empty list has one page",
    "The page bar breaks when a list is empty. page_count() now returns at least 1.",
    PULL_DIFF,
    2,
)
COMMAND = ("python", "-m", "pytest", "-q", TEST)
CONVENTION = "Keep functions small. Every fix needs a test that fails without it. No new dependency for one line."
MEASURED = (TreeRow("base", "pass", 1, 1), TreeRow("this pull request", "fail", 3, 3))
ROWS = (
    TreeRow("base", "pass", 1, 1, "pass"),
    TreeRow("this pull request", "fail", 3, 3, "fail"),
    TreeRow("this pull request + fix", "pass", 3, 3, "pass"),
    TreeRow("fix without its source part", expected="fail", note="same tree as this pull request"),
)
EVIDENCE = (
    EvidenceLine("E-21c7f4e09d", "log", "job unit (3.12), attempt 1, bytes 88120 to 88294"),
    EvidenceLine("E-5b1f0c9a27", "failure", "test_last_page_is_full in job unit (3.12), attempt 1"),
    EvidenceLine("E-90aa3d41c6", "blame", "this change: base pass 1 of 1, head fail 3 of 3"),
    EvidenceLine("E-1d7e52b80f", "diff", "the step: 1 file, +1 -1"),
    EvidenceLine("E-c4406be913", "grid", "proof of attempt 1"),
    EvidenceLine("E-0f8a96d2b5", "cell", "base"),
    EvidenceLine("E-7732e1fa4c", "cell", "this pull request"),
    EvidenceLine("E-a85d0b613e", "cell", "this pull request + fix"),
    EvidenceLine("E-66c9f70d18", "gate", "integrity gate of attempt 1: allow, no finding"),
    EvidenceLine("E-38b2ce5574", "mutation", "changed line: 2 of 3 mutants killed"),
)
NEEDS = ("E-c4406be913", "E-66c9f70d18")
ATTEMPT = Attempt(
    1,
    "proof",
    "Count a full last page once",
    ("listing/pages.py +1 -1",),
    "fails in: this pull request + change",
    "The named test still fails.",
    STEP_DIFF,
)
FINDING = Finding(
    "Assertion removed", "tests/test_pages.py", 9, "The test asserts less than before.", "-assert x == 2\n+assert x"
)


def form(rung: Rung, may_ask: bool = True) -> Form:
    return Form(rung, NONCE if rung is Rung.MARKER else "", may_ask)


TOOL, MARKER = form(Rung.TOOL), form(Rung.MARKER)
WORK = AgentWork(
    run=RUN,
    task=TASK,
    form=TOOL,
    failures=(FAILURE,),
    measured=MEASURED,
    command=COMMAND,
    pull=PULL,
    conventions=(ConventionFile("CONTRIBUTING.md"),),
)
CORRECT_PROOF = AgentCorrect(
    run=replace(RUN, attempt=2),
    task=TASK,
    form=TOOL,
    after="proof",
    attempts=(ATTEMPT,),
    rows=(*ROWS[:2], TreeRow("this pull request + your change", "fail", 3, 3, "pass")),
    claims=("not_fixed",),
    output=CellOutput("this pull request + your change", OUTPUT),
    failures=(FAILURE,),
    command=COMMAND,
)
CORRECT_SUPERVISOR = replace(
    CORRECT_PROOF,
    after="supervisor",
    rows=(),
    claims=(),
    output=None,
    feedback="JPY totals still show two decimals, see E-c4406be913.\n1. billing/money.py line 18.\nSide: code.",
    evidence=EVIDENCE,
)
REVIEW = Review(
    run=RUN,
    task=TASK,
    evidence=EVIDENCE,
    approve_needs=NEEDS,
    form=MARKER,
    claim="source_regression",
    rows=ROWS,
    named_tests=1,
    suite_tests=3,
    mutants="survived max(2, ...) on line 6; test_empty_list_has_one_page covers it, but is not a named test",
    diff=STEP_DIFF,
    diff_id="E-1d7e52b80f",
    failures=(FAILURE,),
    pull=PULL,
    conventions=(ConventionFile("CONTRIBUTING.md", CONVENTION),),
    note=NOTE,
)
PLAN = PlanReview(
    run=RUN,
    steps=(
        PlanStep(
            "s1",
            "Repair test_last_page_is_full",
            "regression",
            "code",
            "this change: base pass 1 of 1, head fail 3 of 3",
            "One test, one cause.",
            TASK.text,
        ),
    ),
    evidence=EVIDENCE[:3],
    form=MARKER,
    failures=(FAILURE,),
    pull=PULL,
    conventions=(ConventionFile("CONTRIBUTING.md", CONVENTION),),
)
REASK = Reask("verdict", MARKER, "supervisor", ("evidence: an id is not in the list",), EVIDENCE[:2], NEEDS)
REPAIR = SelfRepair(
    cause="verdict: the step asks for two decimals and its test asks for none",
    stage="AGENT",
    task=replace(TASK, addenda=("For JPY use the precision of the currency.",)),
    form=MARKER,
    feedback="No patch can satisfy both.",
    summary=NOTE,
    events=tuple(f"09:{n:02} step.work_finished attempt {n}" for n in range(1, 24)),
)
FINAL = Final(
    result="fixed",
    result_line="2 tests pass, CI is green",
    was_wrong="listing/pages.py line 6 added a page for full last pages.",
    change="Count a full last page once",
    files=("listing/pages.py +1 -1",),
    proof="4 of 4 as expected, 1 named test",
    ci=("unit (3.12): success",),
    open="callers of page_count were not run",
)
RESUME = AgentResume(TOOL)
RESUME_LOST = AgentResume(TOOL, WORK, (ATTEMPT,), "I was about to run the tests.")

TYPICAL: dict[str, tuple[str, Inputs]] = {
    "step": ("step", STEP),
    "plan_review": ("plan_review", PLAN),
    "agent_work": ("agent_work", WORK),
    "agent_correct_proof": ("agent_correct", CORRECT_PROOF),
    "agent_correct_supervisor": ("agent_correct", CORRECT_SUPERVISOR),
    "agent_correct_reentry": ("agent_correct", replace(CORRECT_SUPERVISOR, after="reentry", feedback="")),
    "agent_resume": ("agent_resume", RESUME),
    "agent_resume_lost": ("agent_resume", RESUME_LOST),
    "reask_verdict": ("reask", REASK),
    "reask_schema": ("reask", Reask("schema", TOOL, "agent", ("tests: missing",))),
    "review": ("review", REVIEW),
    "self_repair": ("self_repair", REPAIR),
    "final": ("final", FINAL),
}


def many(count: int, detail: str = "E   assert 1 == 2") -> tuple[Failure, ...]:
    """`count` failures of different tests with the same detail."""
    return tuple(
        Failure(f"tests/test_many.py::test_case_{n}", "failed", "unit (3.12)", 1, detail, "assert 1 == 2")
        for n in range(1, count + 1)
    )


def with_failures(total: int, shown: int) -> AgentWork:
    return replace(WORK, run=replace(RUN, failures_total=total, failures_in_step=total), failures=many(shown))
