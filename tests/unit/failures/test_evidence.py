"""The agent's evidence: a budget of tokens, and no failure text cut in its middle (W4, W5, IT-15)."""

from hypothesis import given
from hypothesis import strategies as st

from app.failures.evidence import budget_of, evidence
from app.failures.model import Diagnostic, Failure, Reading


def failing(at: int, detail: str = "detail\n" * 40) -> Failure:
    return Failure(
        f"tests/a.py::test_{at}", "pytest", "fail", f"AssertionError: {at} is wrong", detail, "tests/a.py", at + 1
    )


def reading(count: int, size: int = 500_000, **more: object) -> Reading:
    return Reading(
        "test_failure",
        tuple(failing(at) for at in range(count)),
        bytes_seen=size,
        bytes_total=size,
        exit_code=1,
        **more,
    )  # type: ignore[arg-type]


def test_it_reads_like_this() -> None:
    one = evidence(
        Reading("test_failure", (failing(0, "first\nlast"),), bytes_seen=30_000, bytes_total=30_000, exit_code=1),
        job="build",
    )
    assert (
        one.text
        == """\
Job build: test_failure, exit code 1
1 failing tests

[1] tests/a.py::test_0
    fail at tests/a.py:1
    AssertionError: 0 is wrong
first
last
"""
    )


@given(st.integers(1, 120), st.integers(1_000, 40_000))
def test_each_shown_failure_keeps_its_message_and_the_size_its_budget(count: int, budget: int) -> None:
    """W5: for any budget above the floor."""
    one = evidence(reading(count), max_chars=budget)
    assert len(one.text) <= budget + 400
    assert one.total == count
    for at in range(one.shown):
        assert f"AssertionError: {at} is wrong" in one.text
        assert f"tests/a.py::test_{at}\n" in one.text
    if one.shown < count:
        assert f"({count} failing tests, first {one.shown} shown)" in one.text


def test_captured_text_is_cut_at_its_beginning_on_a_line_and_says_so() -> None:
    """W4: both numbers."""
    text = "".join(f"line {at}\n" for at in range(300))
    one = evidence(Reading("test_failure", (failing(0, text),), bytes_total=10), max_chars=900)
    assert "of 2590 characters)" in one.text
    assert "line 299" in one.text
    assert "line 0\n" not in one.text


def test_a_cut_log_is_stated_with_both_numbers() -> None:
    """W4, IT-15."""
    one = evidence(Reading("unknown", bytes_seen=10, bytes_total=99))
    assert "log cut: 10 of 99 bytes seen" in one.text
    assert (one.bytes_seen, one.bytes_total) == (10, 99)


def test_compiler_rows_follow() -> None:
    rows = (Diagnostic("undeclared x", "a.c", 3, code="E1"), Diagnostic("a warning", "a.c", 4, severity="warning"))
    assert evidence(Reading("compile_error", diagnostics=rows, bytes_total=50_000)).text.endswith(
        "a.c:3 E1 undeclared x"
    )


def test_the_budget_follows_the_log() -> None:
    assert budget_of(Reading("unknown", bytes_total=100)) == 2_000
    assert budget_of(Reading("unknown", bytes_total=100_000)) == 10_000
    assert budget_of(Reading("unknown", bytes_total=10**9)) == 48_000
