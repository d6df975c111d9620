"""The buttons of the check: what a press does, what the check says about it, and the branch that is only behind."""

from collections.abc import Callable

from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO, STRANGER


def _behind(place: Place, files: dict[str, str] | None = None) -> int:
    """A pull request that is red only because its branch is behind."""
    place.base("failure", logs.red())
    number = place.pull(files=files)
    place.github.push(MAINTAINER, REPO, "main", {"fix.txt": "fixed"})
    place.base("success")
    place.fail(number)
    place.settle()
    return number


def test_a_refused_press_is_said_in_the_check_and_changes_nothing_cm11_ux_k7(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    before = place.runs()
    place.github.click(STRANGER, place.check(number), "block")
    place.settle()

    assert place.runs() == before
    assert "`eve` pressed Block: that needs write access to this repository. Nothing was" in place.check(number).summary
    assert len(place.comments(number)) == 1

    place.github.click(MAINTAINER, place.check(number), "block")
    place.settle()
    assert place.check(number).title == "Stopped by mo" and "eve" not in place.check(number).summary


def test_a_press_is_seen_at_once_with_who_pressed_ux_k7(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    place.base("failure", logs.red())
    number = place.red_pull()
    place.settle()
    place.github.click(MAINTAINER, place.check(number), "fix")
    place.world.step("intake")
    place.settle_to("deliver")
    place.world.step("deliver")

    check = place.check(number)
    assert check.status == "in_progress" and "Started by `mo`." in check.summary


def test_a_branch_that_is_behind_is_updated_at_a_word_once_it26_w22(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    number = _behind(place)
    (action,) = place.check(number).actions
    assert action["description"] == "Update the branch from main"
    old = place.github.pull(place.thread(number)).head_sha

    place.github.click(MAINTAINER, place.check(number), "resume")
    place.github.comment(MAINTAINER, place.thread(number), "/remedy resume")
    place.settle()

    head = place.github.pull(place.thread(number)).head_sha
    assert head != old and place.github.read_file(REPO, "fix.txt", "feature") == "fixed"
    assert len(place.github.log("pulls/update-branch")) == 1 and place.runs() == []

    assert "was asked to update this branch already" in place.comments(number)[1]

    place.github.report_job(place.thread(number), name="unit", conclusion="success", log="")
    place.settle()
    assert len(place.comments(number)) == 2


def test_a_branch_that_github_cannot_update_is_said_with_the_reason(a_place: Callable[..., Place]) -> None:
    place = a_place(green=False)
    number = _behind(place, {"fix.txt": "mine"})
    place.github.comment(MAINTAINER, place.thread(number), "/remedy resume")
    place.settle()
    assert "GitHub could not update the branch: merge conflict between base and head" in place.comments(number)[0]
    place.github.comment(MAINTAINER, place.thread(number), "/remedy resume")
    place.settle()
    assert "Update it by hand" in place.comments(number)[1] and place.runs() == []

    place.github.push(AUTHOR, REPO, "feature", {"feature.txt": "rebased by hand"})
    place.fail(number)
    place.settle()
    assert "could not update" not in place.comments(number)[0]
