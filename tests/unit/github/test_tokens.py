"""Tokens of the app and of installations: GH-8, GH-19, GH-20, F-T1 to F-T5, F-T7."""

import json

import jwt
import pytest

from app.errors import UserError
from app.github.client import Client
from app.github.errors import (
    GitHubError,
    InstallationGone,
)
from app.github.tokens import PERMISSIONS, Purpose
from tests.unit.github.conftest import TOKEN, answer, app_key, minted


def test_a_refused_token_is_minted_anew_once(github, script):
    """B2, F-T7."""
    script.mint = [minted("ghs_old"), minted("ghs_new")]
    script.steps = [answer({"message": "Bad credentials"}, 401), answer({"id": 1}, 201)]
    assert github.post("/repos/o/r/issues", {}) == {"id": 1}
    assert [request.headers["Authorization"] for request in script.requests] == ["Bearer ghs_old", "Bearer ghs_new"]


def test_a_second_refusal_means_that_the_installation_is_gone(github, script):
    """GH-8: and no more tokens are minted."""
    script.steps = [answer({}, 401), answer({}, 401)]
    with pytest.raises(InstallationGone, match="installation 42"):
        github.get("/repos/o/r")
    script.mints.clear()
    with pytest.raises(InstallationGone):
        github.acting(Purpose.DELIVER, 1).get("/repos/o/r")
    with pytest.raises(InstallationGone):
        github.token(Purpose.PUSH, 1)
    assert script.mints == []


@pytest.mark.parametrize(
    "step", [answer({"message": "Not Found"}, 404), answer({"message": "This installation has been suspended"}, 403)]
)
def test_an_installation_that_cannot_be_asked_for_a_token_is_gone(github, script, step):
    """GH-8."""
    script.mint = [step]
    with pytest.raises(InstallationGone):
        github.get("/repos/o/r")


def test_a_refused_key_names_what_to_check(github, script):
    script.steps = [answer({"message": "A JSON web token could not be decoded"}, 401)] * 2
    with pytest.raises(UserError, match="REMEDY_APP_ID"):
        github.get("/app")


def test_a_key_that_is_no_key_names_itself(settings, script):
    broken = settings.model_copy(update={"private_key": type(settings.private_key)("-----BEGIN nothing")})
    with Client(broken, 42, transport=script.transport()) as github, pytest.raises(UserError, match="PEM"):
        github.get("/app")


def test_the_app_signs_for_ten_minutes_at_most(github, script):
    """F-T1, F-T2."""
    script.steps = [answer({}), answer({})]
    github.get("/app")
    github.get("/app/hook/deliveries")
    tokens = {request.headers["Authorization"].removeprefix("Bearer ") for request in script.requests}
    assert len(tokens) == 1
    public = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).prepare_key(app_key()).public_key()
    claims = jwt.decode(tokens.pop(), public, algorithms=["RS256"])
    assert claims["iss"] == "7"
    assert claims["exp"] - claims["iat"] == 600


def test_two_keys_of_one_app_id_do_not_share_a_jwt(settings, script):
    """The library's own cache is one per process and knows the app id only."""
    other = settings.model_copy(update={"private_key": type(settings.private_key)(app_key("other"))})
    for each in (settings, other):
        script.steps = [answer({})]
        with Client(each, 42, transport=script.transport(), pace=script.pace()) as github:
            github.get("/app")
    assert len({request.headers["Authorization"] for request in script.requests}) == 2


@pytest.mark.parametrize("purpose", [purpose for purpose in Purpose if purpose is not Purpose.SWEEP])
def test_a_token_asks_for_its_purpose_and_one_repository_only(github, script, purpose):
    """GH-20."""
    assert github.token(purpose, 99) == TOKEN
    assert json.loads(script.mints[0].content) == {"permissions": dict(PERMISSIONS[purpose]), "repository_ids": [99]}
    assert script.mints[0].url.path == "/app/installations/42/access_tokens"
    with pytest.raises(ValueError):
        github.token(purpose, None)


def test_only_the_sweep_reads_all_repositories(github, script):
    github.token(Purpose.SWEEP, None)
    assert json.loads(script.mints[0].content) == {"permissions": dict(PERMISSIONS[Purpose.READ])}


def test_no_purpose_asks_for_what_remedy_must_not_hold():
    """B10, F-P1: no workflows, administration, secrets, members; no write where reading is enough."""
    asked = {(name, level) for permissions in PERMISSIONS.values() for name, level in permissions.items()}
    assert {name for name, _ in asked} == {"actions", "checks", "contents", "issues", "pull_requests"}
    assert [purpose for purpose, scope in PERMISSIONS.items() if scope.get("contents") == "write"] == [Purpose.PUSH]


def test_a_token_is_used_until_five_minutes_before_its_end(github, script):
    """GH-19."""
    script.mint = [minted("ghs_one"), minted("ghs_two", "2026-01-01T02:00:00Z")]
    assert [github.token(Purpose.CLONE, 1), github.token(Purpose.CLONE, 1)] == ["ghs_one", "ghs_one"]
    script.now_ms += 55 * 60 * 1000 + 1
    assert github.token(Purpose.CLONE, 1) == "ghs_two"


def test_a_token_is_in_no_address_and_no_error(github, script):
    """GH-19."""
    script.steps = [answer({"message": "no"}, 409)]
    with pytest.raises(GitHubError) as error:
        github.post("/repos/o/r/issues", {})
    assert TOKEN not in str(script.requests[0].url) + str(error.value) + repr(error.value)


def test_the_format_of_tokens_can_be_forced(settings, script):
    """F-T5: a setting, default unset."""
    assert settings.github.token_format == ""
    forced = settings.model_copy(update={"github": settings.github.model_copy(update={"token_format": "disabled"})})
    with Client(forced, 42, transport=script.transport(), pace=script.pace()) as github:
        github.token(Purpose.CLONE, 1)
    assert script.mints[0].headers["X-GitHub-Stateless-S2S-Token"] == "disabled"


def test_views_share_one_connection_and_hold_their_own_token(github, script):
    """GH-1, GH-20."""
    script.mint = [minted("ghs_read"), minted("ghs_write")]
    script.steps = [answer({}), answer({}, 201), answer({})]
    reader, writer = github.acting(Purpose.READ, 1), github.acting(Purpose.DELIVER, 1)
    reader.get("/repos/o/r")
    writer.post("/repos/o/r/issues", {})
    reader.get("/repos/o/r")
    used = [request.headers["Authorization"] for request in script.requests]
    assert used == ["Bearer ghs_read", "Bearer ghs_write", "Bearer ghs_read"]
