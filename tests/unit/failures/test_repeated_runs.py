"""RP-6: a run that was repeated makes earlier failures flaky; two runs of equal size do not (section 3.3)."""

import pytest

from app.failures.model import JobInfo
from app.failures.read import read_log

MINITEST = """\
  1) Failure:
CartTest#test_adds [test/cart_test.rb:5]:
Expected: 3
  Actual: 2

9 runs, 9 assertions, 1 failures, 0 errors, 0 skips
"""
MINITEST_OK = "9 runs, 9 assertions, 0 failures, 0 errors, 0 skips\n"
PYTEST = """\
============================= test session starts ==============================
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

    def test_a():
>       assert 1 == 2
E       assert 1 == 2

test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_a - assert 1 == 2
========================= 1 failed, 8 passed in 0.02s ==========================
"""
PYTEST_OK = """\
============================= test session starts ==============================
============================== 9 passed in 0.02s ===============================
"""
MOCHA = """\
  8 passing (5ms)
  1 failing

  1) Cart
       adds:
     Error: no
      at Context.<anonymous> (test/cart.js:3:9)

"""
MOCHA_OK = "  9 passing (5ms)\n\n"
RUNS = ((MINITEST, MINITEST_OK), (PYTEST, PYTEST_OK), (MOCHA, MOCHA_OK))
IDS = ("minitest", "pytest", "mocha")


def step(command: str, text: str, code: int = 0) -> str:
    error = f"##[error]Process completed with exit code {code}.\n" if code else ""
    return f"##[group]Run {command}\n{command}\nshell: /usr/bin/bash -e {{0}}\n##[endgroup]\n{text}{error}"


@pytest.mark.parametrize(("failing", "passing"), RUNS, ids=IDS)
def test_a_command_that_passed_at_its_second_try_has_a_flaky_test(failing: str, passing: str) -> None:
    log = step("ci/retry.sh make test", failing + passing) + "Post job cleanup.\n"
    reading = read_log([log.encode()])
    assert (len(reading.failures), len(reading.flaky), reading.job_kind) == (0, 1, "no_failure")


@pytest.mark.parametrize(("failing", "passing"), RUNS, ids=IDS)
def test_two_packages_of_equal_size_are_no_repetition(failing: str, passing: str) -> None:
    """The second package is clean, but the command failed in the end."""
    log = step("make test", failing + passing, 1) + "Post job cleanup.\n"
    reading = read_log([log.encode()])
    assert (len(reading.failures), len(reading.flaky), reading.job_kind) == (1, 0, "test_failure")


@pytest.mark.parametrize(("failing", "passing"), RUNS, ids=IDS)
def test_the_run_of_another_step_is_no_repetition(failing: str, passing: str) -> None:
    log = step("make test-one", failing, 1) + step("make test-two", passing) + "Post job cleanup.\n"
    assert len(read_log([log.encode()]).failures) == 1


@pytest.mark.parametrize(("failing", "passing"), RUNS, ids=IDS)
def test_without_any_proof_a_failure_stays(failing: str, passing: str) -> None:
    assert len(read_log([(failing + passing).encode()]).failures) == 1
    job = JobInfo(name="test", conclusion="success", started_at=None, completed_at=None, steps=())
    assert len(read_log([(failing + passing).encode()], job=job).flaky) == 1


@pytest.mark.parametrize("failing", [one for one, _ in RUNS], ids=IDS)
def test_what_fails_in_the_last_run_fails(failing: str) -> None:
    log = step("make test || make test", failing + failing, 1)
    assert [one.flaky for one in read_log([log.encode()]).findings] == [False]
