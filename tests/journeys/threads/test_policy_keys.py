"""Keys of `.github/remedy.yml` that people see the effect of: when a repair starts, which labels an issue gets."""

from collections.abc import Callable

from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO


def test_repair_on_waits_for_the_second_sighting_w30(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nrepair_on: 2\n")
    number = place.red_pull()
    place.settle()

    assert place.outcome(number) == "not_ours" and place.runs() == []
    check = place.check(number)
    assert (check.conclusion, check.title) == ("neutral", "Seen 1 of 2 times, not repaired yet")
    (comment,) = place.comments(number)
    assert "**Nothing for you to do yet.**" in comment and "`/remedy fix`" in comment
    assert len(place.issues()) == 1

    place.github.push(AUTHOR, REPO, "feature", {"feature.txt": "again"})
    place.fail(number)
    place.settle()
    assert place.outcome(number) == "run_started"


def test_a_person_need_not_wait_for_the_second_sighting(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nrepair_on: 3\n")
    number = place.red_pull()
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    place.settle()
    assert place.outcome(number) == "run_started"


def test_tags_are_the_labels_of_an_issue_with_the_tag_of_its_tests_last_a15(a_place: Callable[..., Place]) -> None:
    place = a_place('enabled: true\ntags: " a, ,b "\n')
    place.red_pull()
    place.settle()
    (issue,) = place.issues()
    names = [label.name for label in issue.labels]
    assert names[:2] == ["a", "b"] and names[2].startswith("e2e-fail-") and len(names) == 3


def test_without_tags_nothing_gets_a_label_ux_n2(place: Place) -> None:
    number = place.red_pull(logs.red())
    place.settle()
    assert [issue.labels for issue in place.issues()] == [[]]
    assert place.github.pull(place.thread(number)).thread.labels == []
