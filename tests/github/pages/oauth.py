"""Sign in through an app: the page that asks the person, the code, and its exchange for a token (F-U4)."""

import base64
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from tests.github.core.messages import Answer
from tests.github.core.state import App, SignIn, Token
from tests.github.pages.views import render

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub

CODE_LIFE_MS = 600_000
TOKEN_LIFE_S = 8 * 3600


def ask(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    """Who is it, and may the app ask in her name?"""
    app = _app(github, given)
    return render(github, "authorize", app=app, given=given)


def agree(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    """Back to the app with a code."""
    app = _app(github, given)
    code = github.world.state.random.randbytes(10).hex()
    until = github.world.clock.now_ms() + CODE_LIFE_MS
    who = github.world.state.user(given["user"])
    with github.world.transaction():
        github.world.state.sign_ins[code] = SignIn(
            app, who, given["redirect_uri"], given.get("code_challenge", ""), until
        )
    query = urlencode({"code": code, "state": given.get("state", "")})
    return Answer(303, b"", {"Location": f"{given['redirect_uri']}?{query}"})


def exchange(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    """A code is worth one token, to the app that knows its secret and the verifier."""
    with github.world.transaction():
        found = github.world.state.sign_ins.pop(given.get("code", ""), None)
        problem = _problem(github, found, given)
        if found is None or problem:
            return _json({"error": problem or "bad_verification_code", "error_description": "The code is incorrect."})
        value = "ghu_" + github.world.state.random.randbytes(18).hex()
        until = github.world.clock.now_ms() + TOKEN_LIFE_S * 1000
        github.world.state.tokens[value] = Token(
            value, "person", found.who, frozenset(), dict(found.app.permissions), until, app=found.app
        )
    return _json({"access_token": value, "token_type": "bearer", "scope": "", "expires_in": TOKEN_LIFE_S})


def _problem(github: "LocalGitHub", found: SignIn | None, given: Mapping[str, str]) -> str:
    if found is None or found.expires_at <= github.world.clock.now_ms():
        return "bad_verification_code"
    if (given.get("client_id"), given.get("client_secret")) != (found.app.client_id, found.app.client_secret):
        return "incorrect_client_credentials"
    if given.get("redirect_uri", found.redirect_uri) != found.redirect_uri:
        return "redirect_uri_mismatch"
    digest = base64.urlsafe_b64encode(sha256(given.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
    return "bad_verification_code" if found.challenge and digest != found.challenge else ""


def _app(github: "LocalGitHub", given: Mapping[str, str]) -> App:
    """The app that asks, if it may be led back to where it wants."""
    found = next((app for app in github.world.state.apps.values() if app.client_id == given.get("client_id")), None)
    if found is None:
        raise LookupError("no such app")
    if given.get("redirect_uri") not in found.callback_urls:
        raise ValueError("The redirect_uri is not associated with this application.")
    return found


def _json(body: Mapping[str, object]) -> Answer:
    return Answer(200, json.dumps(body).encode(), {"Content-Type": "application/json; charset=utf-8"})
