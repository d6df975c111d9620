"""What each prompt must hold, in which order, and that a part without content is gone with its heading."""

import re
from dataclasses import fields, replace
from typing import Any

import pytest

from app.render.prompts import render_prompt
from app.render.prompts.inputs import ConventionFile, Final, Finding, Form, Place, PullText, Reask, Rung, StepText, Task
from tests.unit.prompts.rows import (
    ATTEMPT,
    CORRECT_PROOF,
    CORRECT_SUPERVISOR,
    FAILURE,
    FINAL,
    PLAN,
    REASK,
    REPAIR,
    RESUME,
    RESUME_LOST,
    REVIEW,
    STEP,
    TYPICAL,
    WORK,
    form,
    many,
)

OPTIONAL: dict[str, tuple[Any, tuple[str, ...]]] = {
    "agent_work": (WORK, ("failures", "measured", "command", "pull", "conventions", "attempts")),
    "agent_correct": (
        CORRECT_PROOF,
        ("attempts", "rows", "claims", "findings", "output", "feedback", "failures", "command", "conventions"),
    ),
    "plan_review": (PLAN, ("failures", "pull", "conventions", "since", "hint")),
    "review": (
        REVIEW,
        (
            "suite_tests",
            "mutants",
            "failures",
            "outputs",
            "run_diff",
            "pull",
            "conventions",
            "approvals",
            "note",
            "attempts",
        ),
    ),
    "self_repair": (REPAIR, ("feedback", "summary", "events")),
    "reask": (REASK, ("wrong", "ids", "approve_needs")),
    "final": (FINAL, ("was_wrong", "change", "files", "proof", "ci", "open")),
}


def emptied(inputs: Any, names: tuple[str, ...]) -> Any:
    defaults = {part.name: part.default for part in fields(inputs)}
    return replace(inputs, **{name: PullText() if name == "pull" else defaults[name] for name in names})


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_missing_part_is_left_out_with_its_heading_pm_2(name: str) -> None:
    inputs, optional = OPTIONAL[name]
    for missing in (*((one,) for one in optional), optional):
        text = render_prompt(name, emptied(inputs, missing)).text
        assert "None" not in text
        assert not re.search(r"^(`{3,})\w*\n\s*\n?\1$", text, re.MULTILINE), "an empty fence"
        assert not re.search(r"^## [^\n]*\n+(?=## |End of the data|\Z)", text, re.MULTILINE), "a heading alone"
        assert not re.search(r"^### [^\n]*\n+(?=##+ |End of the data|\Z)", text, re.MULTILINE), "a heading alone"
        assert "\n\n\n" not in re.sub(r"^(`{3,}).*?^\1$", "(block)", text, flags=re.DOTALL | re.MULTILINE)


def order(text: str, *parts: str) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places), list(zip(parts, places, strict=True))


def test_parts_stand_in_their_order_pm_1() -> None:
    order(
        render_prompt("agent_work", WORK).text,
        "You repair one failure",
        'Blocks that begin with "Data ("',
        "## Run",
        "## Task",
        "## Measured",
        "## Failures",
        "## The pull request",
        "## How this repository works",
        "End of the data.",
        "## Do this",
        "## What is not a repair",
        "## Limits",
        "## Report",
    )
    order(
        render_prompt("review", replace(REVIEW, approvals=("x",), attempts=(ATTEMPT,), run_diff="+x")).text,
        "You are the supervisor",
        "Blocks that begin",
        "## Run",
        "## Task",
        "## Evidence you may cite",
        "## Proof",
        "## The change",
        "## Failures",
        "## The run so far",
        "## The pull request",
        "## How this repository works",
        "## Approvals by people",
        "## Earlier attempts",
        "## The author's note",
        "End of the data.",
        "## Answer in this order",
        "## Decide",
        "## Verdict",
    )


@pytest.mark.parametrize("case", TYPICAL)
def test_nothing_of_the_outside_comes_after_the_closing_line_pm_1(case: str) -> None:
    text = render_prompt(*TYPICAL[case]).text
    if "End of the data." in text:
        assert "Data (" not in text.rsplit("End of the data.", 1)[1]
        assert text.count("End of the data.") == 1


