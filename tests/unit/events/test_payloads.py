"""Payloads are read whatever GitHub adds, leaves out or renames: F-E5, IT-3, IT-4, D-46, D-47."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.events.payloads import (
    MODELS,
    CheckRunEvent,
    InstallationEvent,
    IssueCommentEvent,
    Payload,
    PullRequestEvent,
    ReviewEvent,
    Unreadable,
    WorkflowRunEvent,
    parse,
    semantic_key,
)
from app.events.payloads.parts import to_millis

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))


def read(name: str) -> Any:
    path = Path(__file__).parent / "recorded" / f"{name}.json"
    payload = parse(name.split(".")[0], path.read_bytes())
    assert not isinstance(payload, Unreadable), payload
    return payload


def body(**fields: object) -> bytes:
    return json.dumps(fields).encode()


CHECK_RUN = {"id": 9, "name": "test", "head_sha": "a" * 40, "conclusion": "failure"}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_payload_is_read(path):
    """D-46: of 2018 to 2024, those that today's description refuses included."""
    payload = read(path.stem)
    assert type(payload) is MODELS[path.stem.split(".")[0]]
    assert payload.sender is not None


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_fields_that_github_adds_are_ignored_everywhere(path):
    """A21: an unknown field in every object changes nothing."""

    def add(value: object) -> object:
        if isinstance(value, dict):
            return {**{key: add(item) for key, item in value.items()}, "new_in_2027": {"a": [1]}}
        return [add(item) for item in value] if isinstance(value, list) else value

    event, raw = path.stem.split(".")[0], json.loads(path.read_bytes())
    more = parse(event, json.dumps(add(raw)).encode())
    assert isinstance(more, MODELS[event])
    assert more.model_dump(exclude={"pull_request", "changes", "issue", "installation"}) == read(path.stem).model_dump(
        exclude={"pull_request", "changes", "issue", "installation"}
    )


def test_the_facts_of_a_check_run():
    event = read("check_run.1")
    assert isinstance(event, CheckRunEvent)
    assert (event.action, event.conclusion) == ("completed", "failure")
    assert event.check_run.completed_at == to_millis("2019-05-15T15:21:12Z") == 1557933672000
    assert event.check_run.app is not None and event.check_run.app.id == 29310
    assert event.repository is not None and event.repository_id == event.repository.id


def test_the_button_of_a_check_names_itself():
    event = read("check_run.6")
    assert event.action == "requested_action"
    assert event.requested_action.identifier


def test_a_rerun_carries_its_attempt():
    """D-47."""
    run = {"id": 7, "head_sha": "b" * 40, "run_attempt": 3, "conclusion": "failure", "pull_requests": None}
    event = parse("workflow_run", body(action="completed", workflow_run=run))
    assert isinstance(event, WorkflowRunEvent)
    assert (event.workflow_run.run_attempt, event.workflow_run.pull_requests) == (3, ())


def test_a_pull_request_of_a_deleted_fork_is_read():
    """D-47: `head.repo` is null."""
    branch = {"ref": "feature", "sha": "c" * 40, "repo": None}
    event = parse(
        "pull_request", body(action="closed", pull_request={"id": 1, "number": 2, "head": branch, "base": branch})
    )
    assert isinstance(event, PullRequestEvent)
    assert event.pull_request.head.repo is None


def test_a_check_of_a_fork_has_no_pull_request_and_no_branch():
    """F-C11, D-47."""
    check = {**CHECK_RUN, "pull_requests": [], "check_suite": {"id": 3, "head_branch": None}}
    event = parse("check_run", body(action="completed", check_run=check))
    assert isinstance(event, CheckRunEvent)
    assert event.check_run.pull_requests == ()
    assert event.check_run.check_suite is not None and event.check_run.check_suite.head_branch is None


def test_times_are_read_as_text_and_as_seconds():
    """D-46: installation #1 has integer times."""
    assert to_millis("2026-01-02T03:04:05Z") == to_millis(1767323045) == to_millis("2026-01-02T05:04:05+02:00")
    assert [to_millis(value) for value in (None, "", "soon", True, [], float("inf"), float("nan"))] == [None] * 7
    assert isinstance(read("installation.1"), InstallationEvent)


def test_an_unknown_word_is_text():
    event = parse("check_run", body(action="completed", check_run={**CHECK_RUN, "conclusion": "half_green"}))
    assert isinstance(event, CheckRunEvent)
    assert event.conclusion == "half_green"


UNREADABLE = {
    "not json": (b"{", "body: Invalid JSON"),
    "empty": (b"", "body: Invalid JSON"),
    "not utf-8": (b'{"action": "\xff"}', "body: Invalid JSON"),
    "very deep": (b"[" * 100_000, "body: Invalid JSON: recursion limit"),
    "a list": (b"[]", "body: Input should be an object"),
    "no check": (b'{"action": "completed"}', "check_run: Field required"),
    "no id": (body(check_run={**CHECK_RUN, "id": None}), "check_run.id: Input should be a valid integer"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_body_that_cannot_be_read_says_why(name):
    """IT-4, S35: never an exception, never a value of the body in the reason."""
    text, reason = UNREADABLE[name]
    answer = parse("check_run", text)
    assert isinstance(answer, Unreadable)
    assert answer.reason.startswith(reason)


def test_a_body_that_cannot_be_read_still_says_whose_it_is():
    """IT-4: the row of a failed delivery belongs to its installation."""
    text = body(action="completed", check_run={}, installation={"id": 5}, repository={"id": 6, "full_name": None})
    answer = parse("check_run", text)
    assert isinstance(answer, Unreadable)
    assert (answer.action, answer.installation_id, answer.repository_id) == ("completed", 5, 6)
    assert parse("star", text) == Unreadable("no model for this event", "completed", 5, 6)


def key(name: str, **changes: object) -> str | None:
    raw = json.loads((Path(__file__).parent / "recorded" / f"{name}.json").read_bytes())
    for path, value in changes.items():
        *parents, last = path.split("__")
        target = raw
        for parent in parents:
            target = target[parent]
        target[last] = value
    payload = parse(name.split(".")[0], json.dumps(raw).encode())
    assert isinstance(payload, Payload)
    return semantic_key(payload)


def test_a_second_delivery_of_one_result_has_the_same_key():
    """IT-3: check run id, time of completion and conclusion."""
    first = key("check_run.1")
    assert first == "check_run:128620228:1557933672000:failure"
    assert key("check_run.1", sender__login="else") == first
    assert key("check_run.1", check_run__completed_at="2019-05-15T15:21:43Z") != first
    assert key("check_run.1", check_run__conclusion="success") != first
    assert key("check_run.1", check_run__completed_at=None) is None


def test_a_comment_has_its_id_for_a_key():
    """IT-3."""
    comment = read("issue_comment.1")
    assert isinstance(comment, IssueCommentEvent)
    assert key("issue_comment.1") == f"issue_comment:{comment.comment.id}"
    review = read("pull_request_review.0")
    assert isinstance(review, ReviewEvent)
    assert key("pull_request_review.0") == f"pull_request_review:{review.review.id}"
    assert str(key("pull_request_review_comment.0")).startswith("pull_request_review_comment:")


def test_a_rerun_is_a_new_result():
    first = key("workflow_run.1", workflow_run__run_attempt=1)
    assert first != key("workflow_run.1", workflow_run__run_attempt=2)


@pytest.mark.parametrize("name", ["check_run.6", "check_run.7", "pull_request.0", "installation.1", "ping.0"])
def test_buttons_and_the_rest_have_the_guid_only(name):
    """IT-3."""
    assert key(name) is None
