"""Invented logs of test runners of the JVM, the BEAM and Haskell."""

from tests.unit.failures.reading import Case

CASES = (
    Case(
        "surefire 3, names and summary",
        """\
[INFO] -------------------------------------------------------
[INFO]  T E S T S
[INFO] -------------------------------------------------------
[INFO] Running org.shop.CartTest
[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in org.shop.CartTest
[ERROR] org.shop.CartTest.adds -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at org.shop.CartTest.adds(CartTest.java:12)

[ERROR] org.shop.CartTest.throwsUp -- Time elapsed: 0.01 s <<< ERROR!
java.lang.IllegalStateException: boom
	at org.shop.Cart.total(Cart.java:5)
	at org.shop.CartTest.throwsUp(CartTest.java:20)

[INFO] Results:
[INFO] 
[ERROR] Failures: 
[ERROR]   CartTest.adds:12 expected: <3> but was: <2>
[ERROR] Errors: 
[ERROR]   CartTest.throwsUp:20 » IllegalState boom
[INFO] 
[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0
""",
        ("org.shop.CartTest.adds", "org.shop.CartTest.throwsUp"),
        "mixed",
        ("CartTest.java", 12),
        "expected: <3> but was: <2>",
        "maven-surefire",
    ),
    Case(
        "surefire 2.6, X on instance X",
        """\
Running org.shop.CartTest
Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec <<< FAILURE!
adds on instance adds(org.shop.CartTest)(org.shop.CartTest)  Time elapsed: 0.01 sec  <<< FAILURE!
java.lang.AssertionError: boom
	at org.shop.CartTest.adds(CartTest.java:12)

Results :

Failed tests: 
  adds on instance adds(org.shop.CartTest)(org.shop.CartTest): boom

Tests run: 1, Failures: 1, Errors: 0, Skipped: 0
""",
        ("adds(org.shop.CartTest)",),
        "test_failure",
        ("CartTest.java", 12),
    ),
    Case(
        "surefire, only the summary is left (RB-3)",
        """\
[ERROR] Failures: 
[ERROR]   CartTest.adds:12 expected: <3> but was: <2>
[ERROR]   ChildTest>BaseTest.inherited:33 no
[ERROR] Errors: 
[ERROR]   CartTest.throwsUp:20->helper:5 » IllegalState boom
[INFO] 
[ERROR] Tests run: 3, Failures: 2, Errors: 1, Skipped: 0
[INFO] BUILD FAILURE
""",
        ("CartTest.adds", "ChildTest.inherited", "CartTest.throwsUp"),
        "mixed",
        ("CartTest.java", 12),
        "expected: <3> but was: <2>",
    ),
    Case(
        "surefire flakes passed on a rerun (FL-2)",
        """\
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in org.shop.CartTest
[ERROR] org.shop.CartTest.shaky  Time elapsed: 0.01 s  <<< FAILURE!
java.lang.AssertionError: boom
	at org.shop.CartTest.shaky(CartTest.java:12)

[INFO] Results:
[INFO] 
[WARNING] Flakes: 
[WARNING] org.shop.CartTest.shaky
[ERROR]   Run 1: CartTest.shaky:12 boom
[INFO]   Run 2: PASS
[INFO] 
[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1
[INFO] BUILD SUCCESS
""",
        (),
        "no_failure",
        flaky=("org.shop.CartTest.shaky",),
    ),
    Case(
        "gradle rows",
        """\
> Task :test FAILED

CartTest > adds two - items() FAILED
    org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
        at app//shop.CartTest.adds(CartTest.kt:12)

CartTest > Nested > deep [1] a, b FAILED
    java.lang.IllegalStateException at CartTest.kt:20

5 tests completed, 2 failed

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.
> There were failing tests. See the report at: file:///x

BUILD FAILED in 3s
""",
        ("CartTest > adds two - items()", "CartTest > Nested > deep [1] a, b"),
        "test_failure",
        ("CartTest.kt", 12),
        "expected: <3> but was: <2>",
        "gradle",
    ),
    Case(
        "ant, plain formatter",
        """\
    [junit] Testsuite: org.shop.CartTest
    [junit] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.02 sec
    [junit] 
    [junit] Testcase: adds took 0.01 sec
    [junit] 	FAILED
    [junit] expected:<3> but was:<2>
    [junit] junit.framework.AssertionFailedError: expected:<3> but was:<2>
    [junit] 	at org.shop.CartTest.adds(CartTest.java:12)
    [junit] 
    [junit] Testcase: ok took 0 sec
    [junit] Test org.shop.CartTest FAILED
""",
        ("adds",),
        "test_failure",
        ("CartTest.java", 12),
        "expected:<3> but was:<2>",
        "ant-junit",
    ),
    Case(
        "junit console",
        """\
Thanks for using JUnit!
╷
├─ JUnit Jupiter ✔
│  └─ CartTest ✔
│     ├─ adds() ✘ expected: <3> but was: <2>
│     └─ ok() ✔

Failures (1):
  JUnit Jupiter:CartTest:adds()
    MethodSource [className = 'CartTest', methodName = 'adds', methodParameterTypes = '']
    => org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
       org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
       CartTest.adds(CartTest.java:12)
       [...]

Test run finished after 64 ms
[         2 tests found           ]
[         1 tests failed          ]
""",
        ("CartTest:adds()",),
        "test_failure",
        ("CartTest.java", 12),
        "AssertionFailedError: expected: <3> but was: <2>",
    ),
    Case(
        "scalatest, flat",
        """\
[info] CartSpec:
[info] A cart
[info] - should add *** FAILED ***
[info]   2 did not equal 3 (CartSpec.scala:12)
[info] - should be empty
[info] Run completed in 312 milliseconds.
[info] Total number of tests run: 2
[info] Tests: succeeded 1, failed 1, canceled 0, ignored 0, pending 0
[info] *** 1 TEST FAILED ***
[error] Failed tests:
[error] 	shop.CartSpec
""",
        ("CartSpec A cart should add",),
        "test_failure",
        ("CartSpec.scala", 12),
        "2 did not equal 3",
    ),
    Case(
        "munit",
        """\
shop.CartSuite:
==> X shop.CartSuite.adds two  0.05s munit.ComparisonFailException: /src/CartSuite.scala:8
7:  test("adds two") {
8:    assertEquals(1 + 1, 3)
9:  }
values are not the same
=> Obtained
2
  + ok 0.01s
""",
        ("shop.CartSuite.adds two",),
        "test_failure",
        ("/src/CartSuite.scala", 8),
        framework="munit",
    ),
    Case(
        "specs2",
        """\
[info] CartSpec
[info] 
[info] A cart should
[info]   + be empty
[info]   x add two
[error]    2 != 3 (CartSpec.scala:12)
[info] 
[info] Total for specification CartSpec
[info] Finished in 20 ms
[info] 2 examples, 1 failure, 0 error
""",
        ("A cart should add two",),
        "test_failure",
        ("CartSpec.scala", 12),
        "2 != 3",
        "specs2",
    ),
    Case(
        "sbt with JUnit",
        """\
[error] Test shop.CartTest.adds failed: java.lang.AssertionError: expected:<3> but was:<2>, took 0.01 sec
[error]     at shop.CartTest.adds(CartTest.java:12)
[info] Test run finished: 1 failed, 0 ignored, 2 total, 0.03s
[error] Failed: Total 2, Failed 1, Errors 0, Passed 1
""",
        ("shop.CartTest.adds",),
        "test_failure",
        ("CartTest.java", 12),
        "java.lang.AssertionError",
        "sbt-junit",
    ),
    Case(
        "kotest under Gradle",
        """\
shop.CartSpec > adds two items FAILED
    io.kotest.assertions.AssertionFailedError: expected:<3> but was:<2>
        at shop.CartSpec$1$1.invokeSuspend(CartSpec.kt:12)

1 test completed, 1 failed
""",
        ("shop.CartSpec > adds two items",),
        "test_failure",
        ("CartSpec.kt", 12),
    ),
    Case(
        "exunit",
        """\
...

  1) test adds two (CartTest)
     test/cart_test.exs:5
     Assertion with == failed
     code:  assert 1 + 1 == 3
     left:  2
     right: 3
     stacktrace:
       test/cart_test.exs:6: (test)

  2) doctest Cart.total/1 (3) (CartDocTest)
     test/doc_test.exs:3
     Doctest failed
     stacktrace:
       lib/cart.ex:10: Cart (module)

Finished in 0.05 seconds (0.00s async, 0.05s sync)
1 doctest, 5 tests, 2 failures
""",
        ("test adds two (CartTest)", "doctest Cart.total/1 (3) (CartDocTest)"),
        "test_failure",
        ("test/cart_test.exs", 5),
        "Assertion with == failed",
        "exunit",
    ),
    Case(
        "common test",
        """\
%%% cart_SUITE ==> adds: FAILED
%%% cart_SUITE ==> 
Failure/Error: ?assertEqual(3, 1 + 1)
  expected: 3
       got: 2
      line: 12
%%% cart_SUITE ==> ok: OK
EXPERIMENTAL: Writing retry specification
Failed 1 tests. Passed 1 tests.
""",
        ("cart_SUITE:adds",),
        "test_failure",
        framework="common-test",
    ),
    Case(
        "eunit",
        """\
  cart_tests: adds_test...*failed*
in function cart_tests:'-adds_test/0-fun-0-'/0 (test/cart_tests.erl, line 12)
**error:{assertEqual,[{module,cart_tests},{line,12},{expression,"1 + 1"},{expected,3},{value,2}]}
  output:<<"">>
=======================================================
  Failed: 1.  Skipped: 0.  Passed: 3.
""",
        ("cart_tests:adds_test",),
        "test_failure",
        ("test/cart_tests.erl", 12),
        framework="eunit",
    ),
    Case(
        "tasty",
        """\
shop
  cart
    adds:         FAIL
      test/Main.hs:12:
      expected: 3
       but got: 2
    ok:           OK

1 out of 2 tests failed (0.00s)
""",
        ("shop cart adds",),
        "test_failure",
        ("test/Main.hs", 12),
        framework="tasty",
    ),
    Case(
        "hspec",
        """\
Cart
  adds
    two [✘]

Failures:

  test/CartSpec.hs:12:7: 
  1) Cart.adds two
       expected: 3
        but got: 2

  To rerun use: --match "/Cart/adds/two/"

Randomized with seed 12

Finished in 0.0012 seconds
2 examples, 1 failure
""",
        ("Cart.adds two",),
        "test_failure",
        ("test/CartSpec.hs", 12),
        "expected: 3",
        "hspec",
    ),
    Case(
        "alcotest",
        """\
Testing `shop'.

  [OK]          cart          0   ok.
> [FAIL]        cart          1   adds two.

┌──────────────────────────────────────────────────────────────────────────────┐
│ [FAIL]        cart          1   adds two.                                    │
└──────────────────────────────────────────────────────────────────────────────┘
ASSERT sum
FAIL sum

   Expected: `3'
   Received: `2'

 ──────────────────────────────────────────────────────────────────────────────
Full test results in `/src/_build'.
1 failure! in 0.001s. 2 tests run.
""",
        ("cart adds two",),
        "test_failure",
        message="FAIL sum",
        framework="alcotest",
    ),
)
