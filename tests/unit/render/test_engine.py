"""The environment of the templates: forgotten care is an error, links lead home, secrets stay out."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from app.redact import Redactor
from app.render import Links, is_ours, marker, render_check, render_comment, render_issue, render_pull
from app.render.engine import TEMPLATES, environment
from app.render.space import open_part, tidy
from app.runs.projection import State, project
from tests.unit.render.outside import filled
from tests.unit.render.views import OURS, STATES

LINKS = Links("https://github.com", "https://remedy.acme.example", "acme/billing", "8F3K2Q")


def test_text_without_a_text_function_never_reaches_a_page() -> None:
    with pytest.raises(TypeError):
        environment().from_string("{{ name }}").render(name="@octocat")
    assert environment().from_string("{{ name | code }}").render(name="@octocat") == "`@octocat`"


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ name }}").render()


def test_links_lead_to_this_github_and_home_only_ux_e5() -> None:
    assert LINKS.log("https://evil.example/x") is None
    assert LINKS.log("https://github.com.evil.example/x") is None
    assert LINKS.log("javascript:alert(1)") is None
    assert LINKS.log("https://github.com/acme/billing/actions/runs/1/job/9") == (
        "[on GitHub](https://github.com/acme/billing/actions/runs/1/job/9)"
    )
    assert LINKS.log("https://github.com/a) [x](https://evil.example") == (
        "[on GitHub](https://github.com/a%29%20%5Bx%5D%28https://evil.example)"
    )
    assert LINKS.issue(321) == "[issue 321](https://github.com/acme/billing/issues/321)"


def test_a_marker_is_one_comment_whatever_its_key_gh_14() -> None:
    assert marker("status", "pr:318") == "<!-- remedy:status pr:318 v1 -->"
    assert marker("status", "branch:a--> <h1>") == "<!-- remedy:status branch:a--%3E%20%3Ch1%3E v1 -->"
    assert is_ours(marker("reply", "1") + "\nx") and not is_ours("x " + marker("reply", "1"))


@pytest.mark.parametrize("name", STATES)
def test_a_known_secret_reaches_no_text_gh_23(name: str) -> None:
    secret = "s3cr3t-5f1e7c0b9a8d"
    view = filled(STATES[name][1], f"before {secret} after")
    redactor = Redactor((secret,))
    comment, check = render_comment(view, redactor), render_check(view, redactor)
    texts = [comment, check.title, check.summary, check.text, *(note.message for note in check.annotations)]
    if view.groups:
        texts += render_issue(view.groups[0], view, redactor=redactor)
    texts += render_pull(view, redactor)
    assert not [text for text in texts if secret in text]


def test_a_secret_that_a_cut_would_halve_is_taken_out_whole() -> None:
    secret = "ghs_" + "A1b2C3d4" * 5
    view = STATES["blocked: verdict"][1]
    assert view.run is not None
    for before in range(360, 400, 3):
        run = replace(view.run, error="x" * before + " " + secret)
        text = render_comment(replace(view, run=run))
        assert secret[:8] not in text


def test_a_patch_with_a_secret_is_not_shown_as_one_to_paste() -> None:
    view = STATES["take-away patch"][1]
    assert view.fix is not None
    secret = "s3cr3t-5f1e7c0b9a8d"
    poisoned = replace(view, fix=replace(view.fix, diff=view.fix.diff + f"+{secret}\n"))
    text = render_comment(poisoned, Redactor((secret,)))
    assert "git am --3way <<" not in text and secret not in text
    assert "fix.patch" in text


def test_the_open_part_is_what_shows_without_unfolding_ux_l4() -> None:
    text = "<!-- m -->\n\n### A\n\n<details>\n<summary>s</summary>\n\n```text\n</details>\n```\n\n</details>\n\nend\n"
    assert open_part(text) == "### A\n\n\nend"


def test_empty_lines_are_kept_inside_fences_only() -> None:
    assert tidy("\n\na  \n\n\n\nb\n```text\nx\n\n\n\ny\n```\n\n\n") == "a\n\nb\n```text\nx\n\n\n\ny\n```\n"
    assert tidy("````text\n```\n\n\n```\n````\n") == "````text\n```\n\n\n```\n````\n"


def test_there_is_a_template_for_each_state_and_no_other_ux_s1() -> None:
    states = {state.value for state in State}
    comments = {path.name.removesuffix(".md.j2") for path in (TEMPLATES / "comments").iterdir()}
    assert comments - states == {"status", "published"} and states <= comments
    checks = {path.name.removesuffix(".j2") for path in (TEMPLATES / "checks").iterdir()}
    assert states - checks == {"08-correcting"}


def test_templates_hold_no_way_round_the_text_functions() -> None:
    for path in TEMPLATES.rglob("*.j2"):
        if path.relative_to(TEMPLATES).parts[0] == "pages":
            continue
        text = path.read_text()
        assert not re.search(r"\|\s*safe\b|autoescape false", text), path


def test_code_of_the_texts_holds_no_sentence() -> None:
    """style.md, 2.8: sentences are in templates; what code may hold are errors, names and the fence's line."""
    folder = Path(__file__).parents[3] / "app" / "render"
    for path in folder.rglob("*.py"):
        code = re.sub(r'"""(?:.|\n)*?"""', "", path.read_text())
        code = re.sub(r"raise \w+\((?:.|\n)*?\)\n", "", code)
        found = re.findall(r'"[A-Z][^"\n]*? [^"\n]*? [^"\n]*? [^"\n]*?\.?"', code)
        assert not found, (path.name, found)


