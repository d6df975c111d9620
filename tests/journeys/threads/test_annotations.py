"""Lines of the pull request's diff that a failure stands at are marked in the check, once (UX-L7, UX-K8, F-C4)."""

from collections.abc import Callable

import pytest

from app.github.tokens import Purpose
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, REPO

NEW = "tests/test_new.py::test_new"
LINES = "".join(f"# line {n}\n" for n in range(1, 20))
LOG = logs.many([(NEW, "assert 1 == 2"), (logs.PAGES, "assert 3 == 2")])


def _red(place: Place) -> int:
    """Two tests fail at line 9 of their files, one of which this pull request brings."""
    number = place.pull(files={"tests/test_new.py": LINES})
    place.fail(number, LOG)
    return number


def _marks(place: Place, number: int) -> list[tuple[str, int, str, str]]:
    check = place.check(number)
    s = place.world.services
    with s.connect(place.world.scope(number).installation_id) as github:
        client = github.acting(Purpose.READ, place.world.scope(number).repository_id)
        found = client.pages(f"/repos/{REPO}/check-runs/{check.id}/annotations")
    return [(one["path"], one["start_line"], one["title"], one["raw_details"]) for one in found]


MARK = ("tests/test_new.py", 9, "1 test fails here since this change", NEW)


def test_a_failure_inside_the_diff_is_marked_once_ux_l7(place: Place) -> None:
    number = _red(place)
    place.settle_to("diagnose")
    while place.world.step("deliver"):
        pass
    assert place.check(number).status == "in_progress" and _marks(place, number) == []

    place.settle()
    assert place.outcome(number) == "run_started"
    assert _marks(place, number) == [MARK]

    place.github.comment(AUTHOR, place.thread(number), "/remedy block")
    place.settle()
    place.github.comment(AUTHOR, place.thread(number), "/remedy resume")
    place.settle()
    assert _marks(place, number) == [MARK]


def test_marks_whose_answer_was_lost_are_not_sent_again(place: Place) -> None:
    number = _red(place)
    place.settle_to("diagnose")
    while place.world.step("deliver"):
        pass
    place.github.lost_answer("checks/update")
    place.settle()
    assert _marks(place, number) == [MARK]


@pytest.mark.parametrize(("policy", "green"), [("annotations: false\n", True), ("", False)])
def test_nothing_is_marked_without_the_key_or_for_another_cause_ux_k8(
    a_place: Callable[..., Place], policy: str, green: bool
) -> None:
    place = a_place(f"enabled: true\n{policy}", green=green)
    number = _red(place)
    place.settle()
    assert place.check(number) is not None and _marks(place, number) == []
