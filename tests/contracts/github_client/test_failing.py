"""What the client makes of lost answers, limits, dead tokens, missing rights and lost deliveries."""

import json

import pytest

from app.errors import TransientError
from app.github import checks, comments, deliveries, issues, pulls
from app.github import repositories as repos
from app.github.errors import (
    GitHubError,
    InstallationGone,
    PermissionMissing,
    RateLimited,
    RepositoryGone,
)
from app.github.paths import path
from app.github.tokens import Purpose
from tests.contracts.github_client.scene import ISSUE, MARKER, REPO, a_check


@pytest.mark.parametrize(
    ("operation", "write"),
    [
        ("issues/create-comment", lambda s: comments.open_comment(s.writer, REPO, s.number, f"{MARKER}\nx")),
        ("issues/create", lambda s: issues.open_issue(s.writer, REPO, "t", f"{ISSUE}\nx")),
        ("checks/create", lambda s: checks.open_check(s.writer, REPO, a_check(s))),
    ],
    ids=["comment", "issue", "check"],
)
def test_a_write_whose_answer_is_lost_was_sent_once_and_can_be_found(here, operation, write):
    """GH-5, GH-13, D-35: stored, but the answer never came."""
    here.hub.lost_answer(operation)
    with pytest.raises(TransientError) as error:
        write(here)
    assert error.value.outcome == "unknown"
    assert len(here.hub.log(operation)) == 1
    found = {
        "issues/create-comment": lambda: comments.find_our_comment(here.writer, REPO, here.number, here.app_id, MARKER),
        "issues/create": lambda: issues.find_our_issue(here.writer, REPO, here.hub.app.slug, ISSUE),
        "checks/create": lambda: checks.find_our_check(here.writer, REPO, here.sha, here.app_id, f"pr:{here.number}"),
    }[operation]()
    assert found is not None


def test_an_outage_of_seconds_is_not_noticed_by_a_read(here):
    """B2."""
    here.hub.outage(times=1)
    assert pulls.get_pull(here.reader, REPO, here.number).number == here.number


@pytest.mark.parametrize("retry_after_s", [60, None])
def test_a_secondary_limit_is_for_the_installation(here, retry_after_s):
    """GH-9, D-37: with and without the header."""
    here.hub.secondary(retry_after_s, op="issues/create-comment")
    with pytest.raises(RateLimited) as error:
        comments.open_comment(here.writer, REPO, here.number, "x")
    assert error.value.told is (retry_after_s is not None)
    assert error.value.retry_at is not None
    assert here.hub.comments(here.pull.thread, by=here.hub.app.bot.login) == []


def test_expired_tokens_are_minted_anew(here):
    """F-T7, GH-8."""
    assert pulls.get_pull(here.reader, REPO, here.number)
    here.hub.expire_tokens()
    assert pulls.get_pull(here.reader, REPO, here.number)
    assert comments.open_comment(here.writer, REPO, here.number, "x")


def test_a_suspended_installation_is_gone(here):
    """GH-8."""
    here.hub.suspend(REPO)
    with pytest.raises(InstallationGone):
        pulls.get_pull(here.reader, REPO, here.number)


def test_a_removed_installation_is_gone(here):
    """GH-8."""
    here.client.delete(path("app", "installations", here.installation_id))
    with pytest.raises(InstallationGone):
        pulls.get_pull(here.reader, REPO, here.number)


def test_a_repository_that_left_the_installation_is_told_apart(here):
    """F-T3."""
    here.hub.uninstall(REPO)
    with pytest.raises(RepositoryGone):
        pulls.get_pull(here.reader, REPO, here.number)


def test_a_permission_that_was_taken_away_is_named(here):
    """GH-22, GH-34."""
    here.hub.grant(REPO, "issues", "read")
    with pytest.raises(PermissionMissing, match=r"`issues: write`.*installations"):
        issues.open_issue(here.writer, REPO, "t", "b")


def test_a_token_opens_one_repository_and_one_purpose(here):
    """GH-20, S33."""
    other = here.hub.create_repo("acme/other", {"a": "1"})
    for call in (
        lambda: repos.get_repository(here.reader, "acme/other"),
        lambda: comments.open_comment(here.reader, REPO, here.number, "x"),
        lambda: pulls.get_pull(here.client.acting(Purpose.CLONE, here.repository_id), REPO, here.number),
    ):
        with pytest.raises((GitHubError, PermissionMissing)):
            call()
    there = here.client.acting(Purpose.READ, other.id)
    assert repos.get_repository(there, "acme/other").id == other.id


def test_a_renamed_repository_is_found_by_its_old_name(here):
    """GH-32."""
    here.hub.rename(REPO, "invoices")
    repository = repos.get_repository(here.reader, REPO)
    assert (repository.id, repository.full_name) == (here.repository_id, "acme/invoices")


def test_failed_deliveries_are_listed_and_asked_for_again(here):
    """GH-35, F-W4, F-W5."""
    got: list[str] = []
    here.hub.receive_with(lambda headers, body: 500)
    here.hub.comment("amy", here.pull.thread, "hello")
    here.hub.settle()
    failed = deliveries.list_failed_deliveries(here.client, 0)
    mine = [one for one in failed if one.event == "issue_comment"]
    assert len(mine) == 1
    here.hub.receive_with(lambda headers, body: (got.append(json.dumps(dict(headers)).lower()), 202)[1])
    deliveries.request_redelivery(here.client, mine[0].id)
    here.hub.settle()
    assert any(mine[0].guid in headers for headers in got)
    newest = max(one.id for one in failed)
    assert list(deliveries.list_failed_deliveries(here.client, 0, last_seen_id=newest)) == []
    assert list(deliveries.list_failed_deliveries(here.client, here.hub.now_ms() + 60_000)) == []
    attempts = [one for one in deliveries.find_attempts(here.client, 0) if one.guid == mine[0].guid]
    assert sorted(one.redelivery for one in attempts) == [False, True]


def test_a_long_list_is_read_to_its_end(here):
    """GH-37."""
    for number in range(120):
        here.hub.comment("amy", here.pull.thread, f"comment {number}")
    comments.open_comment(here.writer, REPO, here.number, f"{MARKER}\nlast")
    found = comments.find_our_comment(here.writer, REPO, here.number, here.app_id, MARKER)
    assert found is not None and found.body.endswith("last")
