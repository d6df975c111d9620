"""Who looks at a page: a signed-in person, or a script with a token of `remedy token`."""

import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.ledger import browsers
from app.ledger.engine import read, write
from app.ledger.rows import Row
from app.sealing import Seal
from app.settings import Settings
from app.web.forms import same
from app.web.state import Web, web_of
from app.web.tokens import read_token
from app.web.viewer import Viewer

LONGEST_S = 8 * 3600
"""A browser stays signed in as long as GitHub's token lives, and never longer than this."""


class NotSignedIn(Exception):
    """The page needs a person: lead her to the sign-in and back."""


def cookie_name(settings: Settings, what: str = "browser") -> str:
    """`__Host-` where the address is https: only this very host can set or read it."""
    return f"{'__Host-' if is_secure(settings) else ''}remedy-{what}"


def is_secure(settings: Settings) -> bool:
    return settings.url.startswith("https://")


def set_cookie(answer: Response, settings: Settings, what: str, value: str, seconds: int) -> None:
    """A cookie that no script reads and no other site's POST carries (UX-P10)."""
    answer.set_cookie(
        cookie_name(settings, what),
        value,
        max_age=seconds,
        path="/",
        secure=is_secure(settings),
        httponly=True,
        samesite="lax",
    )


def drop_cookie(answer: Response, settings: Settings, what: str) -> None:
    answer.delete_cookie(
        cookie_name(settings, what), path="/", secure=is_secure(settings), httponly=True, samesite="lax"
    )


def viewer_of(request: Request) -> Viewer | None:
    """Who asks, or None. Reads one row; call it in a thread."""
    web = web_of(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        installation = read_token(web.settings.secret_key.get_secret_value(), token.strip(), web.clock())
        if installation is None:
            raise HTTPException(401, "a token of `remedy token` is needed", {"www-authenticate": "Bearer"})
        return Viewer(f"installation {installation}", f"installation:{installation}", installation=installation)
    cookie = request.cookies.get(cookie_name(web.settings), "")
    if not cookie:
        return None
    with read(web.engine) as conn:
        row = browsers.find(conn, cookie, web.clock())
    return None if row is None else _person(web, row, cookie)


def _person(web: Web, row: Row, cookie: str) -> Viewer | None:
    token = Seal(web.settings.operator_key, "browser").open(row.sealed)
    if token is None:
        return None
    csrf = Seal(web.settings.operator_key, "csrf").sign(cookie)
    named = web.settings.operators
    is_operator = row.login.lower() in {name.lower() for name in named} or str(row.user_id) in named
    is_operator = is_operator or web.operator == row.user_id
    return Viewer(row.login, row.id, row.user_id, token, csrf, is_operator)


def needed(request: Request) -> Viewer:
    """The viewer; raises NotSignedIn."""
    viewer = viewer_of(request)
    if viewer is None:
        raise NotSignedIn
    return viewer


def operator(request: Request) -> Viewer:
    """The viewer, if she is an operator; raises NotSignedIn or HTTPException 403 (UX-P6)."""
    viewer = needed(request)
    if not viewer.is_operator:
        raise HTTPException(403, "This page needs the operator of this Remedy.")
    return viewer


def check_csrf(viewer: Viewer, fields: dict[str, str]) -> None:
    """Raises 403 unless the form came from a page that this very browser was shown (UX-P9)."""
    if not viewer.csrf or not same(fields.get("csrf", ""), viewer.csrf):
        raise HTTPException(403, "This form is not from a page of yours, or you signed in anew. Load the page again.")


def sign_in(web: Web, person: tuple[int, str], token: str, seconds: int | None, old: str) -> tuple[str, int]:
    """A new row under a new random name, the browser's old one goes; the cookie's value and its life in seconds."""
    life_s = LONGEST_S if seconds is None else max(60, min(seconds, LONGEST_S))
    cookie, now = secrets.token_urlsafe(32), web.clock()
    sealed = Seal(web.settings.operator_key, "browser").close(token)
    with write(web.engine) as conn:
        if old:
            browsers.remove(conn, browsers.key_of(old))
        browsers.add(conn, cookie, person, sealed, now, now + life_s * 1000)
    return cookie, life_s


def sign_out(web: Web, key: str) -> None:
    with write(web.engine) as conn:
        browsers.remove(conn, key)
    web.reach.forget(key)


def still_there(web: Web, viewer: Viewer) -> bool:
    """Whether the browser of an open stream is still signed in; a script's token was checked at the start."""
    if viewer.installation is not None:
        return True
    with read(web.engine) as conn:
        return browsers.holds(conn, viewer.key, web.clock())
