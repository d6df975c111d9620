"""app.yml and the code ask GitHub for the same (GH-33)."""

from pathlib import Path

import yaml

from app.events.handlers import HANDLERS
from app.events.router import HANDLED
from app.github.tokens import PERMISSIONS, Purpose

APP_YML = yaml.safe_load((Path(__file__).parents[2] / "app.yml").read_text())

# These come to every App and cannot be subscribed to (F-W13).
UNASKED = {"installation", "installation_repositories"}
# The least that each needs, from GitHub's description of the events (github.md, A2).
EVENT_NEEDS = {
    "check_run": ("checks", "write"),
    "check_suite": ("checks", "write"),
    "workflow_run": ("actions", "read"),
    "pull_request": ("pull_requests", "read"),
    "issue_comment": ("issues", "read"),
    "pull_request_review": ("pull_requests", "read"),
    "pull_request_review_comment": ("pull_requests", "read"),
    "merge_group": ("merge_queues", "read"),
}
# `metadata: read` comes with every permission; merge groups are read from their events alone.
WITHOUT_CALL = {"metadata", "merge_queues"}
NEVER = {"workflows", "administration", "secrets", "members", "packages", "environments", "statuses"}


def test_gh_33_every_event_has_a_handler_and_every_handler_an_event() -> None:
    assert set(HANDLERS) == set(HANDLED)
    assert set(APP_YML["default_events"]) == {event for event, _ in HANDLED} - UNASKED


def test_gh_33_the_comments_name_the_actions_that_are_handled() -> None:
    text = (Path(__file__).parents[2] / "app.yml").read_text()
    for event in APP_YML["default_events"]:
        (line,) = [line for line in text.splitlines() if line.strip().startswith(f"- {event} ")]
        told = {word.strip() for word in line.partition("#")[2].split(",")}
        assert told == {action for name, action in HANDLED if name == event}


def test_gh_33_no_call_needs_more_and_no_permission_is_unused() -> None:
    """`RERUN` is the option that a site adds by hand (decisions.md, row 6)."""
    used: dict[str, str] = {}
    for purpose, permissions in PERMISSIONS.items():
        if purpose is not Purpose.RERUN:
            for name, level in permissions.items():
                used[name] = max(used.get(name, ""), level, key=("", "read", "write").index)
    granted = {n: level for n, level in APP_YML["default_permissions"].items() if n not in WITHOUT_CALL}
    assert used == granted


def test_gh_33_every_event_has_the_permission_that_it_needs() -> None:
    levels = ("read", "write")
    granted = APP_YML["default_permissions"]
    for event in APP_YML["default_events"]:
        permission, least = EVENT_NEEDS[event]
        assert levels.index(granted[permission]) >= levels.index(least), event


def test_s_rules_the_app_asks_for_the_least() -> None:
    """security.md 4: never these."""
    assert not NEVER & APP_YML["default_permissions"].keys()
    assert APP_YML["default_permissions"] == {
        "metadata": "read",
        "actions": "read",
        "checks": "write",
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "merge_queues": "read",
    }
