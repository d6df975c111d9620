"""The agent's evidence: a budget of characters, and no failure text cut in its middle (W4, W5, IT-15)."""

from hypothesis import given
from hypothesis import strategies as st

from app.failures.evidence import budget_of, tails_within

TEXTS = st.lists(st.text(st.sampled_from("ab\n"), max_size=200), max_size=30)


@given(TEXTS, st.integers(0, 3000))
def test_each_text_keeps_its_end_and_all_together_fit(texts: list[str], chars: int) -> None:
    """W5."""
    kept = tails_within(texts, chars)
    assert sum(map(len, kept)) <= chars
    assert all(text.endswith(end) for text, end in zip(texts, kept, strict=True))


@given(TEXTS)
def test_nothing_is_cut_where_there_is_room(texts: list[str]) -> None:
    assert tails_within(texts, sum(map(len, texts)) + len(texts)) == texts


def test_a_cut_text_begins_on_a_line() -> None:
    text = "".join(f"line {at}\n" for at in range(300))
    (kept,) = tails_within([text], 900)
    assert kept.startswith("line ") and kept.endswith("line 299\n") and 880 < len(kept) <= 900


def test_what_a_short_text_leaves_goes_to_a_longer_one() -> None:
    assert [len(text) for text in tails_within(["a" * 10, "b" * 500, "c" * 500], 310)] == [10, 150, 150]


def test_the_budget_follows_the_log() -> None:
    assert [budget_of(size) for size in (100, 100_000, 10**9)] == [2_000, 10_000, 48_000]
