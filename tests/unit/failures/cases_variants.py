"""Invented logs in older, newer and rarer forms of the families, and of runners that print one row a test."""
# ruff: noqa: E101 - lines of logs are as long, and as indented, as the tools print them

from tests.unit.failures.reading import Case

CASES = (
    Case(
        "clojure.test",
        """\
lein test shop.cart-test

FAIL in (adds-test) (cart_test.clj:12)
adds two
expected: (= 3 (+ 1 1))
  actual: (not (= 3 2))

ERROR in (throws-test) (cart.clj:5)
Uncaught exception, not in assertion.
expected: nil
  actual: java.lang.ArithmeticException: Divide by zero

Ran 5 tests containing 10 assertions.
1 failures, 1 errors.
Tests failed.
""",
        ("adds-test", "throws-test"),
        "mixed",
        ("cart_test.clj", 12),
        "actual: (not (= 3 2))",
        "clojure-test",
    ),
    Case(
        "twisted trial",
        """\
===============================================================================
[FAIL]
Traceback (most recent call last):
  File "/src/shop/test/test_cart.py", line 12, in test_adds
    self.assertEqual(2, 3)
twisted.trial.unittest.FailTest: not equal:
a = 2
b = 3


shop.test.test_cart.CartTests.test_adds
-------------------------------------------------------------------------------
Ran 5 tests in 0.100s

FAILED (failures=1, successes=4)
""",
        ("shop.test.test_cart.CartTests.test_adds",),
        "test_failure",
        ("/src/shop/test/test_cart.py", 12),
        framework="trial",
    ),
    Case(
        "stestr",
        """\
{0} shop.tests.test_cart.CartTest.test_ok [0.010s] ... ok
{1} shop.tests.test_cart.CartTest.test_adds [0.123s] ... FAILED

Captured traceback:
~~~~~~~~~~~~~~~~~~~
    Traceback (most recent call last):

      File "/src/shop/tests/test_cart.py", line 12, in test_adds
    self.assertEqual(2, 3)

    testtools.matchers._impl.MismatchError: 2 != 3

======
Totals
======
Ran: 2 tests in 0.1330 sec.
 - Passed: 1
 - Skipped: 0
 - Failed: 1
""",
        ("shop.tests.test_cart.CartTest.test_adds",),
        "test_failure",
        ("/src/shop/tests/test_cart.py", 12),
        "MismatchError: 2 != 3",
        "stestr",
    ),
    Case(
        "automake",
        """\
PASS: tests/ok.sh
FAIL: tests/adds.sh
XFAIL: tests/later.sh
ERROR: tests/broken.sh
============================================================================
Testsuite summary for shop 1.0
============================================================================
# TOTAL: 4
# PASS:  1
# XFAIL: 1
# FAIL:  1
# ERROR: 1
============================================================================
See ./test-suite.log
""",
        ("tests/adds.sh", "tests/broken.sh"),
        "mixed",
        framework="automake",
    ),
    Case(
        "hunit",
        """\
### Failure in: 0:cart:adds
test/Main.hs:12
expected: 3
 but got: 2
Cases: 2  Tried: 2  Errors: 0  Failures: 1
""",
        ("cart:adds",),
        "test_failure",
        ("test/Main.hs", 12),
        "expected: 3",
    ),
    Case(
        "a plain runner with rows that pass",
        """\
[PASS] cart/ok
[FAIL] cart/adds-two
[PASS] cart/other
""",
        ("cart/adds-two",),
        "test_failure",
        framework="custom-shell",
    ),
    Case(
        "a plain runner, words behind the name",
        """\
cart/ok ... OK
cart/adds-two ... FAIL
cart/other ... OK
""",
        ("cart/adds-two",),
        "test_failure",
    ),
    Case(
        "a lone row that says FAIL is no test",
        """\
copying files
[FAIL] could not connect, trying again
connected
Post job cleanup.
""",
        (),
        "no_failure",
    ),
    Case(
        "qunit under grunt",
        """\
Testing test/cart.html F.
>> cart - adds two
>> Message: should add
>> Actual: 2
>> Expected: 3
>> at http://localhost:9000/test/cart.js:12
Warning: 1/10 assertions failed (20ms) Use --force to continue.
""",
        ("cart - adds two",),
        "test_failure",
        message="should add",
        framework="qunit",
    ),
    Case(
        "karma-spec-reporter",
        """\
  Cart
    when empty
      ✓ is zero
      ✗ adds two items
	Expected 2 to be 3.
	    at UserContext.<anonymous> (src/cart.spec.js:5:15)

Chrome 90.0.4430 (Linux): Executed 2 of 2 (1 FAILED) (0.1 secs / 0.05 secs)
""",
        ("Cart when empty adds two items",),
        "test_failure",
        ("src/cart.spec.js", 5),
        "Expected 2 to be 3.",
        "karma",
    ),
    Case(
        "ava before version 4",
        """\
  1 test failed

  adds - two items

  /src/test.js:4

   3: test('adds - two items', t => {
   4:   t.is(1 + 1, 3);
   5: });

  Difference:

  - 2
  + 3
""",
        ("adds - two items",),
        "test_failure",
        ("/src/test.js", 4),
        framework="ava",
    ),
    Case(
        "lab",
        """\
Failed tests:

  3) Cart adds two items:

      actual expected

      23

      Expected 2 to equal specified value: 3

      at /src/test/cart.js:12:26

  7) Cart removes:

      boom

      at /src/test/cart.js:20:1


2 of 9 tests failed
""",
        ("Cart adds two items", "Cart removes"),
        "test_failure",
        ("/src/test/cart.js", 12),
    ),
    Case(
        "eunit under rebar3",
        """\
Failures:

  1) cart_tests:adds_test/0: module 'cart_tests'
     Failure/Error: ?assertEqual(3, 1 + 1)
       expected: 3
            got: 2
     %% /src/test/cart_tests.erl:12:in `cart_tests:-adds_test/0-fun-0-/0`
     Output: 

Finished in 0.100 seconds
3 tests, 1 failures
""",
        ("cart_tests:adds_test",),
        "test_failure",
        ("/src/test/cart_tests.erl", 12),
        framework="eunit",
    ),
    Case(
        "common test, plain",
        """\
Testing apps.cart.cart_SUITE: Starting test, 3 test cases

- - - - - - - - - - - - - - - - - - - - - - - - - -
cart_SUITE:adds failed on line 45
Reason: {badmatch,2}
- - - - - - - - - - - - - - - - - - - - - - - - - -

Testing apps.cart.cart_SUITE: *** FAILED test case 2 of 3 ***
Testing apps.cart.cart_SUITE: TEST COMPLETE, 2 ok, 1 failed of 3 test cases
""",
        ("cart_SUITE:adds",),
        "test_failure",
        framework="common-test",
    ),
    Case(
        "testthat with quoted places",
        """\
  ── Failure ('test-cart.R:5:3'): adds two items ────────────────────────────────
  `x` not equal to 3.

  [ FAIL 1 | WARN 0 | SKIP 0 | PASS 5 ]
""",
        ("adds two items",),
        "test_failure",
        ("test-cart.R", 5),
    ),
    Case(
        "bats with times",
        """\
1..2
ok 1 works in 12ms
not ok 2 adds - two items in 15ms
# (in test file test/cart.bats, line 5)
#   `false' failed
""",
        ("adds - two items",),
        "test_failure",
        ("test/cart.bats", 5),
    ),
    Case(
        "nunit 2 under mono",
        """\
Tests run: 100, Errors: 1, Failures: 1, Inconclusive: 0, Time: 1.2 seconds
  Not run: 0, Invalid: 0, Ignored: 0, Skipped: 0

Errors and Failures:
1) Test Failure : Shop.Tests.CartTests.Adds
     Expected: 3
  But was:  2

at Shop.Tests.CartTests.Adds () [0x00000] in /src/CartTests.cs:12

2) Test Error : Shop.Tests.CartTests.Throws
   System.Exception : boom
  at Shop.Tests.CartTests.Throws () [0x00000] in /src/CartTests.cs:20
""",
        ("Shop.Tests.CartTests.Adds", "Shop.Tests.CartTests.Throws"),
        "mixed",
        ("/src/CartTests.cs", 12),
        "Expected: 3",
    ),
    Case(
        "pytest -q without rules",
        """\
.F                                                                       [100%]
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

    def test_a():
>       assert 1 == 2
E       assert 1 == 2

test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_a - assert 1 == 2
1 failed, 1 passed in 0.02s
""",
        ("test_a.py::test_a",),
        "test_failure",
        ("test_a.py", 3),
        "assert 1 == 2",
    ),
    Case(
        "pytest --tb=no, only the summary",
        """\
============================= test session starts ==============================
collected 3 items

test_a.py F.E                                                            [100%]

=========================== short test summary info ============================
FAILED test_a.py::test_a[x - y] - assert 1 == 2
ERROR test_a.py::test_b - RuntimeError: no - really
=============== 1 failed, 1 passed, 1 error in 0.02s ================
""",
        ("test_a.py::test_a[x - y]", "test_a.py::test_b"),
        "mixed",
        message="assert 1 == 2",
    ),
    Case(
        "pytest --tb=short and native",
        """\
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________
test_a.py:3: in test_a
    helper()
lib/cart.py:9: in helper
    raise ValueError("no")
E   ValueError: no
____________________________________ test_b ____________________________________
Traceback (most recent call last):
  File "/src/test_b.py", line 7, in test_b
    assert 0
AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_a - ValueError: no
FAILED test_b.py::test_b - AssertionError
============================== 2 failed in 0.02s ===============================
""",
        ("test_a.py::test_a", "test_b.py::test_b"),
        "test_failure",
        ("test_a.py", 3),
        "ValueError: no",
    ),
    Case(
        "pytest -v, cut before its sections (LP-6)",
        """\
============================= test session starts ==============================
tests/test_a.py::test_one PASSED                                         [ 33%]
tests/test_a.py::TestB::test_two[a b] FAILED                             [ 66%]
tests/test_a.py::test_three ERROR                                        [100%]
""",
        ("tests/test_a.py::TestB::test_two[a b]", "tests/test_a.py::test_three"),
        "mixed",
    ),
    Case(
        "pytest with reruns (FL-1)",
        """\
============================= test session starts ==============================
tests/test_a.py::test_shaky RERUN                                        [ 50%]
tests/test_a.py::test_shaky PASSED                                       [ 50%]
tests/test_a.py::test_ok PASSED                                          [100%]

========================= 2 passed, 1 rerun in 0.02s =========================
""",
        (),
        "no_failure",
        flaky=("tests/test_a.py::test_shaky",),
    ),
    Case(
        "pytest, one test fails and its tear-down too (RP-3)",
        """\
==================================== ERRORS ====================================
_________________________ ERROR at teardown of test_a __________________________

    def teardown():
>       raise ValueError("late")
E       ValueError: late

test_a.py:9: ValueError
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

>   assert 0, "early"
E   AssertionError: early

test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_a - AssertionError: early
ERROR test_a.py::test_a - ValueError: late
========================== 1 failed, 1 error in 0.02s ==========================
""",
        ("test_a.py::test_a",),
        "test_failure",
    ),
    Case(
        "pytest prints its summary before its sections (LP-16)",
        """\
============================= test session starts ==============================
=========================== short test summary info ============================
FAIL test_a.py::test_a
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

>   assert 0
E   assert 0

test_a.py:3: AssertionError
=========================== 1 failed in 0.02 seconds ===========================
""",
        ("test_a.py::test_a",),
        "test_failure",
        ("test_a.py", 3),
    ),
    Case(
        "a captured print looks like a section (LP-11)",
        """\
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

>   assert 0, "real"
E   AssertionError: real

test_a.py:3: AssertionError
----------------------------- Captured stdout call -----------------------------
=================================== FAILURES ===================================
___________________________________ test_no ____________________________________
FAILED test_no.py::test_no - not real
=========================== short test summary info ============================
FAILED test_a.py::test_a - AssertionError: real
============================== 1 failed in 0.02s ===============================
""",
        ("test_a.py::test_a",),
        "test_failure",
    ),
    Case(
        "jest with projects and a suite error",
        """\
FAIL unit src/broken.test.js
  ● Test suite failed to run

    Cannot find module './nope' from 'src/broken.test.js'

      at Resolver.resolveModule (node_modules/jest-resolve/build/index.js:259:17)
      at Object.<anonymous> (src/broken.test.js:1:1)

FAIL e2e src/cart.test.js (5.1 s)
  ● Cart › adds "two", items

    TypeError: boom

      3 | test('adds', () => {
    > 4 |   boom();
        |   ^

      at boom (src/cart.js:9:3)
      at Object.<anonymous> (src/cart.test.js:4:3)

Test Suites: 2 failed, 2 total
Tests:       1 failed, 1 total
""",
        ("src/broken.test.js", 'Cart › adds "two", items'),
        "mixed",
        ("src/broken.test.js", 1),
    ),
    Case(
        "vitest with a project and a shared error",
        """\
 FAIL  |unit| src/cart.test.ts > cart > adds
 FAIL  |unit| src/cart.test.ts > cart > removes
""",
        (),
        None,
    ),
    Case(
        "vitest sections",
        """\
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  |unit| src/cart.test.ts > cart > adds
 FAIL  |unit| src/cart.test.ts > cart > removes
AssertionError: expected 2 to be 3 // Object.is equality

- Expected
+ Received

 ❯ src/cart.test.ts:4:17
      2|

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯

 Test Files  1 failed (1)
      Tests  2 failed | 1 passed (3)
   Start at  10:00:00
""",
        ("src/cart.test.ts > cart > adds", "src/cart.test.ts > cart > removes"),
        "test_failure",
        ("src/cart.test.ts", 4),
        "AssertionError: expected 2 to be 3",
        "vitest",
    ),
    Case(
        "playwright, list reporter",
        """\
Running 3 tests using 1 worker

  ✓  1 [chromium] › cart.spec.ts:3:5 › ok (1.2s)
  ✘  2 [chromium] › cart.spec.ts:7:5 › cart › adds two (30.0s)
  ✘  3 [chromium] › cart.spec.ts:7:5 › cart › adds two (retry #1) (30.0s)


  1) [chromium] › cart.spec.ts:7:5 › cart › adds two ───────────────────────────────────────────────

    Error: expect(received).toBe(expected)

    Expected: 3
    Received: 2

        at /src/cart.spec.ts:9:17

  1 failed
    [chromium] › cart.spec.ts:7:5 › cart › adds two ────────────────────────────────────────────────
  1 passed (1.0m)
""",
        ("[chromium] › cart.spec.ts:7:5 › cart › adds two",),
        "test_failure",
        ("/src/cart.spec.ts", 9),
        "Error: expect(received).toBe(expected)",
    ),
    Case(
        "tape with its test comments",
        """\
TAP version 13
# cart
ok 1 is there
not ok 2 adds two
  ---
    operator: equal
    expected: 3
    actual:   2
    at: Test.<anonymous> (/src/test/cart.js:5:5)
  ...

1..2
# tests 2
# pass  1
# fail  1
""",
        ("cart adds two",),
        "test_failure",
        ("/src/test/cart.js", 5),
    ),
    Case(
        "mocha as TAP",
        """\
1..2
ok 1 Cart is there
not ok 2 Cart adds two
  AssertionError: expected 2 to equal 3
      at Context.<anonymous> (test/cart.js:5:20)
# tests 2
# pass 1
# fail 1
""",
        ("Cart adds two",),
        "test_failure",
    ),
    Case(
        "rspec load error",
        """\

An error occurred while loading ./spec/cart_spec.rb.
Failure/Error: require 'nope'

LoadError:
  cannot load such file -- nope
# ./spec/cart_spec.rb:1:in `require'
# ./spec/cart_spec.rb:1:in `<top (required)>'

Finished in 0.00002 seconds (files took 0.1 seconds to load)
0 examples, 0 failures, 1 error occurred outside of examples
""",
        ("./spec/cart_spec.rb",),
        "collection_error",
        ("./spec/cart_spec.rb", 1),
        "LoadError: cannot load such file -- nope",
    ),
    Case(
        "surefire names with parameters (RP-5)",
        """\
[ERROR] Tests run: 2, Failures: 2, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in org.shop.CartTest
[ERROR] adds[1: a, b](org.shop.CartTest)  Time elapsed: 0.01 s  <<< FAILURE!
java.lang.AssertionError: one
	at org.shop.CartTest.adds(CartTest.java:12)

[ERROR] adds{int, String}[2]  Time elapsed: 0.01 s  <<< FAILURE!
java.lang.AssertionError: two
	at org.shop.CartTest.adds(CartTest.java:13)

[INFO] 
[ERROR] Failures: 
[ERROR]   CartTest.adds:12 one
[ERROR]   CartTest.adds:13 two
[INFO] 
[ERROR] Tests run: 2, Failures: 2, Errors: 0, Skipped: 0
""",
        ("adds[1: a, b](org.shop.CartTest)", "CartTest.adds{int, String}[2]"),
        "test_failure",
        ("CartTest.java", 12),
    ),
    Case(
        "two browsers of Playwright are two tests",
        """\
  2 failed
    [chromium] › a.spec.ts:4:3 › adds ──────────────
    [webkit] › a.spec.ts:4:3 › adds ────────────────
  1 passed (7.1s)
""",
        ("[chromium] › a.spec.ts:4:3 › adds", "[webkit] › a.spec.ts:4:3 › adds"),
        "test_failure",
        ("a.spec.ts", 4),
    ),
)
