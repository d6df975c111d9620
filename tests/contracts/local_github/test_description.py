"""The description as rules: what a request means, what an answer must look like (D-1 to D-16)."""

import hashlib
import json
import re
from pathlib import Path

import httpx
import pytest

from tests.github import LocalGitHub, Options
from tests.github.core import spec
from tests.github.core.permissions import NEEDS
from tests.github.ops import HANDLERS
from tests.github.stage import Api, broken_pull, shop

FOLDER = Path(spec.__file__).parent.parent / "description"


def test_d_1_the_files_are_those_of_source_md_and_every_schema_compiles() -> None:
    text = (FOLDER / "SOURCE.md").read_text()
    for name in ("rest.json.gz", "hooks.json.gz", "examples.json.gz"):
        (stated,) = re.findall(rf"`{re.escape(name)}` \| ([0-9a-f]{{64}})", text)
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == stated
    assert spec.load().compile_all() > 6000


def test_every_operation_that_names_a_permission_has_a_handler_and_the_other_way_round() -> None:
    assert set(HANDLERS) == set(NEEDS)
    assert set(NEEDS) <= set(spec.load().operations)


@pytest.mark.parametrize(
    ("path", "operation", "value"),
    [
        ("/repos/a/b/contents/x%2Fy.py", "repos/get-content", "x/y.py"),
        ("/repos/a/b/contents/x/y.py", "repos/get-content", "x/y.py"),
        ("/repos/a/b/git/ref/heads%2Ffix%2F1", "git/get-ref", "heads/fix/1"),
        ("/repos/a/b/commits/fix%2F1/check-runs", "checks/list-for-ref", "fix/1"),
        ("/repos/a/b/commits/fix/1", "repos/get-commit", "fix/1"),
        ("/repos/a/b/issues/comments", "issues/list-comments-for-repo", None),
    ],
)
def test_d_7_slashes_are_read_encoded_and_raw_and_literal_paths_win(path: str, operation: str, value: str) -> None:
    match = spec.load().match("GET", path)
    assert match is not None
    assert match.operation.id == operation
    if value is not None:
        assert value in match.params.values()


def test_a_number_that_is_none_is_no_operation() -> None:
    assert spec.load().match("GET", "/repos/a/b/pulls/x") is None


def test_d_8_d_9_a_hard_fault_is_422_in_githubs_shape_and_recorded(github: LocalGitHub, api: Api) -> None:
    client = api.of(shop(github))
    github.expect("issues/create", "title")
    answer = client.post("issues", json={"body": "no title"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "title"
    assert answer.json()["message"] == "Validation Failed"


@pytest.mark.parametrize(
    ("field", "path", "extra"),
    [
        ("colour", "issues?colour=red", None),
        ("per_page", "issues?per_page=200", None),
        ("urgency", "issues", {"title": "T", "urgency": 1}),
    ],
)
def test_d_9_a_soft_fault_is_answered_and_recorded(
    github: LocalGitHub, api: Api, field: str, path: str, extra: dict[str, object] | None
) -> None:
    client = api.of(shop(github))
    github.expect("issues/list-for-repo" if extra is None else "issues/create", field)
    answer = client.get(path) if extra is None else client.post(path, json=extra)
    assert answer.is_success


def test_d_9_a_missing_version_header_is_recorded_but_not_for_minting(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    client = api.of(repository)
    del client.headers["X-GitHub-Api-Version"]
    github.expect("repos/get", "version")
    assert client.get("").status_code == 200
    app = api.app
    del app.headers["X-GitHub-Api-Version"]
    (installation,) = github.world.state.installations_of(repository)
    assert app.post(f"/app/installations/{installation.id}/access_tokens").status_code == 201


def test_d_12_two_versions_are_accepted_and_the_newer_one_drops_its_fields(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    pull = broken_pull(github, repository)
    client = api.of(repository)
    assert "merge_commit_sha" in client.get(f"pulls/{pull.number}").json()
    assert client.get("", headers={"X-GitHub-Api-Version": "2020-01-01"}).status_code == 400
    client.headers["X-GitHub-Api-Version"] = "2026-03-10"
    newer = client.get(f"pulls/{pull.number}")
    assert newer.headers["X-GitHub-Api-Version-Selected"] == "2026-03-10"
    assert not {"merge_commit_sha", "assignee"} & newer.json().keys()
    assert "has_downloads" not in newer.json()["base"]["repo"]
    assert "assignee" not in client.get(f"issues/{pull.number}").json()


def test_d_13_a_ghes_serves_below_api_v3_without_limit_headers() -> None:
    with LocalGitHub(options=Options(ghes=True)) as github, Api(github) as api:
        assert github.api_url.endswith("/api/v3")
        answer = api.of(shop(github)).get("")
        assert answer.status_code == 200
        assert answer.json()["url"].startswith(github.api_url)
        assert not [name for name in answer.headers if name.startswith("x-ratelimit")]
        assert answer.headers["X-GitHub-Enterprise-Version"] == "3.19.2"


def test_d_14_an_operation_without_a_handler_is_501_and_recorded(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    pull = broken_pull(github, repository)
    github.expect("pulls/merge", "operation")
    assert api.of(repository).put(f"pulls/{pull.number}/merge", json={}).status_code == 501


def test_d_15_an_answer_outside_the_description_is_599(
    github: LocalGitHub, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler is broken on purpose, there is no other way to a wrong answer."""
    client = api.of(shop(github))
    monkeypatch.setitem(HANDLERS, "repos/get", lambda call: [1, 2])  # type: ignore[arg-type]
    github.expect("repos/get", "bug")
    assert client.get("").status_code == 599


def test_d_16_an_expectation_that_did_not_happen_fails() -> None:
    with (
        pytest.raises(AssertionError, match="expected, but did not happen: issues/create title"),
        LocalGitHub() as github,
    ):
        github.expect("issues/create", "title")


def test_d_16_an_unexpected_violation_fails() -> None:
    with pytest.raises(AssertionError, match="is no operation"), LocalGitHub() as github:
        httpx.get(f"{github.api_url}/repos/a/b/nonsense", headers={"User-Agent": "x"}, trust_env=False)


def test_d_18_every_answer_has_githubs_headers_and_a_304_costs_nothing(github: LocalGitHub, api: Api) -> None:
    client = api.of(shop(github))
    first = client.get("")
    assert first.headers["X-GitHub-Media-Type"] == "github.v3; format=json"
    assert first.headers["X-GitHub-Request-Id"]
    again = client.get("", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert client.get("").headers["X-RateLimit-Used"] == str(int(first.headers["X-RateLimit-Used"]) + 1)


def test_d_18_lists_are_paged_by_link_headers(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    thread = github.open_issue("ann", repository, "Many words")
    for number in range(5):
        github.comment("ann", thread, f"word {number}")
    client = api.of(repository)
    found, url = [], f"issues/{thread.number}/comments?per_page=2"
    while url:
        answer = client.get(url)
        found += [comment["body"] for comment in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert found == [f"word {number}" for number in range(5)]


def test_bodies_name_only_fields_of_the_description(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    answer = api.of(repository).get("")
    schema = spec.load().operations["repos/get"].schema(200)
    assert schema is not None
    known = spec.load().rest["$defs"][schema["$ref"].rsplit("/", 1)[-1]]["properties"]
    assert set(answer.json()) <= set(known)
    assert json.dumps(answer.json()).count(repository.full_name) > 30
