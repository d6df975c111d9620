"""Who may do what: JWT, scoped tokens, permission levels, renamed repositories (D-17, D-20)."""

import time

import pytest

from tests.github import LocalGitHub
from tests.github.stage import Api, shop


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(time.time()) + 1200},
        {"exp": int(time.time()) - 10},
        {"iat": int(time.time()) + 600},
        {"iss": "1"},
    ],
    ids=["exp too far ahead", "expired", "from the future", "another app"],
)
def test_d_17_a_jwt_outside_the_rules_is_401(github: LocalGitHub, api: Api, claims: dict[str, object]) -> None:
    assert api.app.get("/app").status_code == 200
    assert api.client(api.jwt(**claims)).get("/app").status_code == 401


def test_d_17_the_issuer_may_be_the_client_id(github: LocalGitHub, api: Api) -> None:
    assert api.client(api.jwt(iss=github.app.client_id)).get("/app").status_code == 200


def test_d_17_tokens_have_the_shape_of_2026(github: LocalGitHub, api: Api) -> None:
    token = api.token(shop(github))
    assert 500 <= len(token) <= 530
    assert token.startswith(f"ghs_{github.app.id}_eyJ")
    assert token.count(".") == 2


def test_d_17_a_token_asks_for_no_more_than_is_granted(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    (installation,) = github.world.state.installations_of(repository)
    url = f"/app/installations/{installation.id}/access_tokens"
    assert api.app.post(url, json={"permissions": {"administration": "write"}}).status_code == 422
    assert api.app.post(url, json={"permissions": {"actions": "write"}}).status_code == 422
    assert api.app.post(url, json={"repository_ids": [12]}).status_code == 422


def test_d_17_a_scoped_token_sees_its_repository_only(github: LocalGitHub, api: Api) -> None:
    one, other = shop(github), shop(github, "acme/office")
    client = api.of(one)
    assert client.get("").status_code == 200
    assert client.get(f"{github.api_url}/repos/{other.full_name}").status_code == 404
    assert client.get(f"{github.api_url}/repos/acme/nothing").status_code == 404


def test_d_17_a_missing_permission_is_403_and_named_for_reads_too(github: LocalGitHub, api: Api) -> None:
    client = api.of(shop(github), checks="read")
    answer = client.get("issues")
    assert answer.status_code == 403
    assert answer.json()["message"] == "Resource not accessible by integration"
    assert answer.headers["X-Accepted-GitHub-Permissions"] == "issues=read"
    sha = github.branches("acme/shop")["main"]
    assert client.get(f"commits/{sha}/check-runs").status_code == 200
    assert client.post("check-runs", json={"name": "R", "head_sha": sha}).status_code == 403


def test_d_17_tokens_expire_and_die_with_a_suspension(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    client = api.of(repository)
    github.clock(3601)
    assert client.get("").status_code == 401
    client = api.of(repository)
    github.suspend(repository)
    assert client.get("").status_code == 403
    (installation,) = github.world.state.installations_of(repository)
    assert api.app.post(f"/app/installations/{installation.id}/access_tokens").status_code == 403
    github.unsuspend(repository)
    assert client.get("").status_code == 200


def test_d_17_app_operations_want_the_jwt_and_others_a_token(github: LocalGitHub, api: Api) -> None:
    client = api.of(shop(github))
    assert client.get(f"{github.api_url}/app/hook/deliveries").status_code == 401
    assert api.app.get("/repos/acme/shop").status_code == 403
    assert api.client(None).get("/repos/acme/shop").status_code == 401


def test_d_17_no_user_agent_is_403(github: LocalGitHub, api: Api) -> None:
    client = api.of(shop(github))
    assert client.get("", headers={"User-Agent": ""}).status_code == 403


def test_a_permission_that_is_taken_away_is_gone_at_once(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    client = api.of(repository)
    github.grant(repository, "issues", None)
    assert client.get("issues").status_code == 403
    assert [delivery.action for delivery in github.deliveries("installation")] == [
        "created",
        "new_permissions_accepted",
    ]


@pytest.mark.parametrize(
    ("role", "permission"),
    [("admin", "admin"), ("maintain", "write"), ("write", "write"), ("triage", "read"), ("read", "read")],
)
def test_d_20_permission_levels(github: LocalGitHub, api: Api, role: str, permission: str) -> None:
    repository = shop(github)
    github.collaborator(repository, "kim", role)
    found = api.of(repository).get("collaborators/kim/permission").json()
    assert (found["permission"], found["role_name"]) == (permission, role)
    assert found["user"]["login"] == "kim"


def test_d_20_outsiders_have_none_on_a_private_repository_and_read_on_a_public_one(
    github: LocalGitHub, api: Api
) -> None:
    github.user("stranger")
    private, public = shop(github), shop(github, "acme/open", private=False)
    assert api.of(private).get("collaborators/stranger/permission").json()["permission"] == "none"
    assert api.of(public).get("collaborators/stranger/permission").json()["permission"] == "read"
    assert api.of(private).get("collaborators/unknown/permission").status_code == 404


def test_a_renamed_repository_is_a_redirect_that_leads_to_it(github: LocalGitHub, api: Api) -> None:
    """GH-32: the id stays, the name is answered with 301."""
    repository = shop(github)
    client = api.of(repository)
    github.rename(repository, "store")
    answer = client.get("branches")
    assert answer.status_code == 301
    assert answer.headers["Location"].endswith(f"/repositories/{repository.id}/branches")
    assert client.get("branches", follow_redirects=True).json()[0]["name"] == "main"
