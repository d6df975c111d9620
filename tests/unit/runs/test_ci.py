"""PB-8, PB-9: what CI said about our commit, and what the run says then."""

import pytest

from app.runs.ci import JobSeen, SuiteSeen, Waited, ci_of
from app.runs.model import Ci, Result
from app.runs.rules_turns import RESULT_OF_CI

EARLY, LATE, LAST = Waited(5, 600, 7200), Waited(601, 600, 7200), Waited(7201, 600, 7200)
GOOD = SuiteSeen("completed", "success", 2)
RED = SuiteSeen("completed", "failure", 2)
RUNS = SuiteSeen("in_progress", None, 2)
HELD = SuiteSeen("completed", "action_required", 0)
EMPTY = SuiteSeen("queued", None, 0)
GONE = SuiteSeen("completed", "cancelled", 1)
OK, NAMED, OTHER = JobSeen("lint", "success"), JobSeen("unit", "failure"), JobSeen("docs", "failure")


@pytest.mark.parametrize(
    ("suites", "jobs", "waited", "expected"),
    [
        ([GOOD, GOOD], [OK], EARLY, Ci.GREEN),
        ([GOOD, RED], [OK, NAMED], EARLY, Ci.RED_NAMED),
        ([RED], [OK, OTHER], EARLY, Ci.RED_OTHER),
        ([RED], [], EARLY, Ci.RED_OTHER),
        ([GOOD, RUNS], [OK], EARLY, None),
        ([GOOD, RUNS], [OK], LATE, None),
        ([GOOD, RUNS], [OK], LAST, Ci.UNFINISHED),
        ([], [], EARLY, None),
        ([], [], LATE, Ci.NONE),
        ([EMPTY], [], EARLY, None),
        ([EMPTY], [], LATE, Ci.NONE),
        ([HELD], [], EARLY, Ci.WAITING_APPROVAL),
        ([GONE, GONE], [], EARLY, Ci.UNFINISHED),
        ([SuiteSeen("completed", "neutral", 1), SuiteSeen("completed", "skipped", 1)], [OK], EARLY, Ci.GREEN),
    ],
)
def test_pb_8_every_suite_of_the_pushed_commit_counts(
    suites: list[SuiteSeen], jobs: list[JobSeen], waited: Waited, expected: Ci | None
) -> None:
    assert ci_of(suites, jobs, frozenset({"unit"}), waited) is expected


def test_pb_9_the_result_comes_from_ci_alone() -> None:
    assert set(RESULT_OF_CI) == set(Ci)
    assert RESULT_OF_CI[Ci.GREEN] is Result.FIXED
    assert RESULT_OF_CI[Ci.RED_OTHER] is Result.FIXED_OTHER_RED
    assert RESULT_OF_CI[Ci.RED_NAMED] is Result.NOT_FIXED
    assert {RESULT_OF_CI[ci] for ci in (Ci.NONE, Ci.WAITING_APPROVAL, Ci.UNFINISHED)} == {Result.CI_UNKNOWN}
    assert RESULT_OF_CI[Ci.NOT_PUSHED] is Result.HANDED_OVER
