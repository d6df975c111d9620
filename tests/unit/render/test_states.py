"""Every state has its comment and its check, and both keep the rules of ux.md, section 14."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from app.render import CheckBody, render_check, render_comment, render_hand_over
from app.render.engine import TEMPLATES
from app.render.space import open_part
from app.runs.projection import State, Turn, project
from tests.unit.render.engines import ENGINES, assert_inert, read
from tests.unit.render.views import STATES

ALL = pytest.mark.parametrize("name", STATES)
PHRASES = {
    Turn.NOBODY: "**Nothing for you to do.**",
    Turn.NOBODY_YET: "**Nothing for you to do yet.**",
    Turn.AUTHOR: "**Your turn",
    Turn.MAINTAINER: "**A maintainer's turn:**",
}
CLOSING = re.compile(r"\b(clos|fix|resolv)(e|es|ed|ing)?\b:?\s+(\[|https?:|#\d|GH-\d|[\w.-]+/[\w.-]+#)", re.IGNORECASE)
RELATIVE = re.compile(r"\b(ago|just now|yesterday|(?<!times )in \d+ (seconds|minutes|hours))\b", re.IGNORECASE)
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")
FORBIDDEN = re.compile(
    r"\b(your fault|gave up|rejected|verified|guaranteed|confident|aborted|terminated|probably|iteration|validation|"
    r"judge|critic|classification|cluster|self-healing|successfully|please|simply|oops|looks\s+like)\b|!(?!\[)",
    re.IGNORECASE,
)


@cache
def comment_of(name: str) -> str:
    return render_comment(STATES[name][1])


@cache
def check_of(name: str) -> CheckBody:
    return render_check(STATES[name][1])


def texts(name: str) -> Iterator[str]:
    """The comment, and what the check says."""
    yield comment_of(name)
    yield from (check_of(name).summary, check_of(name).text)


def without_code(text: str) -> str:
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+)(?:(?!`).|(?!\1)`)*?\1", "", text)


@ALL
def test_each_state_is_the_one_that_was_meant_pj_14(name: str) -> None:
    state, view = STATES[name]
    shown = project(view)
    assert shown is not None and shown.state is state


def test_all_states_are_there_ux_s1_ux_g() -> None:
    assert {state for state, _ in STATES.values()} == set(State)


@ALL
def test_marker_first_one_heading_one_turn_ux_a_ux_c1(name: str) -> None:
    _, view = STATES[name]
    text = comment_of(name)
    shown = project(view)

    assert text.startswith("<!-- remedy:status pr:318 v1 -->\n\n### Remedy: ")
    assert len(re.findall(r"^#{1,6} ", text, re.MULTILINE)) == 1
    turns = [phrase for phrase in PHRASES.values() if phrase in text]
    assert shown is not None and turns == [PHRASES[shown.turn]]
    assert sum(text.count(phrase) for phrase in PHRASES.values()) == 1
    assert text.count("[!IMPORTANT]") == int(shown.alert)
    assert PHRASES[shown.turn] in check_of(name).summary


@ALL
def test_no_mention_outside_code_ux_b_ux_n3(name: str) -> None:
    for text in texts(name):
        assert "@" not in without_code(text)


@ALL
def test_no_closing_word_before_a_reference_ux_c_ux_e4(name: str) -> None:
    for text in texts(name):
        assert CLOSING.search(text) is None


@ALL
def test_words_of_ours_ux_d_ux_w1_ux_c13(name: str) -> None:
    for text in texts(name):
        own = without_code(text).replace("[!IMPORTANT]", "").replace("<!--", "")
        assert "$" not in own and "<img" not in own and "![" not in own
        for pattern in (EMOJI, RELATIVE, FORBIDDEN):
            assert pattern.search(own) is None, pattern.search(own)


@ALL
def test_sizes_ux_e(name: str) -> None:
    """UX-L1 to UX-L6."""
    text = comment_of(name)
    headline = re.search(r"^### Remedy: (.*)$", text, re.MULTILINE)
    body = check_of(name)

    assert headline is not None and len(headline[1]) <= 90
    assert len(open_part(text)) <= 1400
    assert len(text.encode()) <= 60_000
    assert 0 < len(body.title) <= 48
    assert 0 < len(body.summary.encode()) <= 60_000 and len(body.text.encode()) <= 60_000
    assert len(body.actions) <= 3
    for action in body.actions:
        assert (len(action.label) <= 20, len(action.identifier) <= 20, len(action.description) <= 40) == (True,) * 3


@ALL
def test_a_persons_turn_names_a_command_a_link_or_a_button_ux_g_ux_s2(name: str) -> None:
    view = STATES[name][1]
    shown = project(view)
    assert shown is not None
    if shown.turn not in (Turn.AUTHOR, Turn.MAINTAINER):
        return
    turn = comment_of(name).split("### Remedy: ", 1)[1].split("\n\n", 2)[1]
    assert re.search(r"`/remedy \w+|\]\(https://|“[^”]+”|`git |run the|copy it|start CI", turn), turn


@ALL
def test_every_button_has_its_command_in_the_comment_ux_k5(name: str) -> None:
    view = STATES[name][1]
    shown = project(view)
    assert shown is not None
    text = comment_of(name)
    # Block is offered wherever something may start; its command stands in the help that the foot links.
    assert not [button for button in shown.buttons if button != "block" and f"/remedy {button}" not in text]


@ALL
def test_no_command_stands_on_a_line_of_its_own_f_i9(name: str) -> None:
    for text in texts(name):
        assert not re.search(r"^\s*/remedy", text, re.MULTILINE)


@ALL
def test_rendering_twice_gives_the_same_bytes_ux_j_ux_c17(name: str) -> None:
    view = STATES[name][1]
    assert render_comment(view) == comment_of(name)
    assert render_check(view) == check_of(name)


@ALL
@pytest.mark.parametrize("engine", ENGINES)
def test_two_engines_read_a_well_formed_page(name: str, engine: str) -> None:
    page = read(engine, comment_of(name))

    assert_inert(page)
    assert page.tags.count("h3") == 1
    assert page.tags.count("details") == page.tags.count("summary")
    assert page.comments == [" remedy:status pr:318 v1 "]
    assert_tables(comment_of(name), page.rows)


def assert_tables(text: str, rows: list[int]) -> None:
    """Every table line of the source is a row of as many cells as its head has."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in text.split("\n") if line.startswith("|") and not re.fullmatch(r"[|:-]+", line)]
    assert len(rows) == len(lines)
    heads = [len(line.split("|")) - 2 for line in text.split("\n") if re.fullmatch(r"\|(:--\|)+", line)]
    assert set(rows) <= set(heads)