def test_agent_work_says_what_the_requirements_ask_a8_a10_a11_g10() -> None:
    text = render_prompt("agent_work", WORK).text
    for words in (
        "e2e-fail-0a19abd5499b",
        "continue it; do not start over",
        "regression test must cover the cause",
        "Read before you edit: `CONTRIBUTING.md`",
        "If the test is wrong",
        "If you cannot",
        "No clean-up, renaming or reformatting",
        "Fix 1 failing test(s) [e2e-fail-0a19abd5499b]",
        "Failing tests: 1 in this run, 1 in this step",
    ):
        assert words in text
    assert "CONTRIBUTING" not in render_prompt("agent_work", replace(WORK, conventions=())).text
    assert (
        "Fix 12 failing test(s) ["
        in render_prompt("agent_work", replace(WORK, run=replace(WORK.run, failures_total=12))).text
    )


def test_an_unknown_revision_is_the_word_unknown_a13() -> None:
    text = render_prompt("agent_work", replace(WORK, run=replace(WORK.run, head_sha="", environment=""))).text
    assert "Revision: `unknown`\n" in text and "Environment: `unknown`\n" in text


def test_without_the_right_to_ask_the_way_out_is_a_question_line() -> None:
    text = render_prompt("agent_work", replace(WORK, form=form(Rung.TOOL, may_ask=False))).text
    assert "begin line 1 of the report with `Question:`" in text and "request_human" not in text


def test_a_remote_runner_works_on_its_branch() -> None:
    text = render_prompt("agent_work", replace(WORK, remote_branch="remedy/x")).text
    assert "Work on branch `remedy/x` from `4be1d074c2a9f3e8d5b60718293a4b5c6d7e8f90` and push it" in text
    assert "No network" not in text
    assert "No push, no pull request, no issue." not in text


def test_the_task_is_one_part_among_others_pm_14() -> None:
    text = render_prompt("agent_work", replace(WORK, task=Task("s1", "Only this.", author="plan review"))).text
    assert "Task (step s1), written by plan review:\n```text\nOnly this.\n```" in text
    assert "## What is not a repair" in text and "## Report" in text


def test_hints_and_addenda_have_blocks_of_their_own_pl_10() -> None:
    task = replace(WORK.task, addenda=("One.", "Two."), hint="JPY has no decimals", hint_by="dana")
    text = render_prompt("agent_correct", replace(CORRECT_SUPERVISOR, task=task)).text
    assert "Added by plan repair 1:\n```text\nOne.\n```\nAdded by plan repair 2:\n```text\nTwo.\n```" in text
    assert "From maintainer `@dana`:\n```text\nJPY has no decimals\n```" in text


def test_conventions_are_named_for_agents_and_shown_to_judges_pm_15_pm_16_pm_17() -> None:
    rules = (ConventionFile("CONTRIBUTING.md", "Small functions."), ConventionFile("AGENTS.md", "Use make."))
    work = render_prompt("agent_work", replace(WORK, conventions=rules)).text
    assert "Read before you edit: `CONTRIBUTING.md`, `AGENTS.md`." in work and "Small functions." not in work
    assert "this prompt counts" in work
    review = render_prompt("review", replace(REVIEW, conventions=rules)).text
    assert "Data (base): AGENTS.md, 9 of 9 characters\n```text\nUse make.\n```" in review


def test_a_convention_that_the_pull_request_changed_counts_as_on_base_pm_18_fk_5() -> None:
    rules = (ConventionFile("AGENTS.md", "Base text.", changed=True),)
    for name, inputs in (("agent_work", WORK), ("review", REVIEW)):
        text = render_prompt(name, replace(inputs, conventions=rules)).text
        assert "`AGENTS.md`: changed by this pull request; the version of the base branch counts." in text


def test_attempts_show_one_row_each_and_the_last_diff_alone_pm_19() -> None:
    three = tuple(replace(ATTEMPT, n=n, diff=f"+attempt {n}") for n in (1, 2, 3))
    text = render_prompt("agent_correct", replace(CORRECT_PROOF, attempts=three)).text
    assert [text.count(f"| {n} | proof |") for n in (1, 2, 3)] == [1, 1, 1]
    assert "+attempt 3" in text and "+attempt 2" not in text
    assert "diff of attempt 3" in text
    assert "+attempt" not in render_prompt("review", replace(REVIEW, attempts=three)).text


def test_the_workspace_line_says_what_the_files_are_pm_20_w53() -> None:
    for place, words in (
        (Place.FRESH, "a fresh checkout; nothing of earlier attempts is in it"),
        (Place.LEFT, "the files as you left them"),
    ):
        assert f"Workspace: {words}." in render_prompt("agent_correct", replace(CORRECT_PROOF, place=place)).text


