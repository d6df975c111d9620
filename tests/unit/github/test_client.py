"""The client: retries, limits, paging, errors in words: GH-3, GH-5, GH-6, GH-9, GH-22, GH-37, GH-38."""

import httpx
import pytest

from app.errors import TransientError, UserError
from app.github.checks import find_check_runs, find_our_check
from app.github.client import Client
from app.github.comments import find_our_comment
from app.github.errors import (
    ForeignCheck,
    GitHubError,
    IssuesDisabled,
    ListCut,
    PermissionMissing,
    RateLimited,
    RepositoryGone,
)
from app.github.issues import find_our_issue, get_issue
from app.github.repositories import get_branch, read_file
from app.github.tokens import Purpose
from tests.unit.github.conftest import START_MS, TOKEN, answer, minted

NOT_SENT = [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout]
PERHAPS_SENT = [httpx.ReadTimeout, httpx.WriteTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError]


def test_every_request_carries_version_agent_and_a_time_limit(github, script):
    """GH-2, F-V3, F-R7."""
    script.steps = [answer({"id": 1})]
    assert github.get("/repos/o/r") == {"id": 1}
    for request in (*script.mints, *script.requests):
        assert request.headers["X-GitHub-Api-Version"] == "2022-11-28"
        assert request.headers["User-Agent"].startswith("remedy/")
        assert request.extensions["timeout"] == {"connect": 5, "read": 15, "write": 15, "pool": 15}
    assert script.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("error", [*NOT_SENT, *PERHAPS_SENT])
def test_a_read_is_tried_three_more_times(github, script, error):
    script.steps = [error, error, error, answer([])]
    assert github.get("/repos/o/r/pulls") == []
    assert script.waits == [0.5, 2, 5]


@pytest.mark.parametrize("error", NOT_SENT)
def test_a_write_that_never_left_is_tried_again(github, script, error):
    script.steps = [error, answer({"id": 1}, 201)]
    assert github.post("/repos/o/r/issues", {}) == {"id": 1}


@pytest.mark.parametrize("step", [*PERHAPS_SENT, answer({}, 500), answer({}, 502), answer({}, 503)])
@pytest.mark.parametrize("method", ["post", "patch", "put"])
def test_a_write_that_may_have_left_is_never_repeated(github, script, step, method):
    """GH-5, OB-5."""
    script.steps = [step]
    with pytest.raises(TransientError) as error:
        getattr(github, method)("/repos/o/r/issues/1", {})
    assert (error.value.outcome, script.waits, len(script.requests)) == ("unknown", [], 1)


def test_a_cut_answer_to_a_write_is_an_unknown_outcome(github, script):
    script.steps = [httpx.Response(201, content=b'{"id": 1', headers={"content-type": "application/json"})]
    with pytest.raises(TransientError) as error:
        github.post("/repos/o/r/issues", {})
    assert error.value.outcome == "unknown"


def test_what_github_makes_idempotent_may_be_repeated(github, script):
    """GH-5: reactions, redelivery requests."""
    script.steps = [httpx.ReadTimeout, answer({}, 502), answer({"id": 5}, 200)]
    assert github.post("/repos/o/r/issues/comments/1/reactions", {}, repeatable=True) == {"id": 5}


def test_an_unreachable_github_is_a_transient_error(github, script):
    script.steps = [httpx.ConnectError] * 4
    with pytest.raises(TransientError) as error:
        github.get("/repos/o/r")
    assert (error.value.outcome, error.value.cause) == ("not_done", "GitHub could not be reached: ConnectError")
    assert sum(script.waits) <= 10


def test_a_short_limit_is_waited_for_in_place(github, script):
    """GH-6: also before a write, which was not executed."""
    script.steps = [answer({"message": "slow down"}, 429, retry_after="3"), answer({"id": 1}, 201)]
    assert github.post("/repos/o/r/issues", {}) == {"id": 1}
    assert script.waits == [pytest.approx(3.3)]


