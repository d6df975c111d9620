"""Forks, drafts, bots, branches, dry runs, the hand-over: who is asked, who is told, and how often."""

from collections.abc import Callable

import pytest

from app.ledger import transitions
from app.ledger.post import letters
from app.ledger.words import OutboxState
from app.runs.facts import TurnDone, Verdict
from app.runs.model import Decision
from tests.journeys.threads import logs
from tests.journeys.threads.place import FORK, Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO, STRANGER, TIMES


def test_a_fork_waits_for_a_maintainer_s_word_fk1(place: Place) -> None:
    number = place.fork_pull()
    place.fail(number)
    place.settle()

    assert place.outcome(number) == "needs_maintainer" and place.runs() == []
    check = place.check(number)
    assert (check.conclusion, check.title) == ("action_required", "A maintainer starts it: /remedy fix")
    assert "`/remedy fix` starts on this commit" in place.comments(number)[0]

    place.github.comment(STRANGER, place.thread(number), "/remedy fix")
    place.settle()
    assert place.runs() == []

    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    place.settle()
    (run,) = place.runs()
    assert run.started_by == MAINTAINER and run.head_sha == place.github.pull(place.thread(number)).head_sha


def test_a_push_to_the_fork_voids_the_word_fk1(place: Place) -> None:
    number = place.fork_pull()
    place.fail(number)
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    place.settle()

    place.github.push(STRANGER, FORK, "patch-1", {"feature.txt": "worse"})
    place.settle()
    (run,) = place.runs()
    assert (run.status.value, run.cancel_reason) == ("CANCELLED", "superseded")
    place.fail(number)
    place.settle()
    assert place.outcome(number) == "needs_maintainer" and len(place.runs()) == 1


def test_two_forks_with_one_branch_name_are_told_apart_w58(place: Place) -> None:
    first = place.fork_pull()
    place.github.fork("zoe", REPO)
    place.github.push("zoe", "zoe/listing", "patch-1", {"other.txt": "mine"})
    second = int(place.github.open_pull("zoe", REPO, "zoe:patch-1").thread.number)
    place.fail(second)
    place.settle()
    assert place.comments(first) == [] and len(place.comments(second)) == 1


@pytest.mark.parametrize(("policy", "told"), [("", False), ("drafts: true\n", True)])
def test_drafts_are_left_alone_unless_policy_says_so_it11_ux_n2(
    a_place: Callable[..., Place], policy: str, told: bool
) -> None:
    place = a_place(f"enabled: true\n{policy}")
    place.github.push(AUTHOR, REPO, "draft", {"d.txt": "d"})
    number = int(place.github.open_draft(AUTHOR, REPO, "draft").thread.number)
    place.fail(number)
    place.settle()
    assert bool(place.comments(number)) is told and (place.check(number) is not None) is told


@pytest.mark.parametrize("listed", [False, True])
def test_a_bot_s_pull_request_is_left_alone_unless_its_number_is_listed_w59_fk8(
    a_place: Callable[..., Place], listed: bool
) -> None:
    place = a_place()
    bot = place.github.user("updater[bot]")
    place.github.collaborator(REPO, "updater[bot]", "write")
    number_of = bot.id if listed else bot.id + 1
    text = f'enabled: true\nallowed_bots: [{{login: "updater[bot]", id: {number_of}}}]\n'
    place.github.push(MAINTAINER, REPO, "main", {".github/remedy.yml": text})
    place.base("success")
    number = place.red_pull(user="updater[bot]")
    place.settle()
    assert bool(place.comments(number)) is listed


@pytest.mark.parametrize(("policy", "known"), [("", False), ("branches: [main]\n", True)])
def test_a_branch_counts_where_policy_lists_it_and_gets_no_comment_it10_row70(
    a_place: Callable[..., Place], policy: str, known: bool
) -> None:
    place = a_place(f"enabled: true\n{policy}")
    place.github.push(MAINTAINER, REPO, "main", {"bad.txt": "bad"})
    place.base("failure", logs.red())
    place.settle()

    checks = [run for run in place.github.checks(REPO, "main") if run.app.id == place.github.app.id]
    assert bool(checks) is known and bool(place.issues()) is known
    assert bool(place.runs()) is known
    if known:
        assert place.scope_of(place.runs()[0]).key == "branch:main"


def test_a_command_on_our_issue_goes_to_its_run_or_starts_one_on_the_default_branch_row70_w97(
    a_place: Callable[..., Place],
) -> None:
    place = a_place(green=False)
    place.base("failure", logs.red())
    place.red_pull()
    place.settle()
    (issue,) = place.issues()

    place.github.comment(MAINTAINER, f"{REPO}#{issue.number}", "/remedy fix")
    place.settle()
    (run,) = place.runs()
    assert place.scope_of(run).key == "branch:main"

    place.github.comment(MAINTAINER, f"{REPO}#{issue.number}", "/remedy block for now")
    place.github.comment(MAINTAINER, f"{REPO}#{issue.number}", "/remedy help")
    place.settle()
    assert place.runs()[0].status.value == "BLOCKED"
    assert "| `/remedy fix` |" in issue.comments[-1].body