def test_the_next_attempt_must_differ_pm_21() -> None:
    text = render_prompt("agent_correct", CORRECT_PROOF).text
    assert "say in `Change:` what is different from the attempts above" in text
    assert "The same files with the same result end the run." in text


@pytest.mark.parametrize(
    "claim,words",
    [
        ("not_fixed", "The named test still fails with your change."),
        ("still_flaky", "passes in some runs and fails in others: 2 of 5."),
        ("test_silenced", "A test that does not run is not repaired."),
        ("no_report", "left no readable report"),
        ("report_forged", "left no readable report"),
        ("collateral", "fail or are gone with your change: `a::b`."),
        ("test_no_longer_discriminates", "the tests ask for less, the code was not repaired."),
        ("rewritten_expectation", "nothing in the pull request asks for it."),
        ("empty_delta", "No change was made."),
    ],
)
def test_each_claim_has_its_sentence_pf_13(claim: str, words: str) -> None:
    inputs = replace(CORRECT_PROOF, claims=(claim,), flaky=(2, 5), collateral=("a::b",))
    assert words in render_prompt("agent_correct", inputs).text


def test_the_correction_says_who_sends_it_back() -> None:
    assert (
        "Attempt 1 was proved. Remedy took the files as you left them"
        in render_prompt("agent_correct", CORRECT_PROOF).text
    )
    sent = render_prompt("agent_correct", CORRECT_SUPERVISOR).text
    assert "The tests hold for attempt 1. The supervisor of this repair sends it back:" in sent
    again = render_prompt("agent_correct", replace(CORRECT_SUPERVISOR, after="reentry", feedback="")).text
    assert "Work on this step goes on." in again and "supervisor" not in again


def test_a_session_that_lives_gets_a_short_text_and_a_lost_one_the_whole_cr_5_cr_13() -> None:
    short, whole = render_prompt("agent_resume", RESUME).text, render_prompt("agent_resume", RESUME_LOST).text
    guard = "Look at git status and log first, continue, do not repeat finished work."
    assert guard in short and guard in whole
    assert len(short) < 1500 and "## Run" not in short
    assert "This is a new session for the same step." in whole and "## Run" in whole and "## Limits" in whole
    assert "I was about to run the tests." in whole and "## Earlier attempts" in whole


def test_a_second_asking_asks_for_the_result_only_vf_12_b13_t12_ev_9() -> None:
    schema = render_prompt("reask", Reask("schema", form(Rung.TOOL), "agent", ("tests: missing",))).text
    assert "without repeating repository work: read nothing, run nothing, change nothing" in schema
    assert "- tests: missing" in schema and "## " not in schema and "Data (" not in schema
    verdict = render_prompt("reask", REASK).text
    assert "Answer with the verdict only, do not repeat the inspection." in verdict
    assert "- E-21c7f4e09d, log: " in verdict and "`approve` must cite E-c4406be913 and E-66c9f70d18" in verdict
    many_wrong = replace(REASK, wrong=tuple(f"field {n}: bad" for n in range(30)))
    assert render_prompt("reask", many_wrong).text.count(": bad") == 10


def test_the_review_names_nobody_and_lets_nothing_be_overruled_pm_23_pm_24_pm_25() -> None:
    text = render_prompt("review", replace(REVIEW, run=replace(REVIEW.run, attempt=3))).text
    assert "Attempt: 3\n" in text and "of 4" not in text and "last attempt" not in text
    assert "made by rules; you cannot overrule it" in text
    assert "You did not write it." in text


def test_an_accepted_finding_is_settled_pm_26() -> None:
    found = (Finding("Expected value changed", "tests/test_a.py", 4, "An expected value changed.", accepted=True),)
    text = render_prompt("review", replace(REVIEW, findings=found)).text
    assert "Accepted by a maintainer for this tree." in text
    assert "Gate: 1 finding, below." in text


def test_feedback_is_asked_for_in_a_form_that_works_in_one_round_pm_27_pm_28_pm_29_pm_30_pm_31() -> None:
    text = render_prompt("review", REVIEW).text
    for words in (
        "first the whole point in at most 120 characters",
        "at most 3 numbered points: where, what happens for which input, what would show that\nit is right",
        "All points now.",
        "No taste, nothing beyond this failure, nothing that weakens a test.",
        "plain text without ids, names or Markdown",
        "Last line of each: Side: code, test, both or unknown; and why.",
    ):
        assert words in text


