"""The whole life of an issue: linked, rows, closed by evidence, opened again; never two (IT-27, IT-28, W11 to W18)."""

from collections.abc import Callable

import pytest

from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO

DAY_S = 24 * 3600


def _green(place: Place, number: int) -> None:
    place.github.report_job(place.thread(number), name="unit", conclusion="success", log="")
    place.settle()


def test_it_closes_when_its_pull_request_is_green_and_opens_again_when_the_failure_comes_back_it28(
    place: Place,
) -> None:
    """The issue is the ticket of its tests: two runs of one failure, one ticket (G24)."""
    number = place.red_pull()
    place.settle()
    (issue,) = place.issues()
    place.github.push(AUTHOR, REPO, "feature", {"feature.txt": "better"})
    _green(place, number)
    assert issue.state == "closed" and issue.state_reason == "completed"
    assert "CI of pull request 1 is green" in issue.comments[-1].body

    later = place.red_pull(branch="later")
    place.settle()
    assert issue.state == "open" and len(place.issues()) == 1
    assert f"fails in pull request {later} since" in issue.comments[-1].body
    assert issue.body.count("| `PR ") == 2, "each sighting is a row"


def test_after_thirty_days_a_failure_that_comes_back_is_a_new_issue_it28(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    place.github.push(AUTHOR, REPO, "feature", {"feature.txt": "better"})
    _green(place, number)
    place.world.pass_time(31 * DAY_S)
    place.red_pull(branch="later")
    place.settle()
    assert [issue.state for issue in sorted(place.issues(), key=lambda one: one.number)] == ["closed", "open"]


def test_another_error_of_the_same_test_is_another_issue_and_a_title_tells_nothing_w16(place: Place) -> None:
    place.red_pull(logs.red(error="assert 3 == 2"))
    place.settle()
    (first,) = place.issues()
    place.github.edit(MAINTAINER, first, title="pages are wrong")
    place.red_pull(logs.red(error="assert 3 == 2"), branch="same")
    place.red_pull(logs.red(error="KeyError: 'size'"), branch="other")
    place.settle()
    assert len(place.issues()) == 2, "a renamed issue is found, another failure is another one"
    assert first.title == "pages are wrong", "a person's title stays"


def test_a_stranger_s_marker_is_no_issue_of_ours_w15(place: Place) -> None:
    place.red_pull()
    place.settle()
    (ours,) = place.issues()
    copy = place.github.open_issue("eve", REPO, ours.title, ours.body)
    place.github.close(AUTHOR, place.thread(1))
    place.settle()
    assert (ours.state, copy.state) == ("closed", "open")


@pytest.mark.long
@pytest.mark.parametrize("status", [500, 502])
def test_one_issue_for_five_pull_requests_whatever_github_answers_w11_w13(
    a_place: Callable[..., Place], status: int
) -> None:
    """The lists fail, the first answers are lost, every delivery comes twice and in any order."""
    place = a_place()
    numbers = [place.pull(f"branch-{n}") for n in range(5)]
    place.settle()
    place.github.shuffle_hooks(11)
    place.github.hook_fault("duplicate", event="check_run", times=None)
    place.github.lost_answer("issues/create")
    place.github.fault(op="issues/list-for-repo", status=status, times=6, optional=True)
    for number in numbers:
        place.fail(number)
    place.settle(3000)
    (issue,) = place.issues()
    assert issue.body.count("| `PR ") == 5
    assert all(f"[issue {issue.number}]" in place.comments(number)[0] for number in numbers)


def test_a_read_that_fails_for_good_opens_nothing_it27(place: Place) -> None:
    """A failed search is "unknown", never "none"."""
    number = place.pull()
    place.settle()
    fault = place.github.fault(op="issues/list-for-repo", status=500, times=None)
    place.fail(number)
    for _ in range(60):
        place.github.settle()
        job = next((one for one in place.world.ready() if one[0] not in ("turn", "prove")), None)
        place.world.run(*job) if job else place.world.pass_time(20)
    assert place.github.log("issues/create") == []
    place.github.lift(fault)
    place.settle()
    assert len(place.issues()) == 1 and len(place.github.log("issues/create")) == 1
