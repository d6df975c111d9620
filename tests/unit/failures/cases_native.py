"""Invented logs of test runners for C++, Rust, Go, .NET, Swift and others that compile."""
# ruff: noqa: E101 - lines of logs are as long, and as indented, as the tools print them

from tests.unit.failures.reading import Case

CASES = (
    Case(
        "nextest names tests without the binary",
        """\
────────────
 Nextest run ID 1a2b with nextest profile: default
    Starting 3 tests across 2 binaries
        PASS [   0.004s] shop::cart tests::ok
        FAIL [   0.005s] shop::cart tests::adds
  stdout ───

    running 1 test
    test tests::adds ... FAILED

    failures:

    failures:
        tests::adds

    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s

  stderr ───

    thread 'tests::adds' panicked at src/lib.rs:12:9:
    assertion `left == right` failed
      left: 2
     right: 3
    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

  Cancelling due to test failure
────────────
     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 0 skipped
        FAIL [   0.005s] shop::cart tests::adds
error: test run failed
""",
        ("tests::adds",),
        "test_failure",
        ("src/lib.rs", 12),
        "assertion `left == right` failed",
        "nextest",
    ),
    Case(
        "nextest flaky and time-out",
        """\
   TRY 1 FAIL [   0.005s] shop tests::shaky
   TRY 2 PASS [   0.005s] shop tests::shaky
     TIMEOUT [  60.010s] shop tests::slow
────────────
     Summary [  60.020s] 2 tests run: 1 passed (1 flaky), 0 failed, 1 timed out, 0 skipped
   FLAKY 2/3 [   0.005s] shop tests::shaky
     TIMEOUT [  60.010s] shop tests::slow
error: test run failed
""",
        ("tests::slow",),
        "timeout",
        flaky=("tests::shaky",),
    ),
    Case(
        "cargo test with old panics",
        """\
running 2 tests
test cart::tests::adds ... FAILED
test cart::tests::ok ... ok

failures:

---- cart::tests::adds stdout ----
thread 'cart::tests::adds' panicked at 'assertion failed: `(left == right)`
  left: `2`,
 right: `3`', src/cart.rs:12:9
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    cart::tests::adds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
""",
        ("cart::tests::adds",),
        "test_failure",
        ("src/cart.rs", 12),
        "assertion failed",
    ),
    Case(
        "cargo doctest",
        """\
   Doc-tests shop

running 1 test
test src/cart.rs - total (line 3) ... FAILED

failures:

---- src/cart.rs - total (line 3) stdout ----
Test executable failed (exit status: 101).

stderr:
thread 'main' panicked at src/cart.rs:5:1:
assertion failed


failures:
    src/cart.rs - total (line 3)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
""",
        ("src/cart.rs - total (line 3)",),
        "test_failure",
    ),
    Case(
        "cargo passes although a test prints a failure",
        """\
running 1 test
test tests::prints ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
""",
        (),
        "no_failure",
    ),
    Case(
        "dotnet test, vstest console",
        """\
Starting test execution, please wait...
A total of 1 test files matched the specified pattern.
  Failed Shop.Tests.CartTest.Adds(n: 2) [12 ms]
  Error Message:
   Assert.Equal() Failure
Expected: 3
Actual:   2
  Stack Trace:
     at Shop.Tests.CartTest.Adds(Int32 n) in /src/Shop.Tests/CartTest.cs:line 12
  Standard Output Messages:
 hello

  Failed Shop.Tests.CartTest.Slow [1 s]
  Error Message:
   System.Exception : too bad
  Stack Trace:
     at Shop.Tests.CartTest.Slow() in /src/Shop.Tests/CartTest.cs:line 20

Failed!  - Failed:     2, Passed:     3, Skipped:     0, Total:     5, Duration: 1 s - Shop.Tests.dll (net8.0)
""",
        ("Shop.Tests.CartTest.Adds(n: 2)", "Shop.Tests.CartTest.Slow"),
        "test_failure",
        ("/src/Shop.Tests/CartTest.cs", 12),
        "Assert.Equal() Failure",
    ),
    Case(
        "xunit rows and vstest rows are one failure (RP-1)",
        """\
[xUnit.net 00:00:01.23]     Shop.Tests.CartTest.Adds [FAIL]
[xUnit.net 00:00:01.24]       Assert.True() Failure
[xUnit.net 00:00:01.24]       Expected: True
[xUnit.net 00:00:01.24]       Actual:   False
[xUnit.net 00:00:01.24]       Stack Trace:
[xUnit.net 00:00:01.24]         /src/Shop.Tests/CartTest.cs(15,0): at Shop.Tests.CartTest.Adds()
  Failed Shop.Tests.CartTest.Adds [4 ms]
  Error Message:
   Assert.True() Failure
Expected: True
Actual:   False
  Stack Trace:
     at Shop.Tests.CartTest.Adds() in /src/Shop.Tests/CartTest.cs:line 15
Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4
""",
        ("Shop.Tests.CartTest.Adds",),
        "test_failure",
        ("/src/Shop.Tests/CartTest.cs", 15),
        "Assert.True() Failure",
    ),
    Case(
        "nunit console",
        """\
Errors, Failures and Warnings

1) Failed : Shop.Tests.CartTests.Adds(2,3)
  Expected: 3
  But was:  2
  at Shop.Tests.CartTests.Adds(Int32 a, Int32 b) in C:\\src\\CartTests.cs:line 12

2) Error : Shop.Tests.CartTests.Throws
System.InvalidOperationException : boom
  at Shop.Cart.Throws() in C:\\src\\Cart.cs:line 5
  at Shop.Tests.CartTests.Throws() in C:\\src\\CartTests.cs:line 22

Run Settings
    DisposeRunners: True

Test Run Summary
  Overall result: Failed
  Test Count: 5, Passed: 3, Failed: 2, Warnings: 0, Inconclusive: 0, Skipped: 0
""",
        ("Shop.Tests.CartTests.Adds(2,3)", "Shop.Tests.CartTests.Throws"),
        "mixed",
        ("C:\\src\\CartTests.cs", 12),
        "Expected: 3",
        "nunit",
    ),
    Case(
        "mstest",
        """\
  Failed AddsTwo [10 ms]
  Error Message:
   Assert.AreEqual failed. Expected:<3>. Actual:<2>. 
  Stack Trace:
      at Shop.Tests.CartTests.AddsTwo() in D:\\a\\shop\\CartTests.cs:line 9

Test Run Failed.
Total tests: 2
     Passed: 1
     Failed: 1
""",
        ("AddsTwo",),
        "test_failure",
        ("D:\\a\\shop\\CartTests.cs", 9),
        "Assert.AreEqual failed",
    ),
    Case(
        "bazel without inner output names targets",
        """\
//shop:cart_test                                                         FAILED in 0.3s
  /root/.cache/bazel/_bazel_root/abc/execroot/_main/bazel-out/k8-fastbuild/testlogs/shop/cart_test/test.log
//shop:ok_test                                                           PASSED in 0.1s
//shop:slow_test                                                         TIMEOUT in 300.0s

Executed 3 out of 3 tests: 1 test passes and 2 fail locally.
""",
        ("//shop:cart_test", "//shop:slow_test"),
        "mixed",
        framework="bazel",
    ),
    Case(
        "bazel with inner output names the inner tests (OP-1)",
        """\
==================== Test output for //shop:cart_test:
Running main() from gmock_main.cc
[==========] Running 2 tests from 1 test suite.
[----------] 2 tests from CartTest
[ RUN      ] CartTest.Adds
shop/cart_test.cc:12: Failure
Expected equality of these values:
  1 + 1
    Which is: 2
  3
[  FAILED  ] CartTest.Adds (0 ms)
[ RUN      ] CartTest.Ok
[       OK ] CartTest.Ok (0 ms)
[----------] 2 tests from CartTest (0 ms total)

[==========] 2 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] CartTest.Adds

 1 FAILED TEST
================================================================================
//shop:cart_test                                                         FAILED in 0.3s
Executed 1 out of 1 test: 1 fails locally.
""",
        ("CartTest.Adds",),
        "test_failure",
        ("shop/cart_test.cc", 12),
        "Expected equality of these values",
    ),
    Case(
        "googletest with parameters and types",
        """\
[ RUN      ] Sizes/CartTest.Adds/1
cart_test.cc:20: Failure
Value of: ok
  Actual: false
Expected: true
[  FAILED  ] Sizes/CartTest.Adds/1, where GetParam() = 2 (0 ms)
[ RUN      ] Typed/0.Works
[  FAILED  ] Typed/0.Works, where TypeParam = int (1 ms)
[==========] 2 tests from 2 test suites ran. (2 ms total)
[  PASSED  ] 0 tests.
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] Sizes/CartTest.Adds/1, where GetParam() = 2
[  FAILED  ] Typed/0.Works, where TypeParam = int
""",
        ("Sizes/CartTest.Adds/1", "Typed/0.Works"),
        "test_failure",
        ("cart_test.cc", 20),
        "Value of: ok",
        "googletest",
    ),
    Case(
        "googletest on Windows, a passing test prints a fake row",
        """\
[ RUN      ] CartTest.Prints
[  FAILED  ] Other.Fake (0 ms)
[       OK ] CartTest.Prints (0 ms)
[ RUN      ] CartTest.Adds
D:\\src\\cart_test.cc(20): error: Value of: ok
  Actual: false
Expected: true
[  FAILED  ] CartTest.Adds (0 ms)
[==========] 2 tests from 1 test suite ran. (2 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] CartTest.Adds
""",
        ("CartTest.Adds",),
        "test_failure",
        ("D:\\src\\cart_test.cc", 20),
    ),
    Case(
        "catch2 console",
        """\
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tests is a Catch v2.13.8 host application.
Run with -? for options

-------------------------------------------------------------------------------
cart adds
  two items
-------------------------------------------------------------------------------
/src/tests/cart.cpp:12
...............................................................................

/src/tests/cart.cpp:15: FAILED:
  REQUIRE( sum() == 3 )
with expansion:
  2 == 3

-------------------------------------------------------------------------------
throws
-------------------------------------------------------------------------------
/src/tests/cart.cpp:22
...............................................................................

/src/tests/cart.cpp:24: FAILED:
due to unexpected exception with message:
  boom

===============================================================================
test cases:  5 |  3 passed | 2 failed
assertions: 10 |  8 passed | 2 failed
""",
        ("cart adds two items", "throws"),
        "test_failure",
        ("/src/tests/cart.cpp", 15),
        "REQUIRE( sum() == 3 )",
        "catch2",
    ),
    Case(
        "catch2 compact prints no name (LP-8)",
        """\
/src/tests/cart.cpp:15: failed: sum() == 3 for: 2 == 3
Failed 1 test case, failed 1 assertion.
""",
        ("/src/tests/cart.cpp:15",),
        "test_failure",
        ("/src/tests/cart.cpp", 15),
    ),
    Case(
        "doctest for C++",
        """\
[doctest] doctest version is "2.4.9"
===============================================================================
/src/t.cpp:10:
TEST CASE:  cart adds
  two items

/src/t.cpp:14: ERROR: CHECK( sum() == 3 ) is NOT correct!
  values: CHECK( 2 == 3 )

===============================================================================
[doctest] test cases:  2 |  1 passed | 1 failed | 0 skipped
""",
        ("cart adds two items",),
        "test_failure",
        ("/src/t.cpp", 14),
        framework="doctest",
    ),
    Case(
        "boost test",
        """\
Running 3 test cases...
/src/t.cpp(12): error: in "cart_suite/adds": check sum() == 3 has failed [2 != 3]
/src/t.cpp(18): fatal error: in "cart_suite/throws": std::runtime_error: boom

*** 2 failures are detected in the test module "cart"
""",
        ("cart_suite/adds", "cart_suite/throws"),
        "test_failure",
        ("/src/t.cpp", 12),
        "check sum() == 3 has failed",
    ),
    Case(
        "ctest list only",
        """\
67% tests passed, 1 tests failed out of 3

Total Test time (real) =   0.05 sec

The following tests FAILED:
	  2 - cart unit (Failed)
Errors while running CTest
""",
        ("cart unit",),
        "test_failure",
        framework="ctest",
    ),
    Case(
        "ctest rows with a time-out",
        """\
    Start 1: cart_unit
1/3 Test #1: cart_unit ........................   Passed    0.01 sec
    Start 2: cart_slow
2/3 Test #2: cart_slow ........................***Timeout   1.50 sec
    Start 3: cart_crash
3/3 Test #3: cart_crash .......................***Exception: SegFault  0.10 sec

33% tests passed, 2 tests failed out of 3
""",
        ("cart_slow", "cart_crash"),
        "mixed",
    ),
    Case(
        "swift test on Linux",
        """\
Test Suite 'All tests' started at 2023-01-01 00:00:00.000
Test Suite 'CartTests' started at 2023-01-01 00:00:00.000
Test Case 'CartTests.testAdds' started at 2023-01-01 00:00:00.000
/src/Tests/CartTests.swift:12: error: CartTests.testAdds : XCTAssertEqual failed: ("2") is not equal to ("3") - 
Test Case 'CartTests.testAdds' failed (0.002 seconds)
Test Case 'CartTests.testOk' passed (0.0 seconds)
Test Suite 'CartTests' failed at 2023-01-01 00:00:00.000
	 Executed 2 tests, with 1 failure (0 unexpected) in 0.002 (0.002) seconds
""",
        ("CartTests.testAdds",),
        "test_failure",
        ("/src/Tests/CartTests.swift", 12),
        "XCTAssertEqual failed",
        "swift-test",
    ),
    Case(
        "swift-testing",
        """\
◇ Test run started.
◇ Test addsTwo() started.
✘ Test addsTwo() recorded an issue at CartTests.swift:8:5: Expectation failed: (1 + 1 → 2) == 3
✘ Test addsTwo() failed after 0.001 seconds with 1 issue.
✘ Test "adds two - items" recorded an issue at CartTests.swift:12:5: Expectation failed: false
✘ Test "adds two - items" failed after 0.001 seconds with 1 issue.
✔ Test ok() passed after 0.001 seconds.
✘ Suite CartTests failed after 0.003 seconds with 2 issues.
✘ Test run with 3 tests failed after 0.003 seconds with 2 issues.
""",
        ("addsTwo()", "adds two - items"),
        "test_failure",
        ("CartTests.swift", 8),
        "Expectation failed",
    ),
    Case(
        "xcodebuild lists names",
        """\
Test Case '-[ShopTests.CartTests testAdds]' started.
/src/CartTests.m:12: error: -[ShopTests.CartTests testAdds] : ((1 + 1) equal to (3)) failed: ("2") is not equal to ("3")
Test Case '-[ShopTests.CartTests testAdds]' failed (0.003 seconds).
Test Suite 'CartTests' failed at 2023-01-01.
Failing tests:
	CartTests.testAdds()

** TEST FAILED **
""",
        ("CartTests.testAdds()",),
        "test_failure",
        ("/src/CartTests.m", 12),
    ),
    Case(
        "xcbeautify",
        """\
Test Suite CartTests started
    ✔ testOk (0.001 seconds)
    ✖ testAdds, XCTAssertEqual failed: ("2") is not equal to ("3")
Failing tests:
	CartTests.testAdds()
** TEST FAILED **
""",
        ("CartTests.testAdds()",),
        "test_failure",
        message="XCTAssertEqual failed",
    ),
    Case(
        "zig",
        """\
1/2 cart.test.ok... OK
2/2 cart.test.adds two... FAIL (TestExpectedEqual)
expected 3, found 2
/src/cart.zig:12:5: 0x1 in test.adds two (test)
1 passed; 0 skipped; 1 failed.
""",
        ("cart.test.adds two",),
        "test_failure",
        ("/src/cart.zig", 12),
    ),
    Case(
        "dart and flutter",
        """\
00:01 +0: loading /src/test/cart_test.dart
00:02 +1 -1: cart adds two - items [E]
  Expected: <3>
    Actual: <2>

  package:test_api                 expect
  test/cart_test.dart 8:5          main.<fn>.<fn>

00:02 +1 -1: Some tests failed.
""",
        ("cart adds two - items",),
        "test_failure",
        ("test/cart_test.dart", 8),
    ),
    Case(
        "ginkgo names its specs, the Go test is a container",
        """\
Running Suite: Cart Suite - /src
================================
Random Seed: 1

------------------------------
• [FAILED] [0.001 seconds]
Cart when empty [It] adds two items
/src/cart_test.go:12

  [FAILED] Expected
      <int>: 2
  to equal
      <int>: 3
  In [It] at: /src/cart_test.go:14 @ 01/01/23 00:00:00.000
------------------------------

Summarizing 1 Failure:
  [FAIL] Cart when empty [It] adds two items
  /src/cart_test.go:14

Ran 3 of 3 Specs in 0.002 seconds
FAIL! -- 2 Passed | 1 Failed | 0 Pending | 0 Skipped
--- FAIL: TestCart (0.00s)
FAIL
FAIL	example.com/cart	0.01s
""",
        ("Cart when empty [It] adds two items",),
        "test_failure",
        ("/src/cart_test.go", 14),
        framework="ginkgo",
    ),
    Case(
        "go time-out lists running tests",
        """\
=== RUN   TestSlow
panic: test timed out after 2s
running tests:
	TestSlow (2s)

goroutine 17 [running]:
testing.(*M).startAlarm.func1()
	/usr/local/go/src/testing/testing.go:2241 +0x1f5
created by time.goFunc

goroutine 6 [sleep]:
time.Sleep(0x2)
	/usr/local/go/src/runtime/time.go:195 +0x125
example.com/shop.TestSlow(0xc0)
	/src/shop/slow_test.go:8 +0x2e
FAIL	example.com/shop	2.010s
FAIL
""",
        ("TestSlow",),
        "timeout",
        ("/src/shop/slow_test.go", 8),
    ),
    Case(
        "go -v: a row that no RUN line announced is output (MG-2)",
        """\
=== RUN   TestPrints
--- FAIL: TestFake (0.00s)
--- PASS: TestPrints (0.00s)
=== RUN   TestAdds
    cart_test.go:12: got 2, want 3
--- FAIL: TestAdds (0.00s)
FAIL
FAIL	example.com/cart	0.01s
""",
        ("TestAdds",),
        "test_failure",
        ("cart_test.go", 12),
        "got 2, want 3",
    ),
)