def test_the_first_group_names_the_file_and_the_more_cases_ux_c5() -> None:
    text = render_comment(STATES["fixing"][1])
    assert "| **this change** | `test_total_rounds_half_even` + 1 more case<br>in `tests/test_invoice.py` |" in text


def test_tests_of_different_functions_are_counted_apart_ux_c5() -> None:
    group = replace(OURS, tests=("a.py::test_a[1]", "a.py::test_a[2]", "a.py::test_b"))
    text = render_comment(replace(STATES["fixing"][1], groups=(group,)))
    assert "`test_a` + 1 more case + 1 more test<br>" in text


def test_more_than_four_tests_share_one_column_ux_c8() -> None:
    view = STATES["final review"][1]
    assert view.proof is not None
    tests = tuple(f"a.py::test_{n}" for n in range(9))
    rows = tuple(replace(row, seen=("pass 45 of 45",)) for row in view.proof.rows)
    text = render_comment(replace(view, proof=replace(view.proof, tests=tests, rows=rows)))
    assert "| Proof: the same 9 tests in four trees | Expected | all 9 tests |" in text
    assert "| this pull request + fix | pass | pass 45 of 45 |" in text
    mixed = (*("pass 5 of 5",) * 8, "fail 5 of 5")
    rows = (*rows[:2], replace(rows[2], seen=mixed, as_expected=False), rows[3])
    text = render_comment(replace(view, proof=replace(view.proof, tests=tests, rows=rows)))
    assert "| this pull request + fix | pass | **8 of 9 as expected** |" in text


def test_a_deviation_is_bold_and_nothing_executed_is_not_run_ux_c8_ux_c9() -> None:
    view = STATES["final review"][1]
    assert view.proof is not None
    rows = (*view.proof.rows[:3], replace(view.proof.rows[3], seen=("pass 5 of 5", "not run"), as_expected=False))
    text = render_comment(replace(view, proof=replace(view.proof, rows=rows)))
    assert "| fix without its source part | fail | **pass 5 of 5** | **not run** |" in text


def test_a_fix_without_tests_says_that_the_fourth_tree_is_the_third_ux_c9() -> None:
    view = STATES["take-away patch"][1]
    assert view.proof is not None and view.fix is not None
    rows = (*view.proof.rows[:3], replace(view.proof.rows[3], sha=view.proof.rows[1].sha))
    same = replace(view, fix=replace(view.fix, test_added=0), proof=replace(view.proof, rows=rows))
    assert "The fix changes no test, so the fourth tree is the same as this pull request." in render_comment(same)


def test_an_addendum_is_shown_whole_and_folded_when_long_ux_r2_ux_r3_ux_r4() -> None:
    view = STATES["plan repaired"][1]
    assert view.run is not None
    long = " ".join(f"word{n}" for n in range(250))
    text = render_comment(replace(view, run=replace(view.run, addendum=long)))
    assert "<summary>Added to the step's prompt by plan repair 1 of 2" in text
    assert " ".join(text.split("```text\n", 1)[1].split("\n```")[0].split()) == long
    assert all(len(line) <= 100 for line in text.split("```text\n", 1)[1].split("\n```")[0].split("\n"))
    empty = render_comment(replace(view, run=replace(view.run, addendum="")))
    assert "Nothing was added to the prompt; the same step is started again." in empty
    later = render_comment(replace(view, run=replace(view.run, repair_fresh=False, stage=view.run.stage)))
    assert (
        "| repair 1 | One note added to the prompt | – | – |" in later and "Added to the step's prompt by plan" in later
    )


def test_round_numbers_come_from_the_run_ux_c18() -> None:
    view = STATES["correcting"][1]
    assert view.run is not None
    text = render_comment(replace(view, run=replace(view.run, round=4, rounds=7)))
    assert "round 4 of 7" in text.split("\n")[2]


def test_one_step_of_many_is_named() -> None:
    view = STATES["fixing"][1]
    assert view.run is not None
    assert "step 2 of 3" in render_comment(replace(view, run=replace(view.run, step=2, steps=3)))


def test_a_branch_is_not_called_a_pull_request() -> None:
    """decisions.md, 70: a branch has no comment; its check speaks of the branch."""
    for name in ("stopped", "no runner", "measuring"):
        view = replace(STATES[name][1], scope_key="branch:main")
        body = render_check(view)
        assert "pull request" not in body.summary and project(view) is not None