@pytest.mark.parametrize("status", [403, 429])
def test_a_long_limit_is_for_the_whole_installation(github, script, status):
    """GH-9, GH-10: with the time, without sleeping."""
    script.steps = [answer({"message": "secondary rate limit"}, status, retry_after="60")]
    with pytest.raises(RateLimited) as error:
        github.get("/repos/o/r")
    assert (error.value.retry_at, error.value.told, script.waits) == (START_MS + 66_000, True, [])


def test_a_limit_that_is_not_a_number_is_a_limit_all_the_same(github, script):
    """githubkit would stumble over it."""
    script.steps = [answer({"message": "rate limit"}, 403, retry_after="soon")]
    with pytest.raises(RateLimited) as error:
        github.get("/repos/o/r")
    assert error.value.told is False


def test_a_body_that_cannot_be_sent_is_a_bug_and_no_limit(github, script):
    with pytest.raises(ValueError):
        github.post("/repos/o/r/issues", {"title": object()})
    assert script.requests == []


def test_answers_are_read_leniently(github, script):
    """GH-3, F-E5: new words are text, what is missing is empty, what is new is ignored."""
    script.steps = [
        answer({"total_count": 1, "check_runs": [{"id": 1, "conclusion": "half_green", "new": {}, "app": None}]}),
        answer({"id": 1, "number": 2, "body": None, "labels": None, "user": None, "state_reason": "new_in_2027"}),
    ]
    (run,) = find_check_runs(github, "o/r", "abc")
    assert (run.conclusion, run.app, run.name) == ("half_green", None, "")
    issue = get_issue(github, "o/r", 2)
    assert (issue.body, issue.labels, issue.state_reason) == ("", (), "new_in_2027")


def test_nothing_is_concluded_from_a_list_that_was_cut(github, script):
    """GH-37: "there is none, create" is never decided on a cut list."""
    for find in (
        lambda: find_our_comment(github, "o/r", 1, 7, "<!-- m -->"),
        lambda: find_our_issue(github, "o/r", "remedy", "<!-- m -->"),
    ):
        script.steps = [answer([], link='<https://x/?page=2>; rel="next"') for _ in range(50)]
        with pytest.raises(ListCut):
            find()
    script.steps = [answer({"check_runs": []}, link='<https://x/?page=2>; rel="next"') for _ in range(50)]
    with pytest.raises(ListCut):
        find_our_check(github, "o/r", "abc", 7, "key")


@pytest.mark.parametrize("name", ["", "o", "o/r/x", "../..", "o/..", "o/r?x", "o/r#x", "o /r"])
def test_what_is_no_name_of_a_repository_reaches_no_path(github, name):
    with pytest.raises(ValueError):
        get_issue(github, name, 1)


def test_every_part_of_a_path_is_encoded(github, script):
    """F-V4: names of branches and files are data."""
    script.steps = [answer({}, 404), answer({}, 404)]
    get_branch(github, "o/r", "a/../../x?y#z %2F")
    read_file(github, "o/r", ".github/remedy.yml", "a&b=c")
    assert script.requests[0].url.raw_path == b"/repos/o/r/branches/a%2F..%2F..%2Fx%3Fy%23z%20%252F"
    assert script.requests[1].url.raw_path == b"/repos/o/r/contents/.github%2Fremedy.yml?ref=a%26b%3Dc"


def test_a_limit_while_minting_is_seen(github, script):
    """GH-38: the call itself never left."""
    script.mint = [answer({"message": "secondary rate limit"}, 403)]
    with pytest.raises(RateLimited):
        github.post("/repos/o/r/issues", {})
    assert script.requests == []


@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ReadTimeout])
def test_minting_is_repeated(github, script, error):
    """GH-5, GH-38."""
    script.mint = [error, answer({}, 502), minted()]
    script.steps = [answer({}, 201)]
    github.post("/repos/o/r/issues", {})
    assert len(script.mints) == 3