def test_a_restarted_review_only_inspects_c20_cr_7() -> None:
    first = render_prompt("review", replace(REVIEW, restarted="interrupted")).text
    assert first.startswith("Your review was interrupted. Inspect only, change nothing; resume the inspection only.")
    assert first.split("\n\n", 1)[1] == render_prompt("review", REVIEW).text
    again = render_prompt("review", replace(REVIEW, restarted="answered", approvals=("publish: approved",))).text
    assert again.startswith("A maintainer answered; see the approvals.") and "- publish: approved" in again


def test_plan_repair_bypasses_no_guard_and_sees_no_code_c14() -> None:
    text = render_prompt("self_repair", REPAIR).text
    assert "Never bypass a guard." in text
    assert "```diff" not in text and "## The change" not in text
    assert text.count("step.work_finished") == 20 and "attempt 23" in text and "attempt 3\n" not in text


@pytest.mark.parametrize(
    "result,words",
    [
        ("fixed", ""),
        ("ci_unknown", "No CI ran for this change."),
        ("not_fixed", "CI still shows the named failure"),
        ("fixed_other_red", "CI is red for another reason."),
        ("handed_over", "nothing was pushed"),
    ],
)
def test_the_last_words_say_the_true_result(result: str, words: str) -> None:
    inputs: Final = replace(FINAL, result=result, was_wrong="CI is green, said the log.")
    text = render_prompt("final", inputs).text
    assert words in text and 'Remedy prints this line itself: "2 tests pass, CI is green".' in text


@pytest.mark.parametrize(
    "claim,words",
    [
        ("regression", "passed before this pull request and fail with it"),
        ("pre_existing", "fail with and without this pull request"),
        ("test_side", "points at the tests below, not at the code: the docs changed."),
        ("build", "mypy stops before any test runs."),
    ],
)
def test_the_step_text_follows_the_claim_pl_1(claim: str, words: str) -> None:
    inputs = replace(STEP, claim=claim, why="the docs changed", tool="mypy", command=("make", "types"))
    assert words in render_prompt("step", inputs).text


def test_the_plan_review_adds_to_the_step_under_a_fixed_heading_pl_3() -> None:
    text = render_prompt("step", replace(STEP, from_plan_review="Touch only money.py.")).text
    assert text.rstrip("\n").endswith("From the plan review: Touch only money.py.")
    bare = render_prompt("step", StepText("regression")).text
    assert "place to start" not in bare and "plan review" not in bare


def test_a_command_line_is_shown_only_if_every_id_is_plain_pm_10() -> None:
    assert "```sh\npython -m pytest" in render_prompt("agent_work", WORK).text
    for argument in ("tests/a.py::test[x y]", "$(touch x)", "a;b", "`id`", "a\nb", "--x='y'"):
        text = render_prompt("agent_work", replace(WORK, command=("pytest", argument))).text
        assert "```sh" not in text and "Run it like this" not in text
    quoted = render_prompt("agent_work", replace(WORK, command=("pytest", "tests/a.py::test_x[EUR]"))).text
    assert "pytest 'tests/a.py::test_x[EUR]'" in quoted


def test_tests_that_joined_later_stand_apart_it_29() -> None:
    later = replace(FAILURE, test_id="tests/test_new.py::test_joined", since_later=True)
    text = render_prompt("agent_work", replace(WORK, failures=(*many(2), later))).text
    order(text, "## Failures", "### 1. ", "### 2. ", "## Failing since", "### 3. tests/test_new.py::test_joined")


def test_a_dry_run_differs_from_the_first_prompt_by_nonce_and_workspace_line_pm_32() -> None:
    real = render_prompt("agent_work", replace(WORK, form=Form(Rung.MARKER, "K7Q2MZ4TRA5XWD3B"))).text
    dry = render_prompt("agent_work", replace(WORK, form=Form(Rung.MARKER, "nonce"), place=Place.DRY_RUN)).text
    assert (
        dry.replace("REMEDY_RESULT:nonce", "REMEDY_RESULT:K7Q2MZ4TRA5XWD3B").replace("Workspace: dry run.\n", "")
        == real
    )


def test_a_failure_without_output_says_so() -> None:
    text = render_prompt("agent_work", replace(WORK, failures=(replace(FAILURE, detail="", error_head=""),))).text
    assert "The log holds no output for this test." in text
