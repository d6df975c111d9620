"""Ids of logs and of reports (proof.md, 4.4), the census (4.3) and repeats (6)."""

import pytest

from app.workspace.grid.census import compare, suspects
from app.workspace.grid.repeats import excluded_rate, failure_rate, runs_needed
from app.workspace.tests.frameworks.model import Row
from app.workspace.tests.match import Moves, match
from app.workspace.tests.model import Outcome
from app.workspace.tests.suite import SuiteRun


def run(**rows: Outcome) -> SuiteRun:
    return SuiteRun(tuple(Row(name, outcome) for name, outcome in rows.items()))


def of(*rows: tuple[str, Outcome]) -> SuiteRun:
    return SuiteRun(tuple(Row(name, outcome) for name, outcome in rows))


@pytest.mark.parametrize(
    ("test", "row"),
    [
        ("tests/test_a.py::test_a", "tests/test_a.py::test_a"),
        ("tests/test_a.py::A::test_a", "tests.test_a.A.test_a"),
        ("TestRoman#test_x", "TestRoman#test_x"),
        ("encodes_runs", "tests::encodes_runs"),
        ("lib/a.test.js > q > x", "lib/a.test.js > q > x"),
        ("tests/test_a.py::test_a", "tests/test_a.py::test_a[1-2]"),
    ],
)
def test_one_test_in_two_spellings(test: str, row: str) -> None:
    assert [found.id for found in match(test, of((row, "passed"), ("other", "failed"))).rows] == [row]


def test_two_candidates_at_a_tail_are_none() -> None:
    assert not match("runs", of(("a::runs", "passed"), ("b::runs", "failed"))).rows


def test_a_renamed_file_and_a_renamed_unit_are_followed() -> None:
    """Steps 4 and 5; shown as mapped."""
    moves = Moves({"lib/q.test.js": "test/q.test.js"}, {"test_old": "test_new"})
    found = match("lib/q.test.js > q > x", of(("test/q.test.js > q > x", "passed")), moves)
    assert found.mapped == "test/q.test.js > q > x"
    assert match("tests/test_a.py::test_old", of(("tests/test_a.py::test_new", "passed")), moves).rows


def test_a_file_that_cannot_be_loaded_is_no_absent_test() -> None:
    """5.2: absent and broken are told apart."""
    broken = SuiteRun((), {"tests/test_a.py": "SyntaxError"})
    assert match("tests/test_a.py::test_a", broken).broken == "SyntaxError"
    assert match("tests/test_b.py::test_b", broken).broken == ""


def test_a_test_that_broke_beside_the_fix_is_collateral() -> None:
    """PX-20, PX-21: tried again before it counts."""
    head, fixed = of(("a", "passed"), ("b", "passed"), ("c", "passed")), of(("a", "passed"), ("b", "failed"))
    assert suspects(head, fixed, Moves()) == ["b", "c"]
    found = compare((head, fixed), [(head, fixed)], Moves(), ())
    assert (found.broken, found.lost) == (("b",), ("c",))


def test_a_flake_beside_the_fix_is_no_collateral() -> None:
    head, fixed = of(("b", "passed")), of(("b", "failed"))
    assert compare((head, fixed), [(of(("b", "failed")), fixed)], Moves(), ()).broken == ()
    assert compare((head, fixed), [(head, of(("b", "passed")))], Moves(), ()).broken == ()


def test_a_row_with_other_arguments_is_a_successor() -> None:
    """PX-22."""
    head, fixed = of(("t.py::a[1]", "passed")), of(("t.py::a[one]", "passed"))
    assert compare((head, fixed), [], Moves(), ()).moved == ("t.py::a[1]",)


def test_a_new_test_that_fails_is_said() -> None:
    """PX-24."""
    assert compare((run(a="passed"), run(a="passed", b="failed")), [], Moves(), ()).new_failing == ("b",)


def test_a_suite_without_an_end_is_no_census() -> None:
    """PX-25."""
    assert not compare((run(a="passed"), SuiteRun(ended="wall")), [], Moves(), ()).complete


def test_a_suite_that_breaks_off_in_the_fix_has_lost_its_tests() -> None:
    assert compare((run(a="passed"), SuiteRun(complete=False)), [], Moves(), ()).lost == ("a",)


def test_a_head_that_cannot_load_its_tests_tells_nothing() -> None:
    """The fix of a renamed symbol is such a case."""
    found = compare((SuiteRun(complete=False), run(a="passed")), [], Moves(), ())
    assert (found.complete, found.lost, found.broken) == (True, (), ())


def test_runs_that_exclude_chance() -> None:
    """PN-4: by the lower bound, never by the point estimate; 3 when nothing is known."""
    assert runs_needed(0, 3) == 3
    assert failure_rate(5, 10) == pytest.approx(0.262, abs=0.005)
    assert runs_needed(5, 10) == 10
    assert runs_needed(1, 3) > 20
    assert runs_needed(10, 10) < 3


def test_what_twenty_passes_rule_out() -> None:
    """PN-5."""
    assert excluded_rate(20) == pytest.approx(0.139, abs=0.001)
