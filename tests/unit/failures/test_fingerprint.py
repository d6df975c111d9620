"""Identity: what changes by itself is removed, what tells failures apart stays (6.1, FP-1 to FP-23, IT-19, IT-20)."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.failures.fingerprint import (
    dedup_tag,
    fingerprint,
    group_key,
    innermost_error,
    innermost_frame,
    is_unstable,
    normalise,
)

NOISE = [
    ("FP-1 blanks", "a   b\tc", "a b  c"),
    ("FP-2 date and time", "at 2024-01-02 03:04:05.678 it broke", "at 2025-11-12 13:14:15.111 it broke"),
    ("FP-2 ISO stamp", "created 2024-01-02T03:04:05Z", "created 2025-01-02T13:04:05Z"),
    ("FP-2 epoch", "token issued 1700000000", "token issued 1712345678"),
    ("FP-2 words", "on Mon, 02 Jan 2024 nothing", "on Tue, 03 Feb 2025 nothing"),
    ("FP-3 duration", "took 12.3 ms", "took 1,229.111 s"),
    ("FP-3 size", "read 4 KiB", "read 17 MiB"),
    ("FP-4 address", "<Cart object at 0x7f587c885650>", "<Cart object at 0x7fbbbc001234>"),
    ("FP-4 identity hash", "Cart@1a2b3c4d is not", "Cart@9f8e7d6c is not"),
    ("FP-5 uuid", "order 123e4567-e89b-12d3-a456-426614174000", "order 00000000-e89b-12d3-a456-426614174fff"),
    ("FP-5 commit", "in 1f2e3d4c5b6a", "in aabbccdd0011"),
    ("FP-6 workspace", "/home/runner/work/shop/shop/src/a.py is missing", "/__w/shop/shop/src/a.py is missing"),
    ("FP-6 workspace of Windows", r"D:\a\shop\shop\src\a.py is missing", r"C:\a\shop\shop\src\a.py is missing"),
    ("FP-6 home", "/home/ann/x is missing", "/home/bob/x is missing"),
    ("FP-7 temporary folder", "no file /tmp/abc123/x", "no file /tmp/zzz999/y"),
    ("FP-7 pytest", "in pytest-of-ann/pytest-12 nothing", "in pytest-of-bob/pytest-99 nothing"),
    ("FP-8 line of a place", "a.py:12: boom", "a.py:99: boom"),
    ("FP-9 process", "process 123 died", "process 4567 died"),
    ("FP-9 port", "cannot reach localhost:43210", "cannot reach localhost:50001"),
    ("FP-9 goroutine", "goroutine 7 panicked", "goroutine 12 panicked"),
    ("FP-10 address", "connect 10.0.0.7 refused", "connect 172.16.3.9 refused"),
    ("FP-10 host", "on fv-az123-456 it broke", "on fv-az999-111 it broke"),
    (
        "FP-11 installed package",
        "/opt/a/lib/python3.12/site-packages/x/y.py broke",
        "/usr/lib/site-packages/x/y.py broke",
    ),
    ("FP-12 mask", "token *** refused", "token [secure] refused"),
]
MEANING = [
    ("values", "expected 3, got 4", "expected 3, got 5"),
    ("types", "ValueError: no", "TypeError: no"),
    ("quoted names", "missing 'cart'", "missing 'shop'"),
    ("small numbers", "row 3 differs", "row 4 differs"),
]


@pytest.mark.parametrize(("one", "other"), [row[1:] for row in NOISE], ids=[row[0] for row in NOISE])
def test_noise_does_not_change_an_error(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)
    assert fingerprint("test_a", one) == fingerprint("test_a", other)


@pytest.mark.parametrize(("one", "other"), [row[1:] for row in MEANING], ids=[row[0] for row in MEANING])
def test_what_an_error_says_stays(one: str, other: str) -> None:
    assert fingerprint("test_a", one) != fingerprint("test_a", other)


def test_text_after_400_characters_is_cut() -> None:
    """FP-13."""
    assert normalise("a " * 300 + "x") == normalise("a " * 300 + "y")


def test_a_long_error_of_one_word_is_handled() -> None:
    assert len(normalise("x" * 100_000)) == 400


def test_folders_stay_in_a_name_and_moves_make_new_fingerprints() -> None:
    """Decisions 30 and 53, FP-21, FP-23."""
    assert fingerprint("tests/a/test_x.py::test_y", "no") != fingerprint("tests/b/test_x.py::test_y", "no")
    assert fingerprint("tests/a/test_x.py::test_y", "no") == fingerprint(r"tests\a\test_x.py::test_y", "no")


def test_a_volatile_name_is_marked_and_cleaned() -> None:
    """IT-19, RD8."""
    one, other = (
        f"test_order[{value}]"
        for value in ("123e4567-e89b-12d3-a456-426614174000", "00000000-e89b-12d3-a456-426614174fff")
    )
    assert fingerprint(one, "no") == fingerprint(other, "no")
    assert fingerprint(one, "no").unstable_id
    assert not is_unstable("tests/test_cart.py::test_total[two - items]")


def test_the_first_error_of_a_chain_counts() -> None:
    """6.1: Python's first block, Java's last cause, JavaScript's last cause."""
    between = "During handling of the above exception, another exception occurred:"
    python = f"E   KeyError: 'cart'\n\n{between}\n\nE   ShopError: no cart"
    assert innermost_error("ShopError: no cart", python) == "KeyError: 'cart'"
    java = "a.B: outer\n\tat a.B.c(B.java:1)\nCaused by: a.C: middle\nCaused by: a.D: inner\n\tat a.D.e(D.java:2)"
    assert innermost_error("a.B: outer", java) == "a.D: inner"
    assert innermost_error("Error: outer", "Error: outer\n  [cause]: Error: inner\n") == "Error: inner"
    assert innermost_error("plain", "no chain") == "plain"


def test_the_innermost_project_frame_has_no_folder_and_no_line() -> None:
    text = 'File "/src/app/cart.py", line 3, in total\nFile "/x/site-packages/lib/a.py", line 9, in call\n'
    assert innermost_frame(text) == "total cart.py"
    assert innermost_frame("nothing here") == ""


def test_one_error_in_many_tests_shares_its_group_key() -> None:
    """FP-21, IT-21; a bare assertion without a frame says too little (6.2, step 3)."""
    detail = '  File "/src/app/cart.py", line 3, in total\n'
    assert group_key("KeyError: 'cart'", detail) == group_key("KeyError: 'cart'", detail.replace("line 3", "line 9"))
    assert group_key("assert False", "") == ""
    assert group_key("expected true", "") == ""
    assert group_key("database is down for the count", "") != ""


def test_the_dedup_tag_uses_all_ids_and_no_details() -> None:
    """IT-20, A7, G7: equals a hand-computed value."""
    ids = ["b::test_two", "a::test_one"]
    wanted = hashlib.sha256(b"a::test_one\nb::test_two").hexdigest()[:12]
    assert dedup_tag("e2e-fail-", ids) == f"e2e-fail-{wanted}"
    assert dedup_tag("p-", reversed(ids)) == dedup_tag("p-", ids)
    assert dedup_tag("p-", [*ids, "c"]) != dedup_tag("p-", ids)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_has_an_identity(name: str, error: str) -> None:
    key = fingerprint(name, error).key
    assert len(key) == 64
    assert fingerprint(name, error).key == key
    assert normalise(normalise(error)) == normalise(error) or len(error) > 100
