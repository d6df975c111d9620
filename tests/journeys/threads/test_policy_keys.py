"""Keys of `.github/remedy.yml` that people see the effect of: when a repair starts, which labels an issue gets."""

from collections.abc import Callable

from app.ledger import runs
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.threads.shown import assert_as_agreed, shown
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


LINT = "listing/pages.py::FLAKE8"


def test_a_kind_that_repair_leaves_out_is_shown_and_waits_for_a_person(a_place: Callable[..., Place]) -> None:
    """decisions.md, 69: `/remedy fix` repairs every failing test of the scope."""
    place = a_place("enabled: true\n")
    number = place.red_pull(logs.red([LINT], "E501 line too long"))
    place.settle()

    assert place.outcome(number) == "not_ours" and place.runs() == []
    assert place.causes(number) == ["this_change"] and len(place.issues()) == 1
    assert_as_agreed("02-kind-not-repaired", shown(place, number))

    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix the long line")
    place.settle()
    assert place.outcome(number) == "run_started"
    assert "`repair`" not in place.comments(number)[0]


def test_repair_names_lint_and_no_tests(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nrepair: [lint]\n")
    number = place.red_pull(logs.many([(LINT, "E501 line too long"), (logs.PAGES, "assert 3 == 2")]))
    place.settle()

    assert place.outcome(number) == "run_started"
    (run,) = place.runs()
    with place.world.services.read() as conn:
        assert ["FLAKE8" in step.title for step in runs.steps_of(conn, run.id)] == [True]
    (comment,) = place.comments(number)
    assert "`repair` in `.github/remedy.yml` leaves out failing tests, so this run leaves alone: `" in comment


def test_no_cause_is_repaired_where_causes_is_empty(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\ncauses: []\n")
    number = place.red_pull()
    place.settle()
    assert place.outcome(number) == "not_ours" and place.runs() == []
    (comment,) = place.comments(number)
    assert "`causes` in `.github/remedy.yml` leaves out what a change breaks, so no repair starts by itself." in comment
    assert "not decided" not in comment and place.check(number).title == "Correct 1 failing test, or /remedy fix"


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
