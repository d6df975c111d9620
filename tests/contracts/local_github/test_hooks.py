"""Webhooks: signatures, subscriptions, the delivery log, redelivery, faults (D-31 to D-33)."""

import hashlib
import hmac
import json
from collections.abc import Mapping

import pytest

from tests.github import LocalGitHub
from tests.github.core.state import Repository
from tests.github.stage import Api, broken_pull, shop


class Receiver:
    """Answers as told and keeps what came."""

    def __init__(self) -> None:
        self.status = 202
        self.got: list[tuple[Mapping[str, str], bytes]] = []

    def __call__(self, headers: Mapping[str, str], body: bytes) -> int:
        self.got.append((headers, body))
        return self.status

    @property
    def names(self) -> list[str]:
        return [headers["X-GitHub-Event"] for headers, _ in self.got]

    @property
    def guids(self) -> list[str]:
        return [headers["X-GitHub-Delivery"] for headers, _ in self.got]


@pytest.fixture
def receiver(github: LocalGitHub) -> Receiver:
    made = Receiver()
    github.receive_with(made)
    return made


@pytest.fixture
def repository(github: LocalGitHub, receiver: Receiver) -> Repository:
    return shop(github)


def test_d_31_a_delivery_is_signed_and_carries_the_headers(
    github: LocalGitHub, repository: Repository, receiver: Receiver
) -> None:
    github.open_pull("ann", repository, "feature") if github.push("ann", repository, "feature", {"a": "b"}) else None
    headers, body = receiver.got[-1]
    signature = hmac.new(github.app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] == f"sha256={signature}"
    assert headers["X-GitHub-Hook-Installation-Target-ID"] == str(github.app.id)
    assert headers["User-Agent"].startswith("GitHub-Hookshot/")
    payload = json.loads(body)
    assert payload["installation"]["id"] in github.world.state.installations
    assert payload["repository"]["id"] == repository.id


def test_d_31_only_subscribed_events_go_out(github: LocalGitHub, repository: Repository, receiver: Receiver) -> None:
    github.open_issue("ann", repository, "A wish")
    github.push("ann", repository, "feature", {"a": "b"})
    assert receiver.names == ["installation", "check_suite"]


def test_f_e3_an_event_needs_its_permission(github: LocalGitHub, repository: Repository, receiver: Receiver) -> None:
    github.grant(repository, "actions", None)
    broken_pull(github, repository)
    github.run_ci()
    assert "check_run" in receiver.names
    assert "workflow_run" not in receiver.names


def test_f_w5_d_33_the_log_is_paged_by_cursor_and_filtered(
    github: LocalGitHub, api: Api, repository: Repository, receiver: Receiver
) -> None:
    pull = broken_pull(github, repository)
    receiver.status = 500
    github.comment("ann", pull, "lost")
    receiver.status = 202
    github.comment("ann", pull, "heard")
    (failed,) = api.app.get("/app/hook/deliveries?status=failure").json()
    assert (failed["event"], failed["status_code"], failed["redelivery"]) == ("issue_comment", 500, False)
    found, url = [], "/app/hook/deliveries?per_page=3"
    while url:
        answer = api.app.get(url)
        found += [entry["id"] for entry in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert found == sorted((delivery.id for delivery in github.deliveries()), reverse=True)
    full = api.app.get(f"/app/hook/deliveries/{failed['id']}").json()
    assert full["request"]["payload"]["comment"]["body"] == "lost"


def test_d_33_a_redelivery_has_the_same_guid_and_body(
    github: LocalGitHub, api: Api, repository: Repository, receiver: Receiver
) -> None:
    receiver.status = 500
    pull = broken_pull(github, repository)
    receiver.status = 202
    failed = api.app.get("/app/hook/deliveries?status=failure").json()[-1]
    assert api.app.post(f"/app/hook/deliveries/{failed['id']}/attempts").status_code == 202
    github.settle()
    assert receiver.guids[-1] == failed["guid"]
    assert receiver.got[-1][1] == receiver.got[receiver.guids.index(failed["guid"])][1]
    newest = api.app.get("/app/hook/deliveries").json()[0]
    assert (newest["guid"], newest["redelivery"], newest["status"]) == (failed["guid"], True, "OK")
    assert pull.number == 1


def test_f_w3_d_33_what_is_older_than_three_days_is_gone(
    github: LocalGitHub, api: Api, repository: Repository, receiver: Receiver
) -> None:
    broken_pull(github, repository)
    (first, *_) = github.deliveries()
    github.clock(3 * 86_400 + 60)
    assert api.app.get("/app/hook/deliveries").json() == []
    assert api.app.post(f"/app/hook/deliveries/{first.id}/attempts").status_code == 404


def test_d_32_miss_duplicate_and_a_bad_signature(
    github: LocalGitHub, repository: Repository, receiver: Receiver
) -> None:
    pull = broken_pull(github, repository)
    receiver.got.clear()
    for mode in ("miss", "duplicate", "bad_signature"):
        github.hook_fault(mode, event="issue_comment")
        github.comment("ann", pull, mode)
    bodies = [json.loads(body)["comment"]["body"] for _, body in receiver.got]
    assert bodies == ["duplicate", "duplicate", "bad_signature"]
    assert receiver.guids[0] == receiver.guids[1]
    headers, body = receiver.got[2]
    signature = hmac.new(github.app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] != f"sha256={signature}"
    assert github.deliveries("issue_comment")[0].status_code == 502


def test_d_32_a_delayed_delivery_is_overtaken(github: LocalGitHub, repository: Repository, receiver: Receiver) -> None:
    receiver.got.clear()
    github.hook_fault("delay", event="check_suite", by=2)
    github.hook_fault("delay", event="check_run", by=9)
    broken_pull(github, repository)
    assert receiver.names == ["pull_request", "workflow_run", "check_suite"]
    github.settle()
    assert receiver.names[3:] == ["check_run"]


def test_d_32_shuffled_events_are_the_same_for_the_same_seed() -> None:
    def order(seed: int) -> list[str]:
        with LocalGitHub() as github:
            receiver = Receiver()
            github.receive_with(receiver)
            repository = shop(github)
            github.shuffle_hooks(seed)
            broken_pull(github, repository)
            github.run_ci()
            return receiver.names

    assert order(7) == order(7)
    assert sorted(order(7)) == sorted(order(8))
    assert order(7) != order(8)


def test_a_receiver_that_is_not_there_is_a_failed_delivery() -> None:
    with LocalGitHub(hook_url="http://127.0.0.1:9/hook") as github:
        shop(github)
        assert [(d.status, d.status_code) for d in github.deliveries()] == [("failed to connect to host", 502)]


def test_f_w13_installation_events_come_unasked(
    github: LocalGitHub, repository: Repository, receiver: Receiver
) -> None:
    other = shop(github, "acme/office")
    github.uninstall(other)
    github.suspend(repository)
    github.comment("ann", github.open_issue("ann", repository, "x"), "not heard")
    github.unsuspend(repository)
    assert [(d.event, d.action) for d in github.deliveries()] == [
        ("installation", "created"),
        ("installation_repositories", "added"),
        ("installation_repositories", "removed"),
        ("installation", "suspend"),
        ("installation", "unsuspend"),
    ]
