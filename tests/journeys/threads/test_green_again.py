"""Once green, nothing of ours goes on telling of red or asks anybody for anything (IT-28, IT-35, HM-3, UX-C3)."""

from typing import Any

import pytest

from app.ledger import repos
from app.runs.projection import State
from tests.demo import shop
from tests.journeys.threads import logs
from tests.journeys.threads.place import FORK, Place
from tests.journeys.threads.shown import assert_as_agreed, shown
from tests.journeys.threads.test_states_of_runs import RIGHT, Make, state_of, walk
from tests.journeys.world import AUTHOR, MAINTAINER, REPO, STRANGER

OVER = "**Nothing for you to do.** The check that failed is green now."


def is_green(place: Place, number: int, name: str = "unit") -> None:
    """This job passes on the head of the pull request, and Remedy hears of it."""
    place.github.report_job(place.thread(number), name=name, conclusion="success", log="")
    place.settle()


def runs_again(place: Place, check: Any) -> None:
    """The author has the failed job run once more on the same commit, and it passes."""
    place.github.rerequest(AUTHOR, check)
    place.github.run_ci()
    place.settle()


def better(place: Place, branch: str = "feature") -> None:
    """The author pushes a commit of her own."""
    place.github.push(AUTHOR, REPO, branch, {"better.txt": "better"})
    place.settle()


def test_a_machine_that_works_again_leaves_nothing_to_do(place: Place) -> None:
    number = place.pull()
    job = place.fail(number, logs.broken_machine())
    place.settle()
    assert "**Your turn:** run the job `unit` again" in place.comments(number)[0]

    runs_again(place, job)
    (comment,) = place.comments(number)
    assert "nothing fails any more" in comment and OVER in comment
    check = place.check(number)
    assert (check.status, check.conclusion, check.title) == ("completed", "neutral", "Nothing fails any more")


def test_a_better_commit_of_the_author_ends_what_was_said_and_its_issue_it28(a_place: Make) -> None:
    place = a_place(green=False)
    number = place.red_pull()
    place.settle()
    assert place.causes(number) == ["not_decided"] and [issue.state for issue in place.issues()] == ["open"]

    better(place)
    is_green(place, number)
    (comment,) = place.comments(number)
    assert OVER in comment and place.check(number) is None
    assert [issue.state for issue in place.issues()] == ["closed"]


def test_a_job_that_did_not_run_again_is_not_green(a_place: Make) -> None:
    """Another job passes at the new head: of the one that failed nothing is known."""
    place = a_place(green=False)
    number = place.red_pull()
    place.settle()
    before = place.comments(number)
    better(place)
    is_green(place, number, name="docs")
    assert place.comments(number) == before and [issue.state for issue in place.issues()] == ["open"]

    is_green(place, number)
    assert OVER in place.comments(number)[0]


def test_green_that_is_heard_of_before_its_commit_counts_as_well(a_place: Make) -> None:
    place = a_place(green=False)
    number = place.red_pull()
    place.settle()
    place.github.hook_fault("delay", event="pull_request", by=99)
    place.github.push(AUTHOR, REPO, "feature", {"better.txt": "better"})
    is_green(place, number)
    place.world.pass_time(60)
    place.settle()
    assert OVER in place.comments(number)[0]


def test_red_again_on_the_same_commit_is_told_again(place: Place) -> None:
    number = place.pull()
    job = place.fail(number, logs.broken_machine())
    place.settle()
    runs_again(place, job)
    assert OVER in place.comments(number)[0]
    place.fail(number, logs.broken_machine())
    place.settle()
    assert "**Your turn:** run the job `unit` again" in place.comments(number)[0]


def test_a_mistake_in_the_policy_stays_one(a_place: Make) -> None:
    place = a_place("enabled: true\nmax_failures: many\n")
    number = place.red_pull()
    place.settle()
    before = place.comments(number)
    is_green(place, number)
    assert "its configuration has a mistake" in before[0] and place.comments(number) == before


def test_a_person_who_sent_remedy_off_hears_nothing_more(a_place: Make) -> None:
    place = a_place(green=False)
    number = place.red_pull()
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy block it is rewritten")
    place.settle()
    better(place)
    is_green(place, number)
    assert "stopped by `mo`" in place.comments(number)[0]


@pytest.mark.timeout(300)
def test_a_patch_that_its_author_took_is_done_it35(a_red_place: Make) -> None:
    """State 15 becomes 16: nobody is asked to take it a second time."""
    place, number = a_red_place({"agent": [RIGHT]}, fork=True), 1
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    walk(place, {}, State.TAKE_AWAY)

    find, replace = shop.SECOND_TRY[0][1:]
    fixed = shop.BROKEN.replace(find, replace)
    place.github.push(STRANGER, FORK, "patch-1", {"listing/pages.py": fixed})
    is_green(place, number)
    assert state_of(place) is State.COMPLETED
    check = place.check(number)
    assert (check.conclusion, check.title) == ("success", "Fixed: 1 test passes, CI is green")
    assert [issue.state for issue in place.issues()] == ["closed"]
    assert_as_agreed("run-16-patch-taken", shown(place, number))


@pytest.mark.timeout(300)
def test_a_fix_by_hand_makes_the_stacked_one_needless_it35(a_red_place: Make) -> None:
    """The pull request of the fix waits still; nobody is asked to merge it any more."""
    place = a_red_place({"agent": [RIGHT]})
    walk(place, {}, State.PUBLISHED)
    (fix,) = [pull for pull in place.github.pulls(REPO) if pull.thread.number != 1]
    place.github.report_job(place.thread(fix.thread.number), name="unit", conclusion="success", log="")
    walk(place, {}, State.STACKED_PULL)

    find, replace = shop.SECOND_TRY[0][1:]
    place.github.push(AUTHOR, REPO, "feature", {"listing/pages.py": shop.BROKEN.replace(find, replace) + "\n"})
    is_green(place, 1)
    assert place.check(1).conclusion == "success" and "**Nothing for you to do.**" in place.comments(1)[0]
    told = shown(place, 1)
    assert_as_agreed("run-16-by-hand", told)

    job = place.fail(1, logs.broken_machine(), name="lint")
    place.settle()
    assert place.check(1).title == "CI machine failed, no test failed"
    runs_again(place, job)
    assert shown(place, 1) == told


def test_a_commit_that_turns_red_again_is_not_taken_for_repaired(a_place: Make) -> None:
    """What was known of its green ends with the next red check, so that no later fix counts as being in it."""
    place = a_place()
    number = place.red_pull()
    place.settle()
    with place.world.services.write() as conn:
        scope = place.world.scope(number)
        repos.set_green(conn, scope.id, scope.head_sha)
    place.fail(number, name="again")
    place.settle()
    assert place.world.scope(number).green_sha is None
