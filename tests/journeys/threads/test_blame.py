"""Whose fault: the base, the past and the machine are looked at before an agent starts (IT-22 to IT-26)."""

from collections.abc import Callable

from app.ledger import issues
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO


def test_a_red_base_is_one_incident_for_many_pull_requests_it25_it34_i5(a_place: Callable[..., Place]) -> None:
    """IT-34: nothing to repair here, so each gets one comment and one check, and no run."""
    place = a_place(green=False)
    place.base("failure", logs.red())
    numbers = [place.red_pull(branch=f"branch-{n}") for n in range(3)]
    place.settle()

    (issue,) = place.issues()
    for number in numbers:
        assert place.outcome(number) == "not_ours" and place.causes(number) == ["base_red"]
        check = place.check(number)
        assert (check.conclusion, check.title) == ("neutral", "Already failing on main: 1 test")
        (comment,) = place.comments(number)
        assert f"[issue {issue.number}]" in comment and "already red on `main`" in comment
        assert "Nothing for you to do." in comment
    assert "2 other pull requests show the same failure." in place.comments(numbers[-1])[0]
    assert place.runs() == []


def test_policy_may_have_the_base_repaired_once_for_everybody_it25(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\ncauses: [this_change, base_red]\n", green=False)
    place.base("failure", logs.red())
    numbers = [place.red_pull(branch=f"branch-{n}") for n in range(3)]
    place.settle()

    assert [place.world.run_of(number) for number in numbers] == [None] * 3
    (run,) = place.runs()
    assert place.scope_of(run).key == "branch:main"
    assert len(place.issues()) == 1


def test_a_person_has_a_red_base_repaired_here_too_row69(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    place.base("failure", logs.red())
    number = place.red_pull()
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix main is frozen")
    place.settle()

    run = place.world.run_of(number)
    assert run is not None and run.started_by == MAINTAINER and run.started_reason == "main is frozen"
    assert place.causes(number) == ["base_red"]


def test_an_issue_of_the_base_closes_after_three_green_runs_there_it28(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    place.base("failure", logs.red())
    number = place.red_pull()
    place.settle()
    for n in range(3):
        assert place.issues()[0].state == "open"
        place.github.push(MAINTAINER, REPO, "main", {"fix.txt": str(n)})
        place.base("success")
        place.settle()

    (issue,) = place.issues()
    assert issue.state == "closed"
    assert "passed on `main` in 3 runs in a row" in issue.comments[-1].body
    assert len(place.comments(number)) == 1


def test_a_failure_that_the_base_has_left_behind_is_a_stale_base_it26(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    place.base("failure", logs.red())
    number = place.pull()
    place.github.push(MAINTAINER, REPO, "main", {"fix.txt": "fixed"})
    place.base("success")
    place.fail(number)
    place.settle()

    assert place.causes(number) == ["stale_base"] and place.outcome(number) == "stale_base"
    check = place.check(number)
    assert (check.conclusion, check.title) == ("action_required", "Branch is behind main: update it")
    assert place.issues() == []


def test_another_failure_of_the_base_excuses_nothing_bl5(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    place.base("failure", logs.red(error="KeyError: 'size'"))
    number = place.red_pull()
    place.settle()
    assert place.causes(number) == ["not_decided"]
    assert "cause not decided" in place.comments(number)[0]


def test_the_log_of_a_red_base_is_read_once(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    base = place.base("failure", logs.red())
    for n in range(4):
        place.red_pull(branch=f"branch-{n}")
    place.settle()
    (job,) = (job for job in place.github.world.state.jobs.values() if job.check.id == base.id)
    asked = [one for one in place.github.log("actions/download-job-logs-for-workflow-run") if str(job.id) in one.path]
    assert len(asked) == 1


def test_a_test_that_flaked_on_two_commits_is_known_flaky_it24(place: Place) -> None:
    for n in range(2):
        number = place.red_pull(branch=f"flake-{n}")
        place.settle()
        place.github.report_job(place.thread(number), name="unit", conclusion="success", log="")
        place.settle()
    number = place.red_pull(branch="late")
    place.settle()

    assert place.causes(number) == ["known_flaky"]
    assert "failed and passed on 2 commits, 2 of " in place.comments(number)[0]
    assert place.check(number).title == "1 flaky test, not caused by this change"


def test_where_every_test_fails_in_its_set_up_nobody_is_sent_to_work_G25(place: Place) -> None:
    place.base("success")
    number = place.red_pull(logs.broken_set_up())
    place.settle()

    assert place.causes(number) == ["infrastructure"]
    assert place.world.run_of(number) is None and place.issues() == []
    (comment,) = place.comments(number)
    assert "the CI machine failed, and 2 tests with it" in comment
    assert "| `unit` | infrastructure | every test failed in set-up, before it began |" in comment
    assert "say `/remedy fix` and give the reason" in comment
    assert place.check(number).title == "CI machine failed, and 2 tests with it"


def test_a_broken_machine_is_nobody_s_fault_it23(place: Place) -> None:
    number = place.red_pull(logs.broken_machine())
    place.settle()

    assert place.outcome(number) == "infrastructure" and place.issues() == []
    assert (place.check(number).conclusion, place.check(number).title) == (
        "neutral",
        "CI machine failed, no test failed",
    )
    (comment,) = place.comments(number)
    assert "**Your turn:** run the job `unit` again" in comment
    assert "The runner has received a shutdown signal" in comment


def test_where_it_may_the_failed_jobs_run_again_once_and_nothing_is_said_bl9(place: Place) -> None:
    place.github.grant(REPO, "actions", "write")
    number = place.red_pull(logs.broken_machine())
    place.settle()

    assert place.github.queued_jobs() == ["unit"]
    assert place.comments(number) == []
    assert "The job was started once more." in place.check(number).summary

    place.github.run_ci()
    place.settle()
    assert place.outcome(number) == "nothing_failed" and place.comments(number) == []
    assert len(place.github.log("actions/re-run-workflow-failed-jobs")) == 1


def test_policy_can_forbid_the_second_attempt(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nrerun_first: false\n")
    place.github.grant(REPO, "actions", "write")
    number = place.red_pull(logs.broken_machine())
    place.settle()
    assert place.github.queued_jobs() == [] and len(place.comments(number)) == 1


def test_issues_are_shared_by_tests_and_closed_with_their_pull_request_a9_w17(place: Place) -> None:
    numbers = [place.red_pull(branch=f"branch-{n}") for n in range(2)]
    place.settle()
    (issue,) = place.issues()
    assert issue.body.count("| `PR ") == 2

    place.github.close(AUTHOR, place.thread(numbers[0]))
    place.settle()
    assert issue.state == "open"
    place.github.close(AUTHOR, place.thread(numbers[1]))
    place.settle()
    assert issue.state == "closed"


def test_a_red_base_is_told_with_the_commit_and_when_it_was_first_seen_state_03(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    first = place.base("failure", logs.red()).head_sha[:7]
    numbers = [place.red_pull(branch="early")]
    place.settle()
    place.github.push(MAINTAINER, REPO, "main", {"more.txt": "more"})
    tip = place.base("failure", logs.red()).head_sha[:7]
    numbers.append(place.red_pull(branch="late"))
    place.settle()

    early, late = [place.comments(number)[0] for number in numbers]
    assert f"tip of the base branch (`{first}`) |" in early and "First seen" not in early
    assert f"tip of the base branch (`{tip}`) |" in late and f"First seen on `main` at `{first}`, 2" in late
    assert f"as well, first seen there at `{first}`." in place.check(numbers[1]).summary


def test_a_red_base_that_was_green_between_is_first_seen_anew(a_place: Callable[..., Place]) -> None:
    """The issue was closed and opened again: what was seen before is another failure of the base."""
    place = a_place(green=False)
    place.base("failure", logs.red())
    place.red_pull(branch="early")
    place.settle()
    s = place.world.services
    with s.write() as conn:
        (issue,) = issues.open_of_repository(conn, place.world.scope(1).repository_id)
        assert issues.close(conn, issue.id, "green", s.clock())
    place.world.pass_time(60)
    number = place.red_pull(branch="late")
    place.settle()
    (comment,) = place.comments(number)
    assert "already failing on `main`" in comment and "First seen" not in comment
