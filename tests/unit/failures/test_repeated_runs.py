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
UNITTEST = """\
======================================================================
FAIL: test_adds (test_cart.CartTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/src/test_cart.py", line 5, in test_adds
    self.assertEqual(2, 3)
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 9 tests in 0.001s

FAILED (failures=1)
"""
UNITTEST_OK = "----------------------------------------------------------------------\nRan 9 tests in 0.001s\n\nOK\n"
JEST = """\
FAIL src/cart.test.js
  ● Cart › adds

    Expected: 3

      at Object.<anonymous> (src/cart.test.js:5:3)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 8 passed, 9 total
Snapshots:   0 total
Time:        1 s
"""
JEST_OK = """\
PASS src/cart.test.js
Test Suites: 1 passed, 1 total
Tests:       9 passed, 9 total
Snapshots:   0 total
Time:        1 s
"""
EXUNIT = """\
  1) test adds (CartTest)
     test/cart_test.exs:5
     Assertion with == failed
     left:  2
     right: 3


Finished in 0.1 seconds
9 tests, 1 failure
"""
EXUNIT_OK = "Finished in 0.1 seconds\n9 tests, 0 failures\n"
PHPUNIT = """\
There was 1 failure:

1) CartTest::testAdds
Failed asserting that 2 is identical to 3.

/src/tests/CartTest.php:5

FAILURES!
Tests: 9, Assertions: 9, Failures: 1.
"""
PHPUNIT_OK = "OK (9 tests, 9 assertions)\n"
RSPEC = """\
Failures:

  1) Cart adds
     Failure/Error: expect(2).to eq(3)
     # ./spec/cart_spec.rb:5:in `block'

Finished in 0.1 seconds (files took 0.1 seconds to load)
9 examples, 1 failure

Failed examples:

rspec ./spec/cart_spec.rb:4 # Cart adds
"""
RSPEC_OK = "Finished in 0.1 seconds (files took 0.1 seconds to load)\n9 examples, 0 failures\n"
CARGO = """\
running 9 tests
test cart::adds ... FAILED

failures:

---- cart::adds stdout ----
thread 'cart::adds' panicked at src/cart.rs:5:9:
assertion failed

failures:
    cart::adds

test result: FAILED. 8 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
"""
CARGO_OK = "running 9 tests\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
SUREFIRE = """\
[INFO] Running org.shop.CartTest
[ERROR] Tests run: 9, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in org.shop.CartTest
[ERROR] adds(org.shop.CartTest)  Time elapsed: 0.1 s  <<< FAILURE!
java.lang.AssertionError: expected:<3> but was:<2>
\tat org.shop.CartTest.adds(CartTest.java:5)

[INFO] Results:
[INFO]
[ERROR] Failures:
[ERROR]   CartTest.adds:5 expected:<3> but was:<2>
[INFO]
[ERROR] Tests run: 9, Failures: 1, Errors: 0, Skipped: 0
"""
SUREFIRE_OK = """\
[INFO] Running org.shop.CartTest
[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in org.shop.CartTest
[INFO] Results:
[INFO]
[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0
"""
RUNS = (
    (MINITEST, MINITEST_OK),
    (PYTEST, PYTEST_OK),
    (MOCHA, MOCHA_OK),
    (UNITTEST, UNITTEST_OK),
    (JEST, JEST_OK),
    (EXUNIT, EXUNIT_OK),
    (PHPUNIT, PHPUNIT_OK),
    (RSPEC, RSPEC_OK),
    (CARGO, CARGO_OK),
    (SUREFIRE, SUREFIRE_OK),
)
IDS = ("minitest", "pytest", "mocha", "unittest", "jest", "exunit", "phpunit", "rspec", "cargo", "surefire")


def step(command: str, text: str, code: int = 0) -> str:
    error = f"##[error]Process completed with exit code {code}.\n" if code else ""
    return f"##[group]Run {command}\n{command}\nshell: /usr/bin/bash -e {{0}}\n##[endgroup]\n{text}{error}"


TELLING = RUNS[:-1]  # the passing lines of Surefire are not looked at: they are in every green Maven log


@pytest.mark.parametrize(("failing", "passing"), TELLING, ids=IDS[:-1])
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
    log = [(failing + passing).encode()]
    assert len(read_log(log).failures) == 1
    passed = read_log(log, job=JobInfo(conclusion="success"))
    assert passed.job_kind == "no_failure"
    assert len(passed.flaky) == ((failing, passing) in TELLING)


@pytest.mark.parametrize("failing", [one for one, _ in RUNS], ids=IDS)
def test_what_fails_in_the_last_run_fails(failing: str) -> None:
    log = step("make test || make test", failing + failing, 1)
    assert [one.flaky for one in read_log([log.encode()]).findings] == [False]
