"""Budgets: a prompt fits, what must stay stays, and every cut is stated (PM-9 to PM-13)."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import UserError
from app.render.prompts import render_prompt
from app.render.prompts.blocks import first, last, last_lines, split_diff, whole_files
from app.render.prompts.budget import CUTS, TOTALS, estimate, ladder
from app.render.prompts.inputs import CellOutput, ConventionFile, EvidenceLine, Failure, PullText, Task
from tests.unit.prompts.rows import (
    ATTEMPT,
    CORRECT_PROOF,
    CORRECT_SUPERVISOR,
    FAILURE,
    PLAN,
    PULL,
    REPAIR,
    REVIEW,
    WORK,
    many,
    with_failures,
)

pytestmark = pytest.mark.slow

HUGE_DIFF = "".join(
    f"diff --git a/f{n}.py b/f{n}.py\n--- a/f{n}.py\n+++ b/f{n}.py\n@@ -1 +1 @@\n" + "+x = 1\n" * 5000
    for n in range(150)
)


def full_failures(count: int = 50) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            ("tests/" + "a" * 400)[: 190 - len(str(n))] + f"::case_{n}",
            "failed",
            "unit (3.12)",
            1,
            "detail " * 1400 + f"end of {n}",
            f"head of {n}: " + "h" * 400,
        )
        for n in range(1, count + 1)
    )


def full() -> dict[str, Any]:
    """Every prompt with every cap full, as the floor is computed (PM-11)."""
    failures = full_failures()
    task = Task("s1", "t" * 8000, addenda=("a" * 2000, "b" * 2000), hint="h" * 500, hint_by="dana")
    pull = PullText("title " * 20, "body " * 2000, HUGE_DIFF, 150)
    rules = (ConventionFile("CONTRIBUTING.md", "c" * 20_000), ConventionFile("AGENTS.md", "d" * 20_000))
    evidence = tuple(EvidenceLine(f"E-{n:010x}", "cell", f"cell {n} " + "w" * 100) for n in range(400))
    attempts = tuple(replace(ATTEMPT, n=n, said="s" * 80, point="p" * 120) for n in range(1, 13))
    attempts = (*attempts[:-1], replace(attempts[-1], diff=HUGE_DIFF))
    run = replace(WORK.run, failures_total=50, failures_in_step=50)
    return {
        "agent_work": replace(WORK, run=run, failures=failures, task=task, pull=pull, conventions=rules),
        "agent_correct": replace(
            CORRECT_PROOF,
            run=run,
            failures=failures,
            task=replace(task, hint=""),
            attempts=attempts,
            conventions=rules,
            feedback="f" * 4000,
            output=CellOutput("base", "o\n" * 50_000),
        ),
        "plan_review": replace(
            PLAN,
            run=run,
            failures=failures,
            pull=pull,
            conventions=rules,
            steps=(replace(PLAN.steps[0], prompt="p" * 8000),),
        ),
        "review": replace(
            REVIEW,
            run=run,
            failures=failures,
            task=replace(task, text="t" * 4000),
            pull=pull,
            conventions=rules,
            evidence=evidence[:200],
            diff=HUGE_DIFF,
            run_diff=HUGE_DIFF,
            note="n" * 20_000,
            outputs=tuple(CellOutput(f"tree {n}", "o\n" * 50_000) for n in range(6)),
            attempts=attempts,
        ),
        "self_repair": replace(REPAIR, task=task, feedback="f" * 4000, summary="s" * 20_000, events=("e" * 200,) * 40),
    }


@pytest.mark.parametrize("name", ["agent_work", "agent_correct", "plan_review", "review", "self_repair"])
def test_all_caps_full_fit_the_default_total_pm_11(name: str) -> None:
    prompt = render_prompt(name, full()[name])
    assert estimate(prompt.text) <= TOTALS[name], (name, estimate(prompt.text))


def test_every_shown_failure_has_its_id_and_error_head_pm_11_w5() -> None:
    work = full()["agent_work"]
    prompt = render_prompt("agent_work", work)
    for n, failure in enumerate(work.failures, 1):
        assert f"### {n}. " in prompt.text
        assert failure.test_id[-30:] in prompt.text and failure.error_head[:13] in prompt.text
    assert "first 300 of" in prompt.text or "first 150 of" in prompt.text or "first 80 of" in prompt.text


def test_every_evidence_id_and_cell_is_listed_however_full_w42_pm_11() -> None:
    review = full()["review"]
    text = render_prompt("review", review).text
    for line in review.evidence:
        assert f"| {line.evidence_id} | cell |" in text
    assert "`approve` must cite E-c4406be913 and E-66c9f70d18" in text


def test_cuts_come_in_their_order_pm_11() -> None:
    work = replace(WORK, pull=PullText("t", "body " * 400, "+x\n" * 5000, 1), failures=many(20, "d" * 3000))
    whole = render_prompt("agent_work", work, limit=40_000)
    assert whole.cuts == ()
    one = render_prompt("agent_work", work, limit=estimate(whole.text) - 1)
    assert one.cuts == ("pull_diff",)
    two = render_prompt("agent_work", work, limit=estimate(one.text) - 1)
    assert two.cuts == ("pull_diff", "body")
    three = render_prompt("agent_work", work, limit=estimate(two.text) - 1)
    assert three.cuts == ("pull_diff", "body", "details")
    assert three.text.count("last 1000 of 3000 characters") == 1, "from the last failure back"
    assert three.text.index("last 1000 of 3000") > three.text.index("### 20. ")


def test_the_first_failure_keeps_most_of_its_output() -> None:
    work = replace(with_failures(50, 50), failures=tuple(replace(one, detail="d" * 3000) for one in many(50)))
    text = render_prompt("agent_work", work, limit=12_000).text
    assert estimate(text) <= 12_000
    assert "d" * 1500 in text.split("### 2. ")[0]
    assert "### 50. " in text


@settings(max_examples=40)
@given(
    st.text(max_size=4000),
    st.integers(1, 50),
    st.integers(9_000, 32_000),
    st.sampled_from(["agent_work", "plan_review", "review"]),
)
def test_any_text_fits_any_allowed_limit_pm_11(text: str, count: int, limit: int, name: str) -> None:
    failures = many(count, text * 3)
    base: Any = {"agent_work": WORK, "plan_review": PLAN, "review": REVIEW}[name]
    inputs = replace(base, failures=failures, pull=PullText(text, text, text * 10, 3))
    prompt = render_prompt(name, inputs, limit=limit)
    assert estimate(prompt.text) <= limit
    assert f"### {count}. " in prompt.text


def test_a_cut_is_stated_in_the_label_pm_9() -> None:
    text = render_prompt(
        "agent_work", replace(WORK, failures=(replace(FAILURE, detail="x" * 5000, detail_total=10_120),))
    ).text
    assert "Data (log): output of this test, last 3000 of 10120 characters" in text
    assert "cut" not in render_prompt("agent_work", WORK).text.split("## Do this")[0]


def test_pieces_keep_the_right_end_pm_9() -> None:
    assert (last("abcdef", 3).text, last("abcdef", 3).side) == ("def", "last")
    assert (first("abcdef", 3).text, first("abcdef", 3).side) == ("abc", "first")
    assert last("abc", 0).text == "" and last("abc", 3).side == ""
    lines = last_lines("a\nb\nc", 2, 100)
    assert (lines.text, lines.shown, lines.total, lines.unit) == ("b\nc", 2, 3, "lines")


def test_a_diff_keeps_whole_files_in_order_and_names_the_rest_pm_9() -> None:
    piece = whole_files(HUGE_DIFF, 80_000)
    assert (piece.shown, piece.total) == (2, 150)
    assert piece.left_out[:2] == ("f2.py", "f3.py") and len(piece.left_out) == 148
    assert len(split_diff(PULL.diff)) == 2
    text = render_prompt("review", replace(REVIEW, diff=HUGE_DIFF)).text
    assert "1 of 150 files" in text and "`f1.py`" in text and "read them in the workspace" in text


def test_the_header_tells_true_totals_and_first_n_only_when_cut_a6_g6_pm_13() -> None:
    assert (
        "Failing tests: 60 in this run, 60 in this step, first 50 shown\n"
        in render_prompt("agent_work", with_failures(60, 50)).text
    )
    whole = render_prompt("agent_work", with_failures(50, 50)).text
    assert "Failing tests: 50 in this run, 50 in this step\n" in whole and "first" not in whole.split("## Task")[0]


def test_detail_is_the_end_and_never_more_than_3000_characters_a5() -> None:
    text = render_prompt(
        "agent_work", replace(WORK, failures=(replace(FAILURE, detail="é" * 9000 + "\nthe end"),))
    ).text
    body = text.split("last 3000 of 9008 characters\n", 1)[1].split("\n```\n")[0].split("\n", 1)[1]
    assert len(body) == 3000 and body.endswith("the end")


def test_no_detail_means_the_error_head_alone_a5_g5() -> None:
    text = render_prompt("agent_work", replace(WORK, failures=(replace(FAILURE, detail=""),))).text
    assert "Data (log): error of this test\n```text\nassert 3 == 2\n```" in text


def test_over_one_mebibyte_is_refused_g22() -> None:
    with pytest.raises(UserError):
        render_prompt("agent_work", replace(WORK, task=Task("s1", "x" * 2_000_000)))


def test_a_diff_of_five_megabytes_fits() -> None:
    work = replace(WORK, pull=replace(PULL, diff=HUGE_DIFF, files=150))
    assert len(HUGE_DIFF) > 5_000_000
    prompt = render_prompt("agent_work", work)
    assert estimate(prompt.text) <= TOTALS["agent_work"]


def test_each_step_of_a_ladder_only_shortens() -> None:
    for name in CUTS:
        steps = ladder(name, 5)
        for (before, _), (after, _) in pairwise(steps):
            assert sum(after.details) <= sum(before.details)
            for cap in (
                "body",
                "pull_diff",
                "conventions",
                "last_diff",
                "run_diff",
                "step_diff",
                "output_lines",
                "note",
            ):
                assert getattr(after, cap) <= getattr(before, cap)


def test_a_long_hint_and_addendum_are_whole_pm_12() -> None:
    task = Task("s1", "t", addenda=("a" * 2000,), hint="h" * 500, hint_by="dana")
    text = render_prompt("agent_correct", replace(CORRECT_SUPERVISOR, task=task, failures=full_failures())).text
    assert "a" * 2000 in text and "h" * 500 in text