@ALL
def test_every_end_closes_its_check_ux_k_ux_s4_ux_k9(name: str) -> None:
    """A state whose run has ended, or that never had one, never leaves the check in progress."""
    view = STATES[name][1]
    shown = project(view)
    assert shown is not None
    over = view.run is None or view.run.status.value in ("COMPLETED", "CANCELLED")
    diagnosing = view.outcome is None and view.state is not None and view.state.value not in ("DONE", "FAILED")
    if over and not diagnosing:
        assert shown.status == "completed" and shown.conclusion is not None
    assert (shown.status == "completed") == (shown.conclusion is not None)
    assert shown.conclusion not in ("failure", "timed_out", "skipped", "stale"), "PJ-10"


@ALL
def test_the_hand_over_reply_is_short_and_mentions_one_person_ux_l8(name: str) -> None:
    view = STATES[name][1]
    shown = project(view)
    assert shown is not None
    if not shown.hand_over:
        return
    first, text = render_hand_over(view, "dana", 1).split("\n", 1)

    assert first.startswith("<!-- remedy:handover ") and text.startswith("@dana, ")
    assert without_code(text).count("@") == 1 and len(text.strip()) <= 300


def test_comment_and_check_say_the_same_round_and_whose_turn_ux_s3() -> None:
    for name in STATES:
        comment, check = comment_of(name), check_of(name)
        rounds = re.search(r"round (\d+ of \d+)", comment.split("\n")[2])
        if rounds and "round" in check.title:
            assert rounds[1] in check.title


def test_no_template_for_people_holds_a_word_that_is_not_ours_ux_w1() -> None:
    for folder in ("comments", "checks", "issues", "replies", "pulls", "parts"):
        for path in (TEMPLATES / folder).rglob("*.j2"):
            own = re.sub(r"\{[%#].*?[%#]\}", "", path.read_text(), flags=re.DOTALL)
            own = own.replace("[!IMPORTANT]", "").replace("<!--", "")
            for pattern in (EMOJI, RELATIVE, FORBIDDEN):
                assert pattern.search(own) is None, (path.name, pattern.search(own))
