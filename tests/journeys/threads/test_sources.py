"""What stands beside a log: reports name what it hides, annotations give places, siblings stay apart (IN-1)."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from app.briefs.case import failures_shown, open_case
from app.ledger import diagnoses, events, runs, schema, turns
from app.ledger.rows import Row
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import MAINTAINER

JUNIT = """<testsuites><testsuite name="pytest" tests="3" failures="1">
<testcase classname="tests.test_cart" name="test_total" file="tests/test_cart.py" line="4">
<failure message="assert 30 == 25">tests/test_cart.py:5: AssertionError</failure></testcase>
<testcase classname="tests.test_cart" name="test_empty"/><testcase classname="tests.test_cart" name="test_one"/>
</testsuite></testsuites>"""
QUIET = "\n".join(
    f"{logs.STAMP}{line}" for line in ("python -m pytest > out.txt", "##[error]Process completed with exit code 1.")
)


def failing(place: Place, number: int) -> dict[str, Row]:
    """Failing tests of the newest diagnosis by name."""
    with place.world.services.read() as conn:
        told = diagnoses.last(conn, place.world.scope(number).id)
        assert told is not None
        return {row.test_id: row for row in diagnoses.failures_of(conn, told.id)}


def with_report(place: Place, number: int, log: str, **facts: Any) -> None:
    check = place.fail(number, log, **facts)
    place.github.upload(check, "reports", {"junit.xml": JUNIT})


def test_a_report_names_a_test_that_the_log_hides_in1(place: Place) -> None:
    number = place.pull()
    with_report(place, number, QUIET)
    place.settle_to("turn")

    (row,) = failing(place, number).values()
    assert "test_total" in row.test_id and row.error_head == "assert 30 == 25"
    assert (row.source, row.place_source, row.file) == ("report", "report", "tests/test_cart.py")


def test_a_report_is_not_laid_to_a_red_sibling_of_its_run(place: Place) -> None:
    place.base("success", name="other")
    number = place.pull()
    first = place.fail(number, logs.red())
    second = place.fail(number, logs.red([logs.OTHER]), name="other")
    for check in (first, second):
        place.github.upload(check, f"reports-{check.id}", {"junit.xml": JUNIT})
    if first.job.run is not second.job.run:
        second.job.run = first.job.run
        first.job.run.attempts[-1].append(second.job)
    place.settle()

    assert set(failing(place, number)) == {logs.PAGES, logs.OTHER}


def test_a_report_says_nothing_about_a_job_that_lost_its_machine(place: Place) -> None:
    number = place.pull()
    with_report(place, number, logs.broken_machine())
    place.settle()

    assert failing(place, number) == {}


def test_an_annotation_gives_the_place_that_the_log_lacks_in3(place: Place) -> None:
    number = place.pull()
    log = "".join(
        f"{logs.STAMP}{line}\n" for line in ("--- FAIL: TestTotal (0.00s)", "FAIL", "FAIL\texample.com/cart\t0.01s")
    )
    check = place.fail(number, log + f"{logs.STAMP}##[error]Process completed with exit code 1.\n")
    place.github.annotate(check, "cart/cart_test.go", 12, "TestTotal: got 30, want 25", "TestTotal")
    place.settle_to("turn")

    (row,) = failing(place, number).values()
    assert (row.source, row.place_source) == ("log", "annotation")
    assert (row.file, row.line) == ("cart/cart_test.go", 12)


def test_policy_wants_short_details_and_few_tests_it18_a5_a6(a_place: Callable[..., Place]) -> None:
    """The end of each detail is kept, on whole characters; ids, counts and the tag are those of all tests (IT-20)."""
    place = a_place("enabled: false\nmax_detail_chars: 33\nmax_failures: 2\n")
    tests = [f"tests/test_pages.py::test_{n}" for n in range(3)]
    number = place.red_pull(logs.red(tests, "assert total == 'é'"))
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy dry-run")
    place.settle()

    with place.world.services.read() as conn:
        told = conn.execute(select(schema.diagnoses)).one()
        kept = diagnoses.failures_of(conn, told.id)
    assert told.failures_total == len(kept) == 3
    for row in kept:
        assert len(row.detail_tail) <= 33 and row.detail_tail.endswith("test_pages.py:9: AssertionError")
    (answer,) = place.comments(number)
    assert "Fix 3 failing test(s)" in answer and "first 2" in answer
    assert "### 2. " in answer and "### 3. " not in answer


def test_what_fails_later_at_the_same_commit_joins_the_run_and_its_next_prompt_it29_a8_g8(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    (run,) = place.runs()
    place.fail(number, logs.red([logs.OTHER], "assert 9 == 8"), name="slow")
    place.settle()

    assert place.outcome(number) == "attached" and [one.id for one in place.runs()] == [run.id]
    with place.world.services.read() as conn:
        told = [event.kind.value for event in events.of_run(conn, run.id)]
        (turn,) = turns.of_run(conn, run.id)
        case = open_case(conn, turn.id, place.world.settings)
    assert told.count("run.evidence_added") == 1 and "issue.opened" in told
    assert [(one.test_id, one.since_later) for one in failures_shown(case)] == [(logs.PAGES, False), (logs.OTHER, True)]


def test_more_causes_than_steps_are_named_and_left_pl1(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nlimits: {steps: 2}\n")
    failing = [(f"tests/test_{n}.py::test_it", f"assert {n} == 'cause {n}'") for n in range(4)]
    number = place.red_pull(logs.many(failing))
    place.settle()

    (run,) = place.runs()
    with place.world.services.read() as conn:
        steps = [step.title for step in runs.steps_of(conn, run.id)]
        titles = [group.title for group in diagnoses.groups_of(conn, run.diagnosis_id)]
    assert len(titles) == 4 and steps == titles[:2], "one step for each of the first two causes"
    (comment,) = place.comments(number)
    assert "One run repairs 2 groups at most. Left for another one: " in comment
    assert all(f"`{title}`" in comment for title in titles[2:])
