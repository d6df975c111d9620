"""What the doctor asks GitHub: each thing is broken once, and named with its cure (GH-34, F-W11, W117)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.doctor import github
from app.errors import UserError
from app.settings import Settings
from tests.contracts.github_client.scene import REPO, settings_for
from tests.github import LocalGitHub

URL = "https://remedy.example"


@pytest.fixture
def hub() -> Iterator[LocalGitHub]:
    with LocalGitHub(hook_url=f"{URL}/webhook") as hub:
        hub.receive_with(lambda headers, body: 202)
        hub.create_repo(REPO, {"README.md": "# A\n"})
        yield hub


@pytest.fixture
def settings(hub: LocalGitHub, tmp_path: Path) -> Settings:
    secret = hub.app.webhook_secret
    return settings_for(hub, tmp_path, "2022-11-28").model_copy(update={"url": URL, "webhook_secret": secret})


def test_w117_a_right_app_passes(settings: Settings) -> None:
    for check in (github.app_key, github.permissions, github.events, github.webhook):
        assert check(settings).level == "passed", check(settings)


def test_gh_34_an_answer_without_a_date_says_nothing_about_the_clock(settings: Settings) -> None:
    """The local GitHub sends none."""
    assert github.clock(settings).level == "not checked"


def test_gh_34_a_key_of_another_app_is_not_accepted(settings: Settings) -> None:
    with pytest.raises(UserError, match="GitHub refuses the app's key"):
        github.app_key(settings.model_copy(update={"app_id": 1}))


def test_another_slug_is_named(settings: Settings) -> None:
    found = github.app_key(settings.model_copy(update={"app_slug": "other"}))
    assert (found.level, f"REMEDY_APP_SLUG={settings.app_slug}" in found.cure) == ("failed", True)


def test_gh_34_a_permission_that_nobody_accepted_is_named_with_its_link(hub: LocalGitHub, settings: Settings) -> None:
    hub.grant(REPO, "checks", None)
    found = github.permissions(settings)
    assert (found.level, found.details) == ("failed", "acme did not accept checks: write")
    assert "installations" in found.link


def test_gh_34_a_permission_that_the_app_does_not_ask_for(hub: LocalGitHub, settings: Settings) -> None:
    hub.app.permissions.pop("issues")
    found = github.permissions(settings)
    assert (found.level, found.details) == ("failed", "the App does not ask for issues: write")


def test_an_event_that_is_not_subscribed(hub: LocalGitHub, settings: Settings) -> None:
    hub.app.events.remove("check_run")
    assert github.events(settings).details == "not subscribed: check_run"


def test_f_w11_a_hook_that_goes_elsewhere(hub: LocalGitHub, settings: Settings) -> None:
    hub.set_hook("https://old.example/webhook")
    found = github.webhook(settings)
    assert (found.level, found.cure) == ("failed", f"set the App's webhook URL to {URL}/webhook")


def test_f_m4_an_address_of_this_machine_is_no_address_for_github(hub: LocalGitHub, settings: Settings) -> None:
    hub.set_hook("http://127.0.0.1:8000/webhook")
    away = settings.github.model_copy(update={"web_url": "https://github.com"})
    found = github.webhook(settings.model_copy(update={"url": "http://127.0.0.1:8000", "github": away}))
    assert (found.level, "this machine only" in found.details) == ("failed", True)


def test_the_last_delivery_is_shown(hub: LocalGitHub, settings: Settings) -> None:
    hub.collaborator(REPO, "amy", "write")
    hub.push("amy", REPO, "feature", {"a": "b"})
    hub.open_pull("amy", REPO, "feature", title="A feature", body="text")
    hub.settle()
    found = github.last_delivery(settings)
    assert (found.level, "pull_request, " in found.details, "answered 202" in found.details) == ("passed", True, True)


def test_w117_a_delivery_that_did_not_arrive_fails(hub: LocalGitHub, settings: Settings) -> None:
    hub.receive_with(lambda headers, body: 502)
    hub.collaborator(REPO, "amy", "write")
    hub.push("amy", REPO, "feature", {"a": "b"})
    hub.open_pull("amy", REPO, "feature", title="A feature", body="text")
    hub.settle()
    found = github.last_delivery(settings)
    assert (found.level, "answered 502" in found.details) == ("failed", True)


def test_github_away_is_no_failure_of_the_app(settings: Settings) -> None:
    away = settings.github.model_copy(update={"api_url": "http://127.0.0.1:9"})
    assert github.events(settings.model_copy(update={"github": away})).level == "not checked"