def page(number: int, last: int) -> httpx.Response:
    url = f"https://elsewhere.example/repositories/1/pulls?page={number + 1}&per_page=100"
    return answer([{"n": number}], link=f'<{url}>; rel="next", <{url}>; rel="last"' if number < last else "")


def test_a_list_is_read_to_its_end(github, script):
    """GH-37; the token goes to no address that an answer names."""
    script.steps = [page(number, 3) for number in (1, 2, 3)]
    listing = github.pages("/repos/o/r/pulls", state="open")
    assert ([item["n"] for item in listing], listing.cut) == ([1, 2, 3], False)
    assert {request.url.host for request in script.requests} == {"api.github.com"}
    assert [request.url.path for request in script.requests] == ["/repos/o/r/pulls"] * 3
    assert dict(script.requests[0].url.params) == {"per_page": "100", "state": "open"}
    assert script.requests[2].url.params["page"] == "3"


def test_a_list_without_end_is_cut_and_says_so(github, script):
    """GH-37: after 50 pages."""
    script.steps = [page(number, 99) for number in range(1, 51)]
    listing = github.pages("/repos/o/r/pulls")
    assert (len(listing), listing.cut) == (50, True)


def test_a_list_inside_an_object_is_found_by_its_key(github, script):
    script.steps = [answer({"total_count": 1, "check_runs": [{"id": 1}]})]
    assert list(github.pages("/repos/o/r/commits/abc/check-runs", "check_runs")) == [{"id": 1}]


def test_find_gives_none_and_get_raises_when_nothing_is_there(github, script):
    script.steps = [answer({"message": "Not Found"}, 404), answer({"message": "Not Found"}, 404)]
    assert github.find("/repos/o/r/issues/1") is None
    with pytest.raises(GitHubError) as error:
        github.get("/repos/o/r/issues/1")
    assert error.value.status == 404


def test_deleting_what_is_gone_is_success(github, script):
    """B2."""
    script.steps = [answer({}, 404), httpx.Response(204)]
    github.delete("/repos/o/r/issues/comments/1")
    github.delete("/repos/o/r/issues/comments/2")


def test_a_missing_permission_is_named_with_its_cure(github, script):
    """GH-22, F-R8."""
    script.steps = [
        answer(
            {"message": "Resource not accessible by integration"}, 403, x_accepted_github_permissions="issues=write"
        ),
        answer({"id": 42, "html_url": "https://github.com/organizations/o/settings/installations/42"}),
    ]
    with pytest.raises(PermissionMissing) as error:
        github.post("/repos/o/r/issues", {})
    assert error.value.permission == "issues: write"
    assert str(error.value) == (
        "Remedy lacks `issues: write` on this repository. An owner can accept it at "
        "https://github.com/organizations/o/settings/installations/42."
    )


def test_a_missing_permission_without_a_header_is_named_by_our_table(github, script):
    script.steps = [answer({"message": "Resource not accessible by integration"}, 403), answer({}, 404)]
    with pytest.raises(PermissionMissing, match=r"`checks: write`.* in the installation's settings\."):
        github.post("/repos/o/r/check-runs", {})


def test_permissions_that_were_never_accepted_are_named_when_minting_fails(github, script):
    """GH-34: asking for more than was granted is 422 (F-T3)."""
    script.mint = [answer({"message": "The permissions requested are not granted to this installation."}, 422)]
    script.steps = [answer({"id": 42, "html_url": "https://github.com/settings/installations/42", "permissions": {}})]
    with pytest.raises(PermissionMissing, match=r"`contents: write`.*installations/42"):
        github.token(Purpose.PUSH, 1)


def test_a_repository_that_left_the_installation_is_told_apart(github, script):
    """F-T3: 422 too."""
    script.mint = [answer({"message": "There is at least one repository that does not exist or is not ..."}, 422)]
    script.steps = [answer({"id": 42, "permissions": {"contents": "write"}})]
    with pytest.raises(RepositoryGone):
        github.token(Purpose.PUSH, 1)
    assert github.token(Purpose.CLONE, 2) == TOKEN


