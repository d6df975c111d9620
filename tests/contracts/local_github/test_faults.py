"""Faults and limits: errors, lost answers, waits, the three kinds of rate limit (D-34 to D-37)."""

import subprocess
import time

import httpx
import pytest

from tests.github import LocalGitHub, Options
from tests.github.core.state import Repository
from tests.github.stage import Api, shop


@pytest.fixture
def repository(github: LocalGitHub) -> Repository:
    return shop(github)


@pytest.fixture
def client(api: Api, repository: Repository) -> httpx.Client:
    return api.of(repository)


def test_d_34_a_fault_that_no_request_met_fails() -> None:
    with pytest.raises(AssertionError, match="this fault met nothing: outage"), LocalGitHub() as github:
        github.outage()


def test_an_outage_ends_when_it_is_lifted(github: LocalGitHub, client: httpx.Client) -> None:
    outage = github.outage()
    assert [client.get("").status_code for _ in range(2)] == [502, 502]
    github.lift(outage)
    assert client.get("").status_code == 200


def test_a_fault_strikes_what_it_names_after_and_as_often_as_told(github: LocalGitHub, client: httpx.Client) -> None:
    github.fault(
        op="issues/list-for-repo", status=503, headers={"Retry-After": "3"}, body={"message": "x"}, after=1, times=1
    )
    codes = [client.get("issues").status_code for _ in range(3)]
    assert codes == [200, 503, 200]
    assert client.get("").status_code == 200


def test_d_34_chance_has_a_seed(github: LocalGitHub, client: httpx.Client) -> None:
    def codes() -> list[int]:
        fault = github.flaky(0.5, seed=3)
        found = [client.get("").status_code for _ in range(12)]
        github.lift(fault)
        return found

    first = codes()
    assert first == codes()
    assert set(first) == {200, 502}


def test_d_35_d_36_an_answer_that_is_lost_after_the_operation_ran(github: LocalGitHub, client: httpx.Client) -> None:
    github.lost_answer("issues/create")
    with pytest.raises(httpx.RemoteProtocolError):
        client.post("issues", json={"title": "Stored"})
    assert [thread.title for thread in github.issues("acme/shop")] == ["Stored"]


def test_d_35_a_request_that_is_dropped_before_it_ran(github: LocalGitHub, client: httpx.Client) -> None:
    github.fault(op="issues/create", drop=True)
    with pytest.raises(httpx.RemoteProtocolError):
        client.post("issues", json={"title": "Never"})
    assert github.issues("acme/shop") == []


def test_d_35_a_5xx_that_stored_it_all_the_same(github: LocalGitHub, client: httpx.Client) -> None:
    github.fault(op="issues/create", status=502, after_effect=True)
    assert client.post("issues", json={"title": "Stored"}).status_code == 502
    assert len(github.issues("acme/shop")) == 1


def test_d_35_a_truncated_answer(github: LocalGitHub, client: httpx.Client) -> None:
    github.fault(op="repos/get", truncate=20)
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("")


def test_a_delay_is_real_time(github: LocalGitHub, client: httpx.Client) -> None:
    github.fault(op="repos/get", delay_s=0.2)
    started = time.monotonic()
    assert client.get("").status_code == 200
    assert time.monotonic() - started >= 0.2


def test_faults_of_git_and_of_the_store(github: LocalGitHub, api: Api, repository: Repository) -> None:
    url = f"http://x:{api.token(repository)}@{github.web_url.removeprefix('http://')}/{repository.full_name}.git"
    github.fault(where="git", op="git-upload-pack", status=503)
    assert "503" in subprocess.run(["git", "ls-remote", url], capture_output=True, text=True).stderr
    assert subprocess.run(["git", "ls-remote", url], capture_output=True).returncode == 0
    github.push("ann", repository, "feature", {"a": "b"})
    check = github.report_branch_job("ann", repository, "feature", log="text")
    link = api.of(repository).get(f"actions/jobs/{check.id}/logs").headers["Location"]
    github.fault(where="store", status=503)
    assert [httpx.get(link, trust_env=False).status_code for _ in range(2)] == [503, 200]
    github.fault(where="store", truncate=2)
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(link, trust_env=False)


def test_a_lost_answer_to_a_push_leaves_the_commit_there(github: LocalGitHub, api: Api, repository: Repository) -> None:
    """PB-7: after an ambiguous push the remote has to be looked at."""
    github.fault(where="git", op="git-receive-pack", method="POST", drop=True, after_effect=True)
    url = f"http://x:{api.token(repository)}@{github.web_url.removeprefix('http://')}/{repository.full_name}.git"
    done = subprocess.run(
        ["git", "push", url, "main:refs/heads/copy"], cwd=repository.git.path, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "copy" in github.branches(repository)


def test_d_37_the_primary_limit_has_its_headers_and_resets(github: LocalGitHub, client: httpx.Client) -> None:
    github.world.limits.per_hour = 3
    answers = [client.get("") for _ in range(4)]
    assert [answer.status_code for answer in answers][-1] == 403
    assert answers[-1].headers["X-RateLimit-Remaining"] == "0"
    assert int(answers[-1].headers["X-RateLimit-Reset"]) > github.now_ms() // 1000
    github.clock(3601)
    # The token is as old as the limit: 401 tells that the limit is gone.
    assert client.get("").status_code == 401


def test_d_37_content_is_limited_to_80_a_minute() -> None:
    now = [1_800_000_000_000]
    with LocalGitHub(lambda: now[0]) as github, Api(github) as api:
        repository = shop(github)
        thread = github.open_issue("ann", repository, "T")
        client = api.of(repository)
        url = f"issues/{thread.number}/comments"
        codes = [client.post(url, json={"body": str(number)}).status_code for number in range(81)]
        assert codes == [201] * 80 + [403]
        answer = client.post(url, json={"body": "again"})
        assert answer.headers["Retry-After"] == "60"
        assert "secondary rate limit" in answer.json()["message"]
        now[0] += 61_000
        assert client.post(url, json={"body": "later"}).status_code == 201


@pytest.mark.parametrize(
    ("limit", "headers"), [("primary", "x-ratelimit-remaining"), ("secondary", "retry-after"), ("bare", None)]
)
def test_d_37_w116_the_three_kinds_can_be_ordered(
    github: LocalGitHub, client: httpx.Client, limit: str, headers: str | None
) -> None:
    github.fault(op="repos/get", limit=limit)
    answer = client.get("")
    assert answer.status_code == 403
    assert "rate limit" in answer.json()["message"]
    assert ("retry-after" in answer.headers) is (limit == "secondary")
    if headers is not None:
        assert headers in answer.headers


def test_f_r9_a_ghes_has_no_limits() -> None:
    with LocalGitHub(options=Options(ghes=True)) as github, Api(github) as api:
        client = api.of(shop(github))
        github.world.limits.per_hour = 1
        assert [client.get("").status_code for _ in range(3)] == [200] * 3
