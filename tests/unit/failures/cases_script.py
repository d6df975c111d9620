"""Invented logs of test runners for JavaScript, Python, Ruby, PHP, Lua, R and others that do not compile."""
# ruff: noqa: E101 - lines of logs are as long, and as indented, as the tools print them

from tests.unit.failures.reading import Case

CASES = (
    Case(
        "pest",
        """\
   PASS  Tests\\Unit\\OkTest
  ✓ it works

   FAIL  Tests\\Unit\\CartTest
  ⨯ it adds two - items                                                  0.01s
  ────────────────────────────────────────────────────────────────────────────
   FAILED  Tests\\Unit\\CartTest > it adds two - items
  Failed asserting that 2 is identical to 3.

  at tests/Unit/CartTest.php:4
      1▕ <?php
      2▕
      3▕ it('adds two - items', function () {
  ➜   4▕     expect(1 + 1)->toBe(3);
      5▕ });

  1   tests/Unit/CartTest.php:4


  Tests:    1 failed, 1 passed (2 assertions)
  Duration: 0.08s
""",
        ("Tests\\Unit\\CartTest > it adds two - items",),
        "test_failure",
        ("tests/Unit/CartTest.php", 4),
        "Failed asserting that 2",
        "pest",
    ),
    Case(
        "phpunit errors, failures and risky tests",
        """\
PHPUnit 9.6.7 by Sebastian Bergmann and contributors.

E.FR                                                                4 / 4 (100%)

There was 1 error:

1) Shop\\CartTest::testThrows
RuntimeException: boom

/src/tests/CartTest.php:20

--

There was 1 failure:

1) Shop\\CartTest::testAdd with data set "two" (2)
Failed asserting that 2 matches expected 3.

/src/tests/CartTest.php:12

--

There was 1 risky test:

1) Shop\\CartTest::testNothing
This test did not perform any assertions

FAILURES!
Tests: 4, Assertions: 2, Errors: 1, Failures: 1, Risky: 1.
""",
        ("Shop\\CartTest::testThrows", 'Shop\\CartTest::testAdd with data set "two" (2)'),
        "mixed",
        ("/src/tests/CartTest.php", 20),
        "RuntimeException: boom",
    ),
    Case(
        "minitest",
        """\
Run options: --seed 12345

# Running:

..F.E

Finished in 0.001s, 100 runs/s.

  1) Failure:
CartTest#test_adds [test/cart_test.rb:12]:
Expected: 3
  Actual: 2

  2) Error:
CartTest#test_throws:
RuntimeError: boom
    test/cart_test.rb:20:in `test_throws'

5 runs, 4 assertions, 1 failures, 1 errors, 0 skips
""",
        ("CartTest#test_adds", "CartTest#test_throws"),
        "mixed",
        ("test/cart_test.rb", 12),
        "Expected: 3",
        "minitest",
    ),
    Case(
        "rails test",
        """\
# Running:

F

Failure:
CartTest#test_adds_two [/app/test/models/cart_test.rb:7]:
Expected: 3
  Actual: 2


rails test test/models/cart_test.rb:5

.E

Error:
CartTest#test_raises:
NoMethodError: undefined method `foo' for nil:NilClass
    app/models/cart.rb:3:in `total'
    test/models/cart_test.rb:12:in `block in <class:CartTest>'


rails test test/models/cart_test.rb:11

Finished in 0.3s, 5 runs/s, 5 assertions/s.
3 runs, 2 assertions, 1 failures, 1 errors, 0 skips
""",
        ("CartTest#test_adds_two", "CartTest#test_raises"),
        "mixed",
        ("/app/test/models/cart_test.rb", 7),
    ),
    Case(
        "test-unit",
        """\
===============================================================================
Failure: test_adds(CartTest)
test/cart_test.rb:12:in `test_adds'
      9:   end
     10:
  => 12:     assert_equal 3, 1 + 1
<3> expected but was
<2>
===============================================================================
E
===============================================================================
Error: test_boom(CartTest): RuntimeError: boom
test/cart_test.rb:16:in `test_boom'
===============================================================================

Finished in 0.01 seconds.
2 tests, 1 assertions, 1 failures, 1 errors, 0 pendings, 0 omissions, 0 notifications
""",
        ("CartTest#test_adds", "CartTest#test_boom"),
        "mixed",
        ("test/cart_test.rb", 12),
    ),
    Case(
        "rspec with a pending list (LP-12)",
        """\
Pending: (Failures listed here are expected and do not affect your suite's status)

  1) Cart later
     # not yet
     Failure/Error: expect(1).to eq(2)
     # ./spec/cart_spec.rb:30

Failures:

  1) Cart when empty adds two - items
     Failure/Error: expect(1 + 1).to eq(3)

       expected: 3
            got: 2

       (compared using ==)
     # ./spec/cart_spec.rb:12:in `block (3 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.1 seconds to load)
3 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/cart_spec.rb:11 # Cart when empty adds two - items
""",
        ("Cart when empty adds two - items",),
        "test_failure",
        ("./spec/cart_spec.rb", 12),
        "expected: 3",
    ),
    Case(
        "rspec, only the list is there (RB-3)",
        """\
rspec ./spec/cart_spec.rb:11 # Cart when empty adds two - items
rspec ./spec/cart_spec.rb[1:2:3] # Cart handles 3
""",
        ("Cart when empty adds two - items", "Cart handles 3"),
        "test_failure",
        ("./spec/cart_spec.rb", 11),
    ),
    Case(
        "crystal spec",
        """\
Failures:

  1) Cart adds two
     Failure/Error: (1 + 1).should eq(3)

       Expected: 3
            got: 2

     # spec/cart_spec.cr:5

Finished in 1.0 milliseconds
2 examples, 1 failures, 0 errors, 0 pending

Failed examples:

crystal spec spec/cart_spec.cr:4 # Cart adds two
""",
        ("Cart adds two",),
        "test_failure",
        ("spec/cart_spec.cr", 5),
    ),
    Case(
        "ava",
        """\
  ✔ ok
  ✘ [fail]: adds - two items
  ─

  adds - two items

  test.js:4

   3: test('adds - two items', t => {
   4:   t.is(1 + 1, 3);
   5: });

  Difference (- actual, + expected):

  - 2
  + 3

  › file://test.js:4:5

  ─

  1 test failed
""",
        ("adds - two items",),
        "test_failure",
        ("test.js", 4),
        framework="ava",
    ),
    Case(
        "qunit through testem",
        """\
ok 1 Chrome 90.0 - [5 ms] - Unit | Util: ok
not ok 2 Chrome 90.0 - [12 ms] - Integration | Component | cart: adds two
    ---
        actual: >
            2
        expected: >
            3
        stack: >
                at Object.<anonymous> (http://localhost:7357/assets/tests.js:12:14)
        message: >
            should add
        negative: >
            false
        browser log: |
    ...

1..2
# tests 2
# pass  1
# skip  0
# fail  1
""",
        ("Integration | Component | cart: adds two",),
        "test_failure",
        message="should add",
        framework="qunit",
    ),
    Case(
        "bats, TAP",
        """\
1..3
ok 1 works
not ok 2 adds - two items
# (in test file test/cart.bats, line 5)
#   `[ "$(add 1 1)" = 3 ]' failed
ok 3 skipped # skip no network
""",
        ("adds - two items",),
        "test_failure",
        ("test/cart.bats", 5),
    ),
    Case(
        "bats, pretty",
        """\
 ✓ works
 ✗ adds - two items
   (in test file test/cart.bats, line 5)
     `[ "$(add 1 1)" = 3 ]' failed
 - skipped (skipped: no network)

3 tests, 1 failure, 1 skipped
""",
        ("adds - two items",),
        "test_failure",
        ("test/cart.bats", 5),
    ),
    Case(
        "karma in two browsers is one failure (RP-2)",
        """\
Chrome Headless 90.0.4430.72 (Linux x86_64) Cart adds two items FAILED
	Expected 2 to be 3.
	    at <Jasmine>
	    at UserContext.<anonymous> (src/cart.spec.js:5:15)
Firefox 78.0 (Linux x86_64) Cart adds two items FAILED
	Expected 2 to be 3.
Chrome Headless 90.0.4430.72 (Linux x86_64): Executed 5 of 5 (1 FAILED) (0.1 secs / 0.05 secs)
TOTAL: 2 FAILED, 8 SUCCESS
""",
        ("Cart adds two items",),
        "test_failure",
        ("src/cart.spec.js", 5),
        "Expected 2 to be 3.",
        "karma",
    ),
    Case(
        "karma-mocha-reporter",
        """\
  Cart
    ✖ adds two - items
      Chrome Headless 90.0 (Linux)

Finished in 0.1 secs

SUMMARY:
✔ 1 test completed
✖ 1 test failed

FAILED TESTS:
  Cart
    ✖ adds two - items
      Chrome Headless 90.0 (Linux)
    AssertionError: expected 2 to equal 3
        at Context.<anonymous> (src/cart.spec.js:5:15)

""",
        ("Cart adds two - items",),
        "test_failure",
        message="expected 2 to equal 3",
    ),
    Case(
        "cypress",
        """\
  Cart
    ✓ works (100ms)
    1) adds two - items


  1 passing (2s)
  1 failing

  1) Cart
       adds two - items:
     AssertionError: expected 2 to equal 3
      at Context.eval (webpack:///./cypress/e2e/cart.cy.js:5:20)




  (Results)

  ┌────────────────────────────────────────────────────────────────────────────────────────────────┐
  │ Tests:        2                                                                                │
  │ Passing:      1                                                                                │
  │ Failing:      1                                                                                │
  └────────────────────────────────────────────────────────────────────────────────────────────────┘
""",
        ("Cart adds two - items",),
        "test_failure",
        message="AssertionError: expected 2 to equal 3",
    ),
    Case(
        "mocha with hooks only is test_error (K-4)",
        """\
  0 passing (2s)
  1 failing

  1) Cart
       "before all" hook for "adds":
     Error: no database
      at Context.<anonymous> (test/cart.js:5:20)

""",
        ('Cart "before all" hook for "adds"',),
        "test_error",
        ("test/cart.js", 5),
    ),
    Case(
        "webdriverio",
        """\
[chrome 90 linux #0-0] Spec: /src/test/cart.e2e.js
[chrome 90 linux #0-0] Cart
[chrome 90 linux #0-0]    ✓ works
[chrome 90 linux #0-0]    ✖ adds two - items
[chrome 90 linux #0-0]
[chrome 90 linux #0-0] 1 passing (2s)
[chrome 90 linux #0-0] 1 failing
[chrome 90 linux #0-0]
[chrome 90 linux #0-0] 1) Cart adds two - items
[chrome 90 linux #0-0] expected 2 to equal 3
""",
        ("Cart adds two - items",),
        "test_failure",
        message="expected 2 to equal 3",
    ),
    Case(
        "testcafe",
        """\
 Cart
 ✓ works
 ✖ adds two - items

   1) AssertionError: expected 2 to deeply equal 3

      Browser: Chrome 90.0 / Linux

 1/2 failed (3s)
""",
        ("Cart adds two - items",),
        "test_failure",
        message="AssertionError: expected 2 to deeply equal 3",
    ),
    Case(
        "deno",
        """\
running 2 tests from ./cart_test.ts
adds two - items ... FAILED (3ms)
ok ... ok (1ms)

 ERRORS 

adds two - items => ./cart_test.ts:3:6
error: AssertionError: Values are not equal.

    at assertEquals (https://deno.land/std/assert/equals.ts:50:9)
    at file:///src/cart_test.ts:4:3

 FAILURES 

adds two - items => ./cart_test.ts:3:6

FAILED | 1 passed | 1 failed (10ms)

error: Test failed
""",
        ("adds two - items",),
        "test_failure",
        ("./cart_test.ts", 3),
        "AssertionError: Values are not equal.",
    ),
    Case(
        "bun",
        """\
bun test v1.0.0

cart.test.ts:
1 | import { expect, test } from "bun:test";
error: expect(received).toBe(expected)

Expected: 3
Received: 2
      at <anonymous> (/src/cart.test.ts:4:22)
(fail) cart > adds two - items [0.50ms]
(pass) cart > ok [0.02ms]

 1 pass
 1 fail
""",
        ("cart > adds two - items",),
        "test_failure",
        ("/src/cart.test.ts", 4),
        "expect(received).toBe(expected)",
    ),
    Case(
        "jest, a log that ends before its summary",
        """\
FAIL src/cart.test.js
  ● Cart › adds › two - items

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

      at Object.<anonymous> (src/cart.test.js:5:17)

""",
        ("Cart › adds › two - items",),
        "test_failure",
        ("src/cart.test.js", 5),
        "expect(received).toBe(expected)",
    ),
    Case(
        "jest prints the same failure again in its summary (LP-10)",
        """\
FAIL src/cart.test.js
  ● Cart › adds

    Error: boom

      at Object.<anonymous> (src/cart.test.js:5:17)

Summary of all failing tests
FAIL src/cart.test.js
  ● Cart › adds

    Error: boom

      at Object.<anonymous> (src/cart.test.js:5:17)


Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 total
""",
        ("Cart › adds",),
        "test_failure",
        ("src/cart.test.js", 5),
        "Error: boom",
    ),
    Case(
        "node:test as TAP",
        """\
TAP version 13
# Subtest: cart
    # Subtest: adds
    not ok 1 - adds
      ---
      duration_ms: 0.5
      location: '/src/cart.test.js:4:3'
      failureType: 'testCodeFailure'
      error: 'Expected values to be strictly equal'
      code: 'ERR_ASSERTION'
      ...
    # Subtest: todo thing
    not ok 2 - todo thing # TODO
      ---
      error: 'x'
      ...
    1..2
not ok 1 - cart
  ---
  duration_ms: 1
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
1..1
# tests 2
# fail 1
""",
        ("cart adds",),
        "test_failure",
        ("/src/cart.test.js", 4),
        "Expected values to be strictly equal",
    ),
    Case(
        "prove names scripts",
        """\
t/10-ok.t ........ ok
#   Failed test 'adds two'
#   at t/20-cart.t line 5.
#          got: '2'
#     expected: '3'
# Looks like you failed 1 test of 3.
t/20-cart.t ......
Dubious, test returned 1 (wstat 256, 0x100)
Failed 1/3 subtests

Test Summary Report
-------------------
t/20-cart.t    (Wstat: 256 (exited 1) Tests: 3 Failed: 1)
  Failed test:  2
  Non-zero exit status: 1
Files=2, Tests=6,  1 wallclock secs
Result: FAIL
""",
        ("t/20-cart.t",),
        "test_failure",
        framework="tap-prove",
    ),
    Case(
        "phpt",
        """\
=====================================================================
FAILED TEST SUMMARY
---------------------------------------------------------------------
Bug #123 (adds two) [ext/cart/tests/bug123.phpt]
Another test [Zend/tests/other.phpt]
=====================================================================
""",
        ("ext/cart/tests/bug123.phpt", "Zend/tests/other.phpt"),
        "test_failure",
        framework="phpt",
    ),
    Case(
        "testthat, new",
        """\
══ Failed tests ════════════════════════════════════════════════════════════════
── Failure (test-cart.R:5:3): adds two items ───────────────────────────────────
`x` not equal to 3.
1/1 mismatches
── Error (test-cart.R:10:3): throws ────────────────────────────────────────────
Error in `f()`: boom
Backtrace:
    ▆
 1. └─shop::f() at test-cart.R:10:3

[ FAIL 2 | WARN 0 | SKIP 0 | PASS 5 ]
Error: Test failures
Execution halted
""",
        ("adds two items", "throws"),
        "mixed",
        ("test-cart.R", 5),
        "`x` not equal to 3.",
    ),
    Case(
        "testthat, old",
        """\
> test_check("shop")
── 1. Failure: adds two items (@test-cart.R#5)  ────────────────────────────────
`x` not equal to 3.

── 2. Error: throws (@test-cart.R#10)  ─────────────────────────────────────────
boom
1: f() at testthat/test-cart.R:10

══ testthat results  ═══════════════════════════════════════════════════════════
OK: 5 SKIPPED: 0 WARNINGS: 0 FAILED: 2
1. Failure: adds two items (@test-cart.R#5) 
2. Error: throws (@test-cart.R#10) 
""",
        ("adds two items", "throws"),
        "mixed",
        ("test-cart.R", 5),
    ),
    Case(
        "testthat, oldest (LP-17)",
        """\
1. Failure(at test-cart.R#5): adds two items -----------------------------------
x not equal to 3

testthat results ===============================================================
OK: 5 SKIPPED: 0 FAILED: 1
1. Failure(at test-cart.R#5): adds two items
""",
        ("adds two items",),
        "test_failure",
        ("test-cart.R", 5),
    ),
    Case(
        "busted",
        """\
●●◼●✱
3 successes / 1 failure / 1 error / 0 pending : 0.01 seconds

Failure → spec/cart_spec.lua @ 5
cart adds two items
spec/cart_spec.lua:7: Expected objects to be equal.
Passed in:
(number) 2
Expected:
(number) 3

Error → spec/broken_spec.lua @ 1
suite spec/broken_spec.lua
spec/broken_spec.lua:1: module 'nope' not found
""",
        ("cart adds two items", "suite spec/broken_spec.lua"),
        "mixed",
        ("spec/cart_spec.lua", 5),
    ),
    Case(
        "pester",
        """\
Describing cart
  Context when empty
    [+] is zero 12ms (10ms|2ms)
    [-] adds two 34ms (30ms|4ms)
     Expected 3, but got 2.
     at 1 + 1 | Should -Be 3, C:\\src\\Cart.Tests.ps1:8
     at <ScriptBlock>, C:\\src\\Cart.Tests.ps1:8
Tests completed in 1.2s
Tests Passed: 1, Failed: 1, Skipped: 0 NotRun: 0
""",
        ("cart when empty adds two",),
        "test_failure",
        ("C:\\src\\Cart.Tests.ps1", 8),
        "Expected 3, but got 2.",
    ),
    Case(
        "robot framework",
        """\
==============================================================================
Shop                                                                          
==============================================================================
Adds two items                                                        | FAIL |
2 != 3
------------------------------------------------------------------------------
Works                                                                 | PASS |
------------------------------------------------------------------------------
Shop                                                                  | FAIL |
2 tests, 1 passed, 1 failed
==============================================================================
Output:  /tmp/output.xml
""",
        ("Adds two items",),
        "test_failure",
        message="2 != 3",
    ),
    Case(
        "behave",
        """\
Failing scenarios:
  features/cart.feature:5  adds two items
  features/cart.feature:12  outline -- @1.2 more

0 features passed, 1 failed, 0 skipped
1 scenario passed, 2 failed, 0 skipped
""",
        ("adds two items", "outline -- @1.2 more"),
        "test_failure",
        ("features/cart.feature", 5),
    ),
    Case(
        "cucumber, Ruby",
        """\
Failing Scenarios:
cucumber features/cart.feature:5 # Scenario: adds two items

2 scenarios (1 failed, 1 passed)
""",
        ("adds two items",),
        "test_failure",
        ("features/cart.feature", 5),
    ),
    Case(
        "cucumber, JavaScript",
        """\
Failures:

1) Scenario: adds two items # features/cart.feature:5
   ✔ Given a cart # features/steps.js:3
   ✖ Then it has 3 items # features/steps.js:9
       AssertionError [ERR_ASSERTION]: 2 == 3
           + expected - actual
           at World.<anonymous> (/src/features/steps.js:10:12)

2 scenarios (1 failed, 1 passed)
""",
        ("adds two items",),
        "test_failure",
        ("features/cart.feature", 5),
    ),
    Case(
        "julia",
        """\
cart: Test Failed at /src/test/runtests.jl:12
  Expression: add(1, 1) == 3
   Evaluated: 2 == 3

Test Summary: | Pass  Fail  Total  Time
cart          |    1     1      2  0.1s
ERROR: LoadError: Some tests did not pass: 1 passed, 1 failed, 0 errored, 0 broken.
""",
        ("cart",),
        "test_failure",
        ("/src/test/runtests.jl", 12),
    ),
    Case(
        "django in parallel",
        """\
Found 3 test(s).
Creating test database for alias 'default'...
System check identified no issues (0 silenced).
.F.
======================================================================
FAIL: test_total (shop.tests.CartTest.test_total)
Totals are added up.
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/usr/lib/python3.12/unittest/case.py", line 57, in testPartExecutor
    yield
  File "/src/shop/tests.py", line 12, in test_total
    self.assertEqual(cart.total(), 3)
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 3 tests in 0.012s

FAILED (failures=1)
Destroying test database for alias 'default'...
""",
        ("test_total (shop.tests.CartTest.test_total)",),
        "test_failure",
        ("/src/shop/tests.py", 12),
        "AssertionError: 2 != 3",
    ),
    Case(
        "unittest with subtests, set-up and load errors",
        """\
E.E
======================================================================
ERROR: setUpClass (shop.tests.CartTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/src/shop/tests.py", line 5, in setUpClass
    connect()
OSError: no database

======================================================================
ERROR: shop.broken_test (unittest.loader._FailedTest.shop.broken_test)
----------------------------------------------------------------------
ImportError: Failed to import test module: shop.broken_test
Traceback (most recent call last):
  File "/usr/lib/python3.12/unittest/loader.py", line 407, in _find_test_path
    module = self._get_module_from_name(name)
  File "/src/shop/broken_test.py", line 1, in <module>
    import nope
ModuleNotFoundError: No module named 'nope'

======================================================================
FAIL: test_sizes (shop.tests.SizeTest.test_sizes) (n=3)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/src/shop/tests.py", line 22, in test_sizes
    self.assertEqual(n, 2)
AssertionError: 3 != 2

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1, errors=2)
""",
        (
            "setUpClass (shop.tests.CartTest)",
            "shop.broken_test (unittest.loader._FailedTest.shop.broken_test)",
            "test_sizes (shop.tests.SizeTest.test_sizes) (n=3)",
        ),
        "mixed",
        ("/src/shop/tests.py", 5),
        "OSError: no database",
    ),
)
