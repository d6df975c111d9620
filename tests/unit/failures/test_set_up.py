"""Every test failed before it began, on logs as pytest, unittest and mocha print them (IT-23, G25)."""

import pytest

from app.failures.read import read_log, together

REFUSED = "ConnectionRefusedError: [Errno 111] Connection refused"


def pytest_log(rows: list[tuple[str, str, str]], total: str) -> bytes:
    """Rows of word, test and error."""
    lines = [
        "============================= test session starts ==============================",
        "collected 2 items",
        "",
    ]
    lines.append("==================================== ERRORS ====================================")
    for _, test, error in rows:
        lines += [f"{f' ERROR at setup of {test} ':_^80}", "", f"E       {error}", "", "tests/conftest.py:7: Error"]
    lines.append("=========================== short test summary info ============================")
    lines += [f"{word} tests/test_shop.py::{test} - {error}" for word, test, error in rows]
    lines += [f"{f' {total} in 0.12s ':=^80}", "##[error]Process completed with exit code 1."]
    return "\n".join(lines).encode()


ROWS = [("ERROR", "test_cart", REFUSED), ("ERROR", "test_total", REFUSED)]
UNITTEST = b"""\
======================================================================
ERROR: setUpClass (shop.tests.CartTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "shop/tests.py", line 7, in setUpClass
    connect()
ConnectionRefusedError: [Errno 111] Connection refused

----------------------------------------------------------------------
Ran 0 tests in 0.001s

FAILED (errors=1)
##[error]Process completed with exit code 1.
"""


def test_all_in_set_up_is_said() -> None:
    reading = read_log([pytest_log(ROWS, "2 errors")])

    assert reading.all_in_set_up
    assert [one.kind for one in reading.failures] == ["error", "error"]
    assert read_log([UNITTEST]).all_in_set_up


@pytest.mark.parametrize(
    "log",
    [
        pytest_log(ROWS, "1 passed, 2 errors"),
        pytest_log([*ROWS, ("FAILED", "test_price", "assert 1 == 2")], "1 failed, 2 errors"),
        pytest_log(ROWS, "2 errors") + pytest_log([], "3 passed"),
        pytest_log([("ERROR", "test_cart", "NameError: name 'total' is not defined")], "1 error"),
        pytest_log([("ERROR", "test_cart", "fixture 'shop' not found")], "1 error"),
        pytest_log([("ERROR", "test_cart", "AssertionError: assert 1 == 2")], "1 error"),
        pytest_log([("FAILED", "test_cart", REFUSED)], "1 failed"),
        b"",
    ],
    ids=[
        "one passed",
        "one failed",
        "another run passed",
        "a name",
        "a fixture",
        "an expectation",
        "a call",
        "nothing",
    ],
)
def test_anything_else_is_not(log: bytes) -> None:
    assert not read_log([log]).all_in_set_up


def test_several_logs_say_it_only_together() -> None:
    broken, fine = read_log([pytest_log(ROWS, "2 errors")]), read_log([pytest_log([], "3 passed")])

    assert together([broken, broken]).all_in_set_up
    assert not together([broken, fine]).all_in_set_up
    assert not together([]).all_in_set_up
