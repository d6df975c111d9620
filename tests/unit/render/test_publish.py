"""What leaves with a fix: the patch to paste, commit message, pull request, issue, replies."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from app.render import (
    Closing,
    Commit,
    Denied,
    DryRun,
    Help,
    HelpRow,
    Mistake,
    Nothing,
    NotNow,
    Reopening,
    Unknown,
    links_of,
    nearest_verb,
    render_closing,
    render_comment,
    render_commit,
    render_doubled,
    render_dry_run,
    render_final_summary,
    render_hand_over,
    render_hand_over_done,
    render_issue,
    render_prompt,
    render_pull,
    render_reopening,
    render_reply,
)
from app.render.patch import take_away
from app.runs.model import Cause, Result
from app.runs.view import FixView, ScopeView, SeenRow
from tests.unit.prompts.rows import WORK
from tests.unit.render.views import AT_0914, FIXED, FLAKY, FOUND, HEAD, MINUTE, NEWER, OURS, STATES, TESTS, done

STACKED = STATES["stacked pull request"][1]
TAKE_AWAY = STATES["take-away patch"][1]
LINKS = links_of(STACKED)
CLOSING = re.compile(r"\b(clos|fix|resolv)(e|es|ed|ing)?\b:?\s+(\[|https?:|#\d|GH-\d)", re.IGNORECASE)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Dana", "-c", "user.email=dana@example.invalid", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def repository(folder: Path, before: str, after: str, name: str = "money.py") -> str:
    """A repository that holds `before`; returns the diff to `after`."""
    git(folder, "init", "-q", "-b", "main")
    (folder / name).write_text(before)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Begin")
    (folder / name).write_text(after)
    diff = git(folder, "diff")
    git(folder, "checkout", "-q", "--", ".")
    return diff


def with_diff(diff: str) -> ScopeView:
    return replace(TAKE_AWAY, fix=FixView(diff=diff, files=1, added=1, removed=1, subject="fix: round once"))


def test_the_block_pastes_into_a_shell_and_git_takes_it_ux_x4(tmp_path: Path) -> None:
    before = "def total(lines):\n\treturn sum(round(x, 2) for x in lines)\n# costs `$HOME` and ```ticks```\n"
    diff = repository(tmp_path, before, before.replace("sum(round(x, 2) for x in lines)", "round(sum(lines), 2)"))
    text = render_comment(with_diff(diff))
    (block,) = re.findall(r"^(`{3,})sh\n(.*?)\n\1$", text, re.DOTALL | re.MULTILINE)
    script = block[1].replace("git am", "git -c user.name=D -c user.email=d@example.invalid am")

    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True, capture_output=True)

    assert "\treturn round(sum(lines), 2)" in (tmp_path / "money.py").read_text()
    assert git(tmp_path, "log", "-1", "--format=%s").strip() == "fix: round once"


@pytest.mark.parametrize(
    "why,diff",
    [
        ("more than 100 lines", "--- a/a\n+++ b/a\n" + "+x\n" * 101),
        ("binary", "diff --git a/a b/a\nGIT binary patch\nliteral 3\nabc\n"),
        ("binary without content", "diff --git a/a b/a\nBinary files a/a and b/a differ\n"),
        ("the delimiter on a line", "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\nREMEDY_8F3K2Q\n"),
        ("an invisible character", "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+a\u202eb\n"),
        ("a very long line", "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+" + "x" * 5000 + "\n"),
        ("nothing", ""),
    ],
)
def test_a_patch_that_cannot_be_pasted_is_a_link_only_ux_x4(why: str, diff: str) -> None:
    view = with_diff(diff)
    assert take_away(view) is None
    text = render_comment(view)
    assert "<<'REMEDY" not in text and "/runs/8F3K2Q/fix.patch)" in text


def test_a_commit_has_a_conventional_subject_and_trailers_of_ours_a10_ux_x3() -> None:
    commit = Commit(
        "Fix: Round the invoice total once, after the sum.",
        "8F3K2Q",
        2,
        TESTS[:1],
        "Rounding every line made three times 0.125 add up to 0.39.",
        "billing",
        "dana",
        1234,
    )
    assert render_commit(commit) == (
        "fix(billing): round the invoice total once, after the sum\n\n"
        "Rounding every line made three times 0.125 add up to 0.39.\n\n"
        "Remedy-Run: 8F3K2Q\nRemedy-Round: 2\n"
        "Remedy-Tests: tests/test_invoice.py::test_total_rounds_half_even[EUR]\n"
        "Co-authored-by: dana <1234+dana@users.noreply.github.com>\n"
    )


def test_a_commit_without_a_summary_has_a_subject_all_the_same() -> None:
    assert render_commit(Commit("", "8F3K2Q", 1)).split("\n")[0] == "fix: repair the failing tests"
    long = render_commit(Commit("word " * 40, "8F3K2Q", 1)).split("\n")[0]
    assert len(long) <= 72 and long.endswith("…")
    assert render_commit(Commit("JSON keys are kept", "8F3K2Q", 1)).startswith("fix: JSON keys are kept\n")


def test_a_pull_request_says_what_was_wrong_and_how_to_refuse_it_a14() -> None:
    assert STACKED.run is not None and STACKED.proof is not None
    run = replace(STACKED.run, tag="e2e-fail-0a19abd5499b", agent="opencode with model-a", supervisor="model-b")
    title, body = render_pull(replace(STACKED, run=run, proof=replace(STACKED.proof, tree="88ab01fdd", ran=214)))

    assert title == "Fix 2 failing test(s) [e2e-fail-0a19abd5499b]"
    assert body.startswith("<!-- remedy:fix 8F3K2Q v1 -->\nRepairs 2 tests that fail in pull request 318.")
    assert "**What was wrong:** billing/money.py line 18 rounded every line" in body
    assert "the pushed tree is the proven tree (`tree 88ab01f`) · tests ran: 2 named, 214 besides." in body
    assert "Written by `opencode with model-a`; supervised by `model-b`." in body
    assert "Do not want it? Close this pull request" in body
    assert CLOSING.search(body) is None and "issue 321" in body and "issue 207" not in body, "A10"


def test_findings_are_not_denied_in_a_pull_request() -> None:
    assert STACKED.proof is not None
    _, body = render_pull(replace(STACKED, proof=replace(STACKED.proof, findings=(FOUND,))))
    assert "no test removed" not in body


def test_an_issue_names_all_tests_and_how_it_closes_itself_a9_ux_x2() -> None:
    seen = (
        SeenRow(AT_0914 + 38 * MINUTE, "PR 322", "pass in CI", FIXED),
        SeenRow(AT_0914, "PR 318", "fail 5 of 5, passes on base 5 of 5", HEAD, Cause.THIS_CHANGE),
    )
    title, body = render_issue(OURS, STACKED, seen, "5d1f2c")

    assert title.startswith("test_total_rounds_half_even fails: AssertionError") and len(title) <= 72
    assert body.startswith(
        "<!-- remedy:issue 5d1f2c v1 -->\n`test_total_rounds_half_even` fails with `AssertionError: "
    )
    assert all(f"`{test}`" in body for test in TESTS)
    assert "| First seen | 2026-11-30 09:14 UTC, `4be1d07` |" in body
    assert "| State | fix proposed in [pull request 322]" in body
    assert "| Run the tests | `pytest tests/test_invoice.py::test_total_rounds_half_even` |" in body
    assert body.index("2026-11-30 09:52") < body.index("2026-11-30 09:14 | `PR 318`"), "newest first"
    assert "It closes itself when CI of pull request 318 is green" in body
    assert CLOSING.search(body) is None


def test_an_issue_on_the_base_closes_after_three_passes_and_keeps_twenty_rows() -> None:
    seen = tuple(SeenRow(AT_0914 - n * MINUTE, "main", "fail", HEAD, Cause.KNOWN_FLAKY) for n in range(30))
    _, body = render_issue(FLAKY, STATES["flaky"][1], seen)
    assert "It closes itself after 3 passing runs on `main`." in body
    assert body.count("| `main` | `4be1d07` |") == 20


def test_an_issue_of_sixty_tests_shows_fifty_and_says_so_a6() -> None:
    many = replace(OURS, tests=tuple(f"a.py::test_{n}" for n in range(60)))
    _, body = render_issue(many, STACKED)
    assert "Tests in this group (60, first 50 shown)" in body and body.count("`a.py::test_") >= 50
    assert "`a.py::test_50`" not in body


def test_a_command_is_shown_only_for_plain_ids_pm_10() -> None:
    odd = replace(OURS, tests=("a.py::test_x; rm -rf ~",))
    assert "Run the tests" not in render_issue(odd, STACKED)[1]
    other = replace(OURS, framework="jest")
    assert "Run the tests" not in render_issue(other, STACKED)[1]


def test_an_issue_says_why_it_closes_and_opens_again() -> None:
    green = render_closing(Closing("pull_green", "main", 318, (FIXED,)), "k")
    assert green.endswith("Closed: CI of pull request 318 is green with `9d20c11`; the failure never reached `main`.\n")
    closed = render_closing(Closing("pull_closed", "main", 318), "k")
    assert "Closed: pull request 318 was closed;" in closed
    base = render_closing(Closing("base_green", "main", shas=(FIXED, NEWER, HEAD), tests=2), "k")
    assert "2 tests passed on `main` in 3 runs in a row (`9d20c11`, `b7718aa`, `4be1d07`)." in base
    again = render_reopening(Reopening(TESTS[0], "main", NEWER), LINKS, "k")
    assert "fails on `main` since `b7718aa` with the same error. [Run 8F3K2Q]" in again


VERBS = ("fix", "resume", "block", "status", "help", "dry-run")


def test_help_is_made_from_the_table_gh_48_ux_x1() -> None:
    rows = tuple(HelpRow(verb, "write access", f"what {verb} does") for verb in VERBS)
    text = render_reply(Help(rows, "/remedy resume amounts in JPY have no decimals", 318), LINKS, "c1")
    assert all(f"| `/remedy {verb}` | write access | what {verb} does |" in text for verb in VERBS)
    assert "Example: `/remedy resume amounts in JPY have no decimals`" in text
    assert "[Remedy check](https://github.com/acme/billing/pull/318/checks)" in text


def test_replies_say_what_was_done_and_what_works_cm_8_gh_47() -> None:
    said = {
        Unknown(
            "resum", VERBS, "resume"
        ): "Remedy does not know `resum`. Did you mean `/remedy resume`? It knows: fix,",
        Denied(
            "resume", "guest42"
        ): "`/remedy resume` needs write access to this repository; `guest42` has read access.",
        Denied("resume", "x", has="none"): "`x` has none. Ask a maintainer",
        Denied("fix", "x", why="GitHub answered 502"): "could not be asked (GitHub answered 502). Nothing was changed",
        Nothing("stopped", "dana", AT_0914): "Remedy is already stopped here, by `dana` at 09:14 UTC. `/remedy resume`",
        Nothing("running"): "a repair is already in progress, [Run 8F3K2Q]",
        Nothing("not_blocked"): "no run waits here. `/remedy fix` starts one.",
        Nothing("no_failures", sha=HEAD): "no failing test is known on `4be1d07`.",
        Nothing("nothing_to_cancel"): "there is no run to cancel here.",
        Nothing("finished"): "the run has ended already",
        NotNow("fix", "ci_running", HEAD): "`/remedy fix` was not started: CI is still running on `4be1d07`.",
        NotNow("fix", "ended", HEAD): "this commit (`4be1d07`) had its run already. Push, or say `/remedy retry`.",
        NotNow("fix", "not_ready", reason="No runner."): "was not started: No runner. Nothing was changed.",
        NotNow(
            "resume", "plan_changed", reason="s2 moved"
        ): "order, target or risk of a step may not change (s2 moved).",
        NotNow("resume", "hint_on_publish"): "a hint does not approve a publication.",
        NotNow("status", "off"): "was not done: Remedy is stopped here.",
        Mistake("7c1e90ab"): "nothing was changed. The people who run it can look up `delivery 7c1e90ab`.",
    }
    for reply, words in said.items():
        text = render_reply(reply, LINKS, "c1")
        assert words in text
        assert text.startswith("<!-- remedy:reply c1 v1 -->\n") and "@" not in text
        assert not re.search(r"^\s*/remedy", text, re.MULTILINE), "no live command"
        assert len(re.findall(r"[.?](?: |\n|$)", text.split("\n", 1)[1])) <= 4


def test_the_nearest_verb_is_offered() -> None:
    assert [nearest_verb(word, VERBS) for word in ("resum", "BLOK", "dryrun", "zzz", "")] == [
        "resume",
        "block",
        "dry-run",
        "",
        "",
    ]


def test_a_hand_over_mentions_a_real_login_only_ux_l8() -> None:
    view = STATES["blocked: verdict"][1]
    assert "@dana, Remedy could not finish this alone: the test expects 0.38" in render_hand_over(view, "dana", 1)
    assert "[What to do next](https://github.com/acme/billing/pull/318#issuecomment-1)" in render_hand_over(
        view, "dana", 1
    )
    assert "@" not in render_hand_over(view, "acme/core", 1)
    assert "The status comment tells what to do next." in render_hand_over(view, "dana")
    assert view.run is not None
    long = replace(view, run=replace(view.run, error="word " * 100))
    assert len(render_hand_over(long, "dana", 1).split("\n", 1)[1].strip()) <= 300


def test_a_hand_over_that_is_done_becomes_one_line() -> None:
    """decisions.md, 81."""
    assert (
        render_hand_over_done(STATES["correcting"][1]) == "<!-- remedy:handover 8F3K2Q v1 -->\nDone: the run goes on.\n"
    )
    assert render_doubled(STACKED) == "<!-- remedy:notice pr:318 v1 -->\nSee the status comment.\n"


def test_a_dry_run_shows_the_whole_prompt_a17_g2() -> None:
    prompt = render_prompt("agent_work", WORK)
    text = render_dry_run(DryRun("opencode", "Fix 1 failing test(s)", ("a", "tag"), (prompt,)), LINKS, "c1")
    assert "Nothing was called, no issue was opened, nothing was pushed." in text
    assert (
        f"<summary>Step 1. The prompt, {len(prompt.text.strip()):,} of {len(prompt.text.strip()):,} characters" in text
    )
    assert prompt.text.strip() in text
    assert "| Tags | `a`, `tag` |" in text


def test_a_dry_run_too_long_for_a_comment_is_cut_at_a_line_and_says_so_a17() -> None:
    prompt = replace(render_prompt("agent_work", WORK), text="line of a prompt\n" * 10_000)
    text = render_dry_run(DryRun("opencode", "t", (), (prompt, prompt)), LINKS, "c1")
    assert len(text.encode()) <= 60_000
    assert "of 169,999 characters" in text and "The whole prompt: [run page]" in text


@pytest.mark.parametrize("result", Result)
def test_the_last_words_without_a_model_say_the_result_vf_11_t49(result: Result) -> None:
    text = render_final_summary(replace(STACKED, run=done(result)))
    words = {
        Result.FIXED: "2 named tests pass in CI with the fix.",
        Result.FIXED_OTHER_RED: "CI is red for another reason",
        Result.NOT_FIXED: "CI still shows the named failure",
        Result.CI_UNKNOWN: "No CI ran",
        Result.HANDED_OVER: "handed over; nothing was pushed",
    }
    assert words[result] in text and len(text) <= 400
    assert "4 of 4 trees of the proof as expected. 2 files changed, +5 −1." in text
