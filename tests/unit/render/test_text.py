"""code, fence and prose: nothing from outside is live, in two Markdown engines and five places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.render.text import clean, code, cut_middle, facts, fence, prose
from tests.unit.render.engines import ENGINES, Page, assert_inert, read
from tests.unit.render.hostile import CORPUS

PLACES = {
    "inline": lambda text: f"Before {code(text)} after.",
    "table cell": lambda text: (
        f"| a | b |\n|:--|:--|\n| {code(text, 60, table=True)} | {prose(text)} |\n| x | {facts(text)} |"
    ),
    "fence": lambda text: f"Before\n\n{fence(text)}\n\nafter",
    "paragraph": lambda text: f"{prose(text)}\n\nafter",
    "list item": lambda text: f"1. {prose(text)}\n2. {code(text)}",
    "quotation": lambda text: f"Reason given: “{prose(text)}”",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_is_inert_in_every_place_ux_e1(engine: str, place: str) -> None:
    for name, text in CORPUS.items():
        page = read(engine, PLACES[place](text))

        assert_inert(page)
        assert not page.comments, name
        if place == "table cell":
            assert page.rows == [2, 2, 2], name
        paragraphs = {"paragraph": 1 + bool(text.strip()), "fence": 2, "inline": 1, "quotation": 1}
        assert page.tags.count("p") == paragraphs.get(place, page.tags.count("p")), name
        assert set(page.tags) <= {"p", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "ol", "li"}, name


@given(st.text(max_size=120))
def test_any_text_stays_in_its_place_ux_e1(text: str) -> None:
    for place in PLACES.values():
        for engine in ENGINES:
            assert_inert(read(engine, place(text)))


@given(st.lists(st.sampled_from(sorted(CORPUS.values())), min_size=2, max_size=4))
def test_pieces_of_the_corpus_together_are_inert_ux_e1(parts: list[str]) -> None:
    for glue in ("", " ", "`", "\n"):
        for place in PLACES.values():
            for engine in ENGINES:
                assert_inert(read(engine, place(glue.join(parts))))


@pytest.mark.parametrize("ticks", [39, 40, 41, 79, 80, 81, 119, 500])
def test_no_run_of_backticks_opens_a_code_span_ux_e1(ticks: int) -> None:
    """GitHub's engine gives up on code spans with more than 80 backticks at each end."""
    for text in ("www.evil.example" + "`" * ticks, "`" * ticks + " @amy http://evil.example", "#1`" + "`" * ticks):
        for place in PLACES.values():
            for engine in ENGINES:
                assert_inert(read(engine, place(text)))


def test_invisible_characters_are_shown_as_escapes() -> None:
    assert clean("a\u202eb\u200bc\U000e0041\x00") == "a\\u202eb\\u200bc\\U000e0041\\u0000"
    assert clean("\x1b[1;31mred\x1b[0m\r\nnext\tcell") == "red\nnext    cell"


def test_an_identifier_is_cut_in_the_middle_ux_l10() -> None:
    assert cut_middle("abcdefghij", 5) == "ab…ij"
    assert len(str(code("x" * 500))) == 122
    assert str(code("")) == "` `"
    assert str(code("`a`")) == "`` `a` ``"
    assert str(code("a|b", table=True)) == "`a\\|b`"


def test_a_fence_keeps_first_and_last_halves_and_is_longer_than_any_run_inside() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    lines = str(fence(text, lines=4)).split("\n")

    assert lines == ["```text", "line 0", "line 1", "… 96 lines left out …", "line 98", "line 99", "```"]
    assert str(fence("a\n````\nb")).startswith("`````text\n")
    # The run of backticks was cut away, so the fence need not outgrow it.
    assert str(fence("a\n" * 50 + "``````\n" + "b\n" * 50, lines=4)).startswith("```text")
    assert str(fence("x" * 300, width=10)) == "```text\nxxxxxxxxx…\n```"


def test_prose_is_cut_before_it_is_made_safe() -> None:
    shown = str(prose("word " * 200))

    assert len(shown) <= 400 and shown.endswith("…")
    assert str(prose("see `a` & <b>", 400)) == "see \\`a\\` &amp; &lt;b>"
    assert str(prose("two\nlines")) == "two lines"


def test_code_spans_of_our_own_sentences_stay_code_spans() -> None:
    assert str(facts("passes on `main` 5 of 5")) == "passes on `main` 5 of 5"
    assert str(facts("one ` tick @x")) == "one \\` tick `@x`"
    assert_inert(read("cmark-gfm", str(facts("`a|b` @octocat `fixes #1`"))))


def test_a_page_notices_what_is_live() -> None:
    """The judge of these tests itself: each live thing is seen."""
    for text in ("@octocat", "fixes #12", "[x](https://evil.example)", "<h1>x</h1>", "see www.evil.example"):
        page: Page = read("cmark-gfm", text)
        with pytest.raises(AssertionError):
            assert_inert(page)