def test_an_issue_of_somebody_else_is_no_place_for_commands_w97(place: Place) -> None:
    issue = place.github.open_issue(MAINTAINER, REPO, "Something else")
    said = place.github.comment(MAINTAINER, f"{REPO}#{issue.number}", "/remedy help")
    place.settle()
    assert said.reactions == [] and len(issue.comments) == 1


def test_in_a_silent_repository_a_maintainer_s_word_works_and_a_stranger_s_meets_silence_it8_ux_n4(
    a_place: Callable[..., Place],
) -> None:
    place = a_place(None)
    number = place.red_pull()
    asked = place.github.comment(STRANGER, place.thread(number), "/remedy fix")
    place.settle()
    assert asked.reactions == [] and place.comments(number) == [] and place.runs() == []

    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    place.settle()
    assert place.world.run_of(number) is not None and len(place.comments(number)) == 1


def test_a_dry_run_shows_the_prompt_and_starts_nothing_a17_ob9(place: Place) -> None:
    number = place.pull()
    place.github.push(MAINTAINER, REPO, "main", {".github/remedy.yml": "enabled: false\ntags: ' a, ,b '\n"})
    place.fail(number)
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy dry-run")
    place.settle()

    (answer,) = place.comments(number)
    assert "**Dry run.** Nothing was called" in answer and "test_last_page_is_full" in answer
    assert "Fix 1 failing test(s) [e2e-fail-" in answer and "| Tags | `a`, `b`, `e2e-fail-" in answer
    assert place.runs() == [] and place.issues() == [] and place.check(number) is None
    with place.world.services.read() as conn:
        would = letters(conn, (OutboxState.DROPPED,), 10, simulated=True)
    assert {one["kind"] for one in would} == {"upsert_check", "upsert_comment", "open_issue"}, "OB-9"


def test_a_dry_run_without_a_failure_says_so(place: Place) -> None:
    number = place.pull()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy dry-run")
    place.settle()
    assert "no failing test is known" in place.comments(number)[-1]


WORKFLOW = "name: CI\non: pull_request\njobs:\n  slow:\n    name: slow\n    steps:\n      - run: exit 0\n"


def test_the_first_comment_is_the_diagnosis_or_comes_after_two_minutes_ux_1(a_place: Callable[..., Place]) -> None:
    """A job of the same commit that never ends holds the diagnosis back."""
    place = a_place(times={**TIMES, "siblings_s": 600})
    place.github.push(MAINTAINER, REPO, "main", {".github/workflows/ci.yml": WORKFLOW})
    number = place.red_pull()
    assert place.github.queued_jobs() == ["slow"]
    _step(place, 60)
    assert place.comments(number) == [] and place.check(number).status == "in_progress"
    _step(place, 130)
    (comment,) = place.comments(number)
    assert "Nothing for you to do yet." in comment or "Nothing for you to do." in comment
    assert place.check(number).title.startswith("Reading ")


def test_nothing_is_said_after_the_pull_request_closed_ob8_w79(place: Place) -> None:
    number = place.red_pull()
    place.github.hook_fault("miss", event="pull_request")
    place.github.close(AUTHOR, place.thread(number))
    place.settle()
    assert place.comments(number) == []


def _stop_for_a_person(place: Place, number: int) -> None:
    """The supervisor blocks the plan; no agent is needed for that."""
    run = place.world.run_of(number)
    assert run is not None
    said = TurnDone(run.active_id, Verdict(Decision.BLOCK, "The plan contradicts itself", {}), "")
    s = place.world.services
    with s.write() as conn:
        transitions.apply(conn, run.id, said, s.settings, s.clock())


def test_one_hand_over_for_a_run_with_one_mention_edited_when_done_ux_n1_ux_l8(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    _stop_for_a_person(place, number)
    place.settle()

    status, reply = place.comments(number)
    assert f"@{AUTHOR}" in reply and reply.count("@") == 1 and "@" not in status
    assert len(reply.split("\n", 1)[1]) <= 300 and "#issuecomment-" in reply

    place.github.comment(MAINTAINER, place.thread(number), "/remedy resume mind the empty list")
    place.settle()
    assert place.comments(number)[1].rstrip().endswith("Done: the run goes on.")

    _stop_for_a_person(place, number)
    place.settle()
    assert len(place.comments(number)) == 2


@pytest.mark.parametrize("wish", ["hand_over: false\n", "comment: never\nhand_over: false\n"])
def test_policy_can_switch_the_hand_over_off_ux_n5(a_place: Callable[..., Place], wish: str) -> None:
    place = a_place(f"enabled: true\n{wish}")
    number = place.red_pull()
    place.settle()
    _stop_for_a_person(place, number)
    place.settle()
    assert not any("remedy:handover" in body for body in place.comments(number))


def _step(place: Place, until_s: float) -> None:
    """Let time pass in small steps, running what is ready, until this long after the start."""
    place.github.settle()
    start = place.world.now()
    while place.world.now() - start < until_s * 1000:
        job = next((one for one in place.world.ready() if one[0] not in ("turn", "prove")), None)
        if job is None:
            place.world.pass_time(2)
        else:
            place.world.run(*job)
