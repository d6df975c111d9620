"""Texts that are too long for GitHub are cut at the boundary: GH-18, F-C3 to F-C5, F-I1 to F-I3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.github import sizes
from app.github.checks import ActionWrite, AnnotationWrite, CheckWrite, open_check, update_check
from app.github.comments import open_comment
from app.github.issues import open_issue
from tests.unit.github.conftest import answer


def test_a_text_that_fits_stays():
    assert sizes.fit_text("a\nb", 3, "x") == "a\nb"


def test_a_cut_is_on_a_line_end_and_closes_the_fence():
    text = "intro\n```python\n" + "print(1)\n" * 1000
    cut = sizes.fit_text(text, 2000, "x")
    assert cut.endswith("print(1)\n```\n\n…")
    assert len(cut) <= 2000


@pytest.mark.parametrize(
    ("before", "closing"),
    [
        ("````\n```\n", "\n````"),
        ("~~~\n```\n", "\n~~~"),
        ("```\na\n```\n", ""),
        ("``` a ` b\n", ""),
        ("    ```\n", ""),
        ("```\n``` not a closing one\n", "\n```"),
    ],
)
def test_only_a_fence_that_is_open_is_closed(before, closing):
    cut = sizes.fit_text(before + "line\n" * 1000, 2000, "x")
    assert cut.endswith(f"line{closing}\n\n…")


@given(st.text(alphabet="`~ \nab", max_size=900), st.integers(310, 800))
def test_any_text_fits_after_the_cut(text, limit):
    assert len(sizes.fit_text(text, limit, "x")) <= limit


def test_lines_bytes_and_lists_fit():
    assert sizes.fit_line("a\nb", 10, "x") == "a b"
    assert sizes.fit_line("a" * 300, 250, "x") == "a" * 249 + "…"
    assert len(sizes.fit_bytes("é" * 100, 51, "x").encode()) <= 51
    assert sizes.fit_list([1, 2, 3], 2, "x") == [1, 2]


def test_a_check_is_sent_within_its_sizes(github, script):
    """F-C3, F-C4, F-C5."""
    note = AnnotationWrite(
        path="a.py", start_line=1, end_line=1, annotation_level="failure", message="m" * 70_000, title="t" * 300
    )
    check = CheckWrite(
        name="Remedy",
        head_sha="a" * 40,
        external_id="pr:1@a",
        status="completed",
        conclusion="neutral",
        title="title",
        summary="s\n" * 40_000,
        text="t\n" * 40_000,
        actions=(ActionWrite(label="l" * 30, description="d" * 50, identifier="i" * 30),) * 4,
        annotations=(note,) * 60,
    )
    script.steps = [answer({"id": 1}, 201)]
    open_check(github, "o/r", check)
    sent = script.body(0)
    assert len(sent["output"]["summary"]) <= 65_535
    assert len(sent["output"]["text"]) <= 65_535
    assert len(sent["output"]["annotations"]) == 50
    assert len(sent["output"]["annotations"][0]["message"].encode()) <= 64 * 1024
    assert len(sent["output"]["annotations"][0]["title"]) == 255
    assert [len(sent["actions"][0][key]) for key in ("label", "description", "identifier")] == [20, 40, 20]
    assert len(sent["actions"]) == 3


def test_status_and_conclusion_go_together(github, script):
    """F-C2: always both, or neither; F-C1: `stale` is never sent."""
    facts = {"name": "Remedy", "head_sha": "a" * 40, "external_id": "k", "title": "t", "summary": "s"}
    for wrong in (
        {"status": "completed"},
        {"status": "in_progress", "conclusion": "neutral"},
        {"status": "completed", "conclusion": "stale"},
    ):
        with pytest.raises(ValueError):
            CheckWrite.model_validate({**facts, **wrong})
    script.steps = [answer({"id": 1})]
    update_check(github, "o/r", 1, CheckWrite.model_validate({**facts, "status": "in_progress"}))
    assert "conclusion" not in script.body(0)
    assert "head_sha" not in script.body(0)


def test_comments_and_issues_are_sent_within_their_sizes(github, script):
    """F-I1, F-I2, F-I3."""
    script.steps = [answer({"id": 1}, 201), answer({"id": 1, "number": 1}, 201)]
    open_comment(github, "o/r", 1, "c\n" * 50_000)
    open_issue(github, "o/r", "t" * 300, "b" * 70_000, ["l" * 60] * 120)
    assert len(script.body(0)["body"]) <= 65_536
    issue = script.body(1)
    assert (len(issue["title"]), len(issue["body"]) <= 65_536) == (250, True)
    assert (len(issue["labels"]), len(issue["labels"][0])) == (100, 50)
