"""The grid's verdict, row by row (PF-4 to PF-12)."""

import pytest

from app.runs.grid import Seen, judge, nothing_changed
from app.runs.model import ProofOutcome

RED, GREEN, GONE, FLAKY = Seen(3, 0, 3), Seen(3, 3, 0), Seen(3, 0, 0, 3), Seen(3, 2, 1)

ROWS = [
    ("a real fix", {"a": RED}, {"a": GREEN}, ProofOutcome.PASSED, "1 test: red without the fix, green with it"),
    ("still red (T27)", {"a": RED, "b": RED}, {"a": GREEN, "b": RED}, ProofOutcome.FAILED, "1 test did not pass"),
    ("PF-4 passes only sometimes", {"a": RED}, {"a": FLAKY}, ProofOutcome.FAILED, "1 test did not pass every time"),
    ("PF-5 a test that is gone is no pass", {"a": RED}, {"a": GONE}, ProofOutcome.FAILED, "1 test did not run"),
    ("PF-12 nothing ran on head", {"a": GONE}, {"a": GREEN}, ProofOutcome.NOT_RUN, "none of the named tests ran"),
    ("PF-12 not reproduced", {"a": GREEN}, {"a": GREEN}, ProofOutcome.NOT_RUN, "not reproduced here"),
    ("PF-12 flaky on head is not reproduced", {"a": FLAKY}, {"a": GREEN}, ProofOutcome.NOT_RUN, "not reproduced here"),
    ("PF-3 an earlier step's test broke", {"b": RED}, {"a": RED, "b": GREEN}, ProofOutcome.FAILED, "1 test did not"),
]


@pytest.mark.parametrize(("name", "head", "fixed", "outcome", "reason"), ROWS, ids=[row[0] for row in ROWS])
def test_the_grid_decides_by_rule(
    name: str, head: dict[str, Seen], fixed: dict[str, Seen], outcome: ProofOutcome, reason: str
) -> None:
    found = judge(head, fixed)

    assert found.outcome is outcome
    assert reason in found.reason


def test_T29_the_same_failing_set_has_the_same_key_and_another_set_another() -> None:
    both = judge({"a": RED, "b": RED}, {"a": RED, "b": RED})
    again = judge({"b": RED, "a": RED}, {"b": RED, "a": RED})
    one = judge({"a": RED, "b": RED}, {"a": RED, "b": GREEN})

    assert both.failing_key == again.failing_key != one.failing_key
    assert judge({"a": RED}, {"a": GREEN}).failing_key == ""


def test_PF_11_an_empty_change_fails_with_its_reason() -> None:
    assert nothing_changed("no change was made").outcome is ProofOutcome.FAILED
    assert nothing_changed("no change was made").reason == "no change was made"