def test_other_refusals_are_told_apart(github, script):
    """GH-24, F-C6."""
    script.steps = [
        answer({"message": "Invalid app_id `15368` - check run can only be modified by the GitHub App"}, 403),
        answer({"id": 42, "html_url": "https://github.com/settings/installations/42"}),
        answer({"message": "Repository was archived so is read-only."}, 403),
        answer({"id": 42, "html_url": "https://github.com/settings/installations/42"}),
        answer({"message": "Something new " + "x" * 1000}, 403),
        answer({"id": 42, "html_url": "https://github.com/settings/installations/42"}),
    ]
    with pytest.raises(ForeignCheck):
        github.patch("/repos/o/r/check-runs/1", {})
    with pytest.raises(UserError, match="archived"):
        github.patch("/repos/o/r/check-runs/1", {})
    with pytest.raises(GitHubError, match="Something new") as error:
        github.patch("/repos/o/r/check-runs/1", {})
    assert len(error.value.message) == 500


def test_switched_off_issues_are_a_reason_for_people(github, script):
    """F-I5."""
    script.steps = [answer({"message": "Issues are disabled for this repo"}, 410)]
    with pytest.raises(IssuesDisabled):
        github.post("/repos/o/r/issues", {})


def test_a_read_finds_a_repository_that_moved(github, script):
    """GH-2, GH-32: 301; a write keeps its method (307)."""
    moved = {"location": "https://api.github.com/repositories/1"}
    script.steps = [httpx.Response(301, headers=moved), answer({"id": 1})]
    assert github.get("/repos/o/old") == {"id": 1}
    script.steps = [httpx.Response(307, headers=moved), answer({"id": 2}, 201)]
    assert github.post("/repos/o/old/issues", {"title": "a"}) == {"id": 2}
    assert script.body(3) == {"title": "a"}


def test_a_write_is_not_turned_into_a_read_by_a_redirect(github, script):
    script.steps = [httpx.Response(302, headers={"location": "https://api.github.com/x"})]
    with pytest.raises(GitHubError) as error:
        github.post("/repos/o/r/issues", {})
    assert error.value.status == 302


def test_a_write_to_a_repository_that_moved_goes_there_as_it_is_once(github, script):
    """GH-32."""
    moved = httpx.Response(301, headers={"location": "https://api.github.com/repositories/7/issues"})
    script.steps = [moved, answer({"number": 3}, 201)]
    assert github.post("/repos/o/r/issues", {"title": "a"}) == {"number": 3}
    script.steps = [moved, moved]
    with pytest.raises(GitHubError) as error:
        github.post("/repos/o/r/issues", {"title": "a"})
    assert error.value.status == 301


def test_a_link_is_read_and_not_followed(github, script):
    """F-A3, GH-26."""
    script.steps = [httpx.Response(302, headers={"location": "https://store.example/log?sig=1"}), answer({}, 200)]
    assert github.link("/repos/o/r/actions/jobs/1/logs") == "https://store.example/log?sig=1"
    with pytest.raises(GitHubError):
        github.link("/repos/o/r/actions/jobs/1/logs")


def test_the_calls_left_are_known(github, script):
    """F-R1, F-R9."""
    assert github.remaining is None
    script.steps = [answer({}, x_ratelimit_remaining="4990"), answer({})]
    github.get("/repos/o/r")
    github.get("/repos/o/r")
    assert github.remaining == 4990


def test_a_server_below_a_path_is_asked_there(settings, script):
    """F-S1, GH-29."""
    ghes = settings.model_copy(
        update={"github": settings.github.model_copy(update={"api_url": "https://ghes.example/api/v3"})}
    )
    script.steps = [answer({})]
    with Client(ghes, 42, transport=script.transport(), pace=script.pace()) as github:
        github.get("/repos/o/r")
    assert str(script.requests[0].url) == "https://ghes.example/api/v3/repos/o/r"
    assert str(script.mints[0].url) == "https://ghes.example/api/v3/app/installations/42/access_tokens"
