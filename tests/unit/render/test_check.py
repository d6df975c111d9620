"""The check body as GitHub takes it: valid against its own description, buttons and annotations in their limits."""

import gzip
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from app.render import render_check
from app.runs.model import BlockCause
from app.runs.projection import State, project
from app.runs.view import ConfigMistake, GroupView
from tests.unit.render.outside import filled
from tests.unit.render.views import OURS, STATES, blocked

DESCRIPTION = Path(__file__).parents[2] / "github" / "description" / "rest.json.gz"


@cache
def validator(operation: str) -> Any:
    description = json.loads(gzip.decompress(DESCRIPTION.read_bytes()))
    body = next(found["body"] for found in description["operations"] if found["id"] == operation)
    return jsonschema_rs.validator_for({**body, "$defs": description["$defs"]})


@pytest.mark.skipif(not DESCRIPTION.exists(), reason="GitHub's description is not in the tree")
@pytest.mark.parametrize("name", STATES)
def test_every_body_is_valid_against_githubs_description_ux_f_ux_k1(name: str) -> None:
    for view in (STATES[name][1], filled(STATES[name][1], "x" * 300)):
        body = render_check(view)
        validator("checks/create").validate(body.as_json(create=True, annotations=True))
        validator("checks/update").validate(body.as_json(create=False))


@pytest.mark.skipif(not DESCRIPTION.exists(), reason="GitHub's description is not in the tree")
def test_the_description_would_catch_a_label_that_is_too_long() -> None:
    body = render_check(STATES["fixing"][1]).as_json(create=True)
    body["actions"][0]["label"] = "x" * 21
    assert not validator("checks/create").is_valid(body)


@pytest.mark.parametrize("name", STATES)
def test_buttons_are_constant_and_those_of_the_state_ux_k3_ux_k4_pj_12(name: str) -> None:
    view = STATES[name][1]
    shown = project(view)
    assert shown is not None
    actions = render_check(view).actions

    assert tuple(action.identifier for action in actions) == shown.buttons
    assert all(action.label == action.identifier.capitalize() for action in actions)
    assert all(action.description for action in actions)


def test_buttons_by_state_ux_k4() -> None:
    shown = {
        name: tuple(action.identifier for action in render_check(view).actions) for name, (_, view) in STATES.items()
    }

    assert shown["diagnosing"] == shown["fixing"] == shown["lost contact"] == ("block",)
    assert shown["repairing the plan"] == shown["final review"] == shown["budget used"] == ("resume", "block")
    assert shown["flaky"] == shown["base red"] == ("fix",)
    assert shown["stale base"] == shown["log unavailable"] == shown["stopped"] == ("resume",)
    for ended in ("stacked pull request", "suggestions", "take-away patch", "completed", "superseded", "CI waits"):
        assert shown[ended] == ()


def test_a_conclusion_is_sent_with_completed_only_f_c2() -> None:
    assert "conclusion" not in render_check(STATES["fixing"][1]).as_json(create=True)
    body = render_check(STATES["completed"][1]).as_json(create=False)
    assert (body["status"], body["conclusion"]) == ("completed", "success")
    assert "head_sha" not in body


@pytest.mark.parametrize("cause", [cause for cause in BlockCause if cause is not BlockCause.COMMAND])
def test_trouble_of_ours_is_neutral_and_a_persons_turn_is_action_required_pj_3(cause: BlockCause) -> None:
    """domain.md, 5.3, last column; decisions.md, 5."""
    view = replace(STATES["blocked: verdict"][1], run=blocked(cause))
    person = {
        "verdict",
        "correction_limit",
        "no_progress",
        "needs_approval",
        "question",
        "secret_found",
        "human_pushed",
    }
    assert render_check(view).conclusion == ("action_required" if cause.value in person else "neutral")


def test_annotations_stand_only_at_lines_of_the_diff_and_only_for_this_change_ux_l7_ux_k8() -> None:
    view = STATES["fixing"][1]
    body = render_check(view)

    assert [(note.path, note.line) for note in body.annotations] == [("billing/money.py", 18)]
    assert body.annotations[0].title == "2 tests fail here since this change"
    assert body.annotations[0].raw_details.split("\n") == list(OURS.tests)
    assert "annotations" not in body.as_json(create=True)["output"], "sent only when asked: GitHub adds them up (F-C4)"
    without = replace(view, groups=tuple(replace(group, diff_file=None) for group in view.groups))
    assert render_check(without).annotations == ()


def test_at_most_ten_annotations_ux_l7() -> None:
    groups: tuple[GroupView, ...] = tuple(replace(OURS, group_id=str(n)) for n in range(30))
    assert len(render_check(replace(STATES["fixing"][1], groups=groups)).annotations) == 10


def test_a_moved_head_closes_the_old_check_with_where_it_goes_on() -> None:
    """decisions.md, 57."""
    state, view = STATES["superseded"]
    old = replace(view, head_sha="4be1d074c2a9f3e8d5b60718293a4b5c6d7e8f90")
    assert state is State.SUPERSEDED
    assert render_check(old).title == "Continues on b7718aa"
    assert render_check(view).title == "Stopped: newer commit b7718aa"


def test_a_mistake_in_the_pull_requests_own_policy_adds_one_line_72() -> None:
    mistake = ConfigMistake(".github/remedy.yml", "max_failures: a number is needed", 7)
    view = STATES["fixing"][1]
    summary = render_check(replace(view, config_in_head=mistake)).summary
    line = "`.github/remedy.yml` of this pull request has a mistake on line 7: max\\_failures: a number is needed"
    assert summary == render_check(view).summary + "\n\n" + line
