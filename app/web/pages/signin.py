"""Sign in with GitHub: the App's own user authorization, with a state bound to the browser and a PKCE verifier."""

import asyncio
import base64
import json
import secrets
from hashlib import sha256
from urllib.parse import urlencode

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.errors import TransientError
from app.github.people import SignedOut
from app.ledger import setting_up
from app.ledger.engine import read
from app.sealing import Seal
from app.web.forms import local_path, read_form, same
from app.web.frame import page
from app.web.people import check_csrf, cookie_name, drop_cookie, needed, set_cookie, sign_in, sign_out, viewer_of
from app.web.state import Web, web_of

WAITING_S = 600
"""How long somebody may take at GitHub."""

log = structlog.get_logger("web")


def callback_url(web: Web) -> str:
    return f"{web.settings.url}/signin/callback"


def is_ready(web: Web) -> bool:
    """Whether people can sign in at all."""
    return bool(web.settings.client_id and web.settings.client_secret.get_secret_value())


async def show(request: Request) -> Response:
    """One button."""
    viewer = await asyncio.to_thread(viewer_of, request)
    if viewer is not None and viewer.installation is None:
        return RedirectResponse(local_path(request.query_params.get("return_to")), 303)
    return _page(request)


def _page(request: Request, problem: str = "", status: int = 200) -> Response:
    web = web_of(request)
    web.look_for_app()
    values = {
        "problem": problem,
        "ready": is_ready(web),
        "callback": callback_url(web),
        "return_to": local_path(request.query_params.get("return_to")),
    }
    return page(request, "signin.html.j2", None, values, status)


async def begin(request: Request) -> Response:
    """Off to GitHub; what must come back is sealed in a cookie of this browser alone."""
    web = web_of(request)
    fields = await read_form(request, web.settings)
    if not is_ready(web):
        return _page(request, status=503)
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    kept = {
        "state": state,
        "verifier": verifier,
        "to": local_path(fields.get("return_to")),
        "until": web.clock() + WAITING_S * 1000,
    }
    challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = {
        "client_id": web.settings.client_id,
        "redirect_uri": callback_url(web),
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    address = f"{web.settings.github.web_url.rstrip('/')}/login/oauth/authorize?{urlencode(query)}"
    answer = RedirectResponse(address, 303, headers={"cache-control": "no-store", "referrer-policy": "no-referrer"})
    set_cookie(answer, web.settings, "signin", _seal(web).close(json.dumps(kept)), WAITING_S)
    return answer


async def callback(request: Request) -> Response:
    """Back from GitHub: only with the state that this browser was sent with, and only once."""
    web = web_of(request)
    kept = await asyncio.to_thread(_kept, web, request.cookies.get(cookie_name(web.settings, "signin"), ""))
    asked = request.query_params
    if kept is None or not same(asked.get("state", ""), kept["state"]):
        return _over(request, "This sign-in was not begun in this browser, or took too long. Begin again.", 400)
    if asked.get("error") or not asked.get("code"):
        return _over(request, "GitHub did not sign you in. Begin again when you want to.", 400)
    old = request.cookies.get(cookie_name(web.settings), "")
    try:
        setup = request.cookies.get(cookie_name(web.settings, "setup"), "")
        cookie, life_s = await asyncio.to_thread(_enter, web, asked["code"][:200], kept["verifier"], (old, setup))
    except (TransientError, SignedOut, _Refused) as error:
        log.warning("sign-in failed", reason=str(error) or type(error).__name__)
        return _over(request, "GitHub did not confirm this sign-in. Begin again.", 502)
    answer = RedirectResponse(local_path(kept["to"]), 303, headers={"cache-control": "no-store"})
    set_cookie(answer, web.settings, "browser", cookie, life_s)
    drop_cookie(answer, web.settings, "signin")
    return answer


class _Refused(Exception):
    """GitHub does not accept the code."""


def _enter(web: Web, code: str, verifier: str, cookies: tuple[str, str]) -> tuple[str, int]:
    """`cookies` are the browser's old one and that of the set-up: who finished that is the operator (UX-P7)."""
    old, setup = cookies
    grant = web.people().exchange(code, verifier, callback_url(web))
    if grant is None:
        raise _Refused("the code was not accepted")
    person = web.people().who(grant.token)
    log.info("signed in", user=person.id)
    with read(web.engine) as conn:
        finished = setting_up.state_of(conn, web.settings, setup, web.clock()) is not None
    if finished and web.operator is None:
        web.took_over(person.id)
    return sign_in(web, (person.id, person.login), grant.token, grant.seconds, old)


def _kept(web: Web, cookie: str) -> dict[str, str] | None:
    opened = _seal(web).open(cookie) if cookie else None
    found = None if opened is None else json.loads(opened)
    return found if found is not None and web.clock() < found["until"] else None


def _seal(web: Web) -> Seal:
    return Seal(web.settings.operator_key, "signin")


def _over(request: Request, problem: str, status: int) -> Response:
    answer = _page(request, problem, status)
    drop_cookie(answer, web_of(request).settings, "signin")
    return answer


async def leave(request: Request) -> Response:
    """Sign out: the row goes, so the cookie is worth nothing any more, wherever it was copied to."""
    web = web_of(request)
    fields = await read_form(request, web.settings)

    def end() -> None:
        viewer = needed(request)
        check_csrf(viewer, fields)
        sign_out(web, viewer.key)

    await asyncio.to_thread(end)
    answer = RedirectResponse("/signin", 303, headers={"clear-site-data": '"cache"'})
    drop_cookie(answer, web.settings, "browser")
    return answer
