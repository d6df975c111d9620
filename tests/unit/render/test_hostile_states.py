"""The hostile corpus through every template, and very many groups (UX-h, UX-i)."""

import re
from dataclasses import replace

import pytest

from app.render import (
    Closing,
    Commit,
    Denied,
    Help,
    HelpRow,
    Mistake,
    Nothing,
    NotNow,
    Reopening,
    Unknown,
    links_of,
    render_check,
    render_closing,
    render_comment,
    render_commit,
    render_hand_over,
    render_issue,
    render_pull,
    render_reopening,
    render_reply,
)
from app.render.space import open_part
from app.runs.model import Cause
from app.runs.projection import project
from app.runs.view import GroupView, SeenRow
from tests.unit.render.engines import ENGINES, assert_inert, read
from tests.unit.render.hostile import CORPUS
from tests.unit.render.outside import filled
from tests.unit.render.test_states import assert_tables
from tests.unit.render.views import AT_0914, HEAD, OURS, STATES

pytestmark = pytest.mark.slow

STATE = pytest.mark.parametrize("state", STATES)
EVERYTHING = "\n".join(CORPUS.values())
FIRST_OF_STATE = {state: name for name, (state, _) in reversed(STATES.items())}.values()


def texts_for(name: str) -> dict[str, str]:
    """The whole corpus for one case of each template, all of it at once for the other cases."""
    return {**(CORPUS if name in FIRST_OF_STATE else {}), "everything": EVERYTHING}


@STATE
def test_hostile_texts_are_inert_in_every_state_ux_h_ux_e2(state: str) -> None:
    view = STATES[state][1]
    for name, text in texts_for(state).items():
        made = render_comment(filled(view, text))
        page = read("cmark-gfm", made)

        assert_inert(page)
        assert page.tags.count("h3") == 1 and not {"h1", "h2"} & set(page.tags), name
        assert page.comments == [" remedy:status pr:318 v1 "], name
        assert len(open_part(made)) <= 1400, (name, len(open_part(made)))
        assert_tables(made, page.rows)


@STATE
def test_hostile_texts_are_inert_in_every_check_ux_h(state: str) -> None:
    view = STATES[state][1]
    for text in texts_for(state).values():
        body = render_check(filled(view, text))
        assert len(body.title) <= 48 and "\n" not in body.title and "@" not in body.title
        for part in (body.summary, body.text):
            page = read("cmark-gfm", part)
            assert_inert(page)
            assert not page.comments and len(part.encode()) <= 60_000


@STATE
@pytest.mark.parametrize("engine", ENGINES)
def test_all_hostile_texts_at_once_in_both_engines_ux_h(state: str, engine: str) -> None:
    assert_inert(read(engine, render_comment(filled(STATES[state][1], EVERYTHING))))


@pytest.mark.parametrize("name", CORPUS)
def test_hostile_texts_are_inert_in_issues_pulls_and_replies_ux_h(name: str) -> None:
    text = CORPUS[name]
    view = filled(STATES["stacked pull request"][1], text)
    links = links_of(view)
    seen = (SeenRow(AT_0914, text, text, HEAD, Cause.THIS_CHANGE),)
    title, issue = render_issue(view.groups[0], view, seen, "fp")
    made = [
        issue,
        render_pull(view)[1],
        render_closing(Closing("base_green", text, shas=(text,)), text),
        render_reopening(Reopening(text, text, text), links, text),
        *(render_reply(reply, links, text) for reply in replies(text)),
        render_hand_over(filled(STATES["blocked: verdict"][1], text), f"not a login {text}", 1),
    ]
    assert len(title) <= 72 and "\n" not in title
    for engine in ENGINES:
        for markdown in made:
            page = read(engine, markdown)
            assert_inert(page)
            assert len(page.comments) == 1 and markdown.startswith("<!-- remedy:")


def replies(text: str) -> list[Denied | Help | Mistake | NotNow | Nothing | Unknown]:
    return [
        Unknown(text, ("fix", "resume"), ""),
        Denied(text, text),
        Denied("fix", text, why=text),
        Nothing("stopped", by=text),
        NotNow("fix", "not_ready", reason=text),
        NotNow(text, "other", reason=text),
        Mistake(text),
        Help((HelpRow("fix", "write access", "start a repair"),), f"/remedy resume {text}", 318),
    ]


@pytest.mark.parametrize("name", CORPUS)
def test_a_commit_message_acts_on_nothing_ux_x3(name: str) -> None:
    text = CORPUS[name]
    message = render_commit(Commit(text, "8F3K2Q", 1, (text,), why=text, scope=text, co_author=text, co_author_id=1))
    subject, _, rest = message.partition("\n")
    body = rest.rsplit("\n\n", 1)[0]

    assert subject.startswith("fix") and len(subject) <= 72
    assert "@" not in subject + body and "#1" not in subject + body and "://" not in subject + body
    trailers = message.rstrip("\n").rsplit("\n\n", 1)[1].split("\n")
    made_by_us = re.compile(
        r"Remedy-(Run|Round|Tests): .*|Co-authored-by: ([\w-]+) <1\+\2@users\.noreply\.github\.com>"
    )
    assert all(made_by_us.fullmatch(line) for line in trailers)


@pytest.mark.parametrize("state", ["fixing", "blocked: verdict", "stacked pull request", "final review", "base red"])
def test_400_groups_of_hostile_names_stay_below_the_limits_ux_i_ux_l9(state: str) -> None:
    texts = list(CORPUS.values())
    groups = tuple(many(n, texts[n % len(texts)]) for n in range(400))
    view = replace(STATES[state][1], groups=groups, failures_total=400)
    made = render_comment(view)

    assert len(made.encode()) <= 60_000 and len(open_part(made)) <= 1400
    for engine in ENGINES:
        page = read(engine, made)
        assert_inert(page)
        assert_tables(made, page.rows)
    assert "350 more on" in made
    check = render_check(view)
    assert len(check.text.encode()) <= 60_000


def many(n: int, text: str) -> GroupView:
    return replace(OURS, group_id=f"g{n}", tests=(f"{text}::{n}",), title=text, file=text, cause=OURS.cause)


def test_a_huge_diff_and_a_huge_log_are_cut_and_say_so_ux_l5() -> None:
    view = STATES["final review"][1]
    assert view.fix is not None and view.evidence is not None
    wide = "\n".join("😀" * 300 for _ in range(5000))
    view = replace(view, fix=replace(view.fix, diff=wide), evidence=replace(view.evidence, text=wide))
    made = render_comment(view)

    assert len(made.encode()) <= 60_000
    assert "lines left out" in made
    assert_inert(read("cmark-gfm", made))
    assert project(view) == project(STATES["final review"][1])
