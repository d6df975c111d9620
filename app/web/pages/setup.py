"""/setup: from a one-time link to a GitHub App of one's own, installed, with its first delivery seen (UX-P8)."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.errors import TransientError, UserError
from app.github.manifest import CODE, convert, manifest, reasons
from app.ledger import figures, onboarding, setting_up, vault
from app.ledger.engine import read, write
from app.ledger.vault import Registration
from app.web.forms import read_form, same
from app.web.frame import page
from app.web.pages.runs import install_url
from app.web.people import check_csrf, cookie_name, operator, set_cookie, viewer_of
from app.web.state import Web, web_of
from app.web.viewer import Viewer

BROWSER_S = 3600
SPENT = "This link was used already, or is older than an hour. Start `remedy up` again to get a new one."

log = structlog.get_logger("web")


@dataclass(frozen=True)
class Here:
    """Who looks: the browser of the one-time link by its `state`, or an operator."""

    state: str = ""
    viewer: Viewer | None = None


async def show(request: Request) -> Response:
    """The button that begins, the form for GitHub, or what is there and what is missing."""
    return await asyncio.to_thread(_show, request)


def _show(request: Request) -> Response:
    web = web_of(request)
    web.look_for_app()
    if link := request.query_params.get("link"):
        return _begin_page(request, web, link)
    here = _here(request, web)
    if not web.settings.app_id:
        return page(request, "setup_app.html.j2", here.viewer, _form_values(request, web, here.state))
    return page(request, "setup_check.html.j2", here.viewer, _check_values(web, here.viewer))


def _begin_page(request: Request, web: Web, link: str) -> Response:
    with read(web.engine) as conn:
        good = not web.settings.app_id and setting_up.is_good(conn, web.settings, link, web.clock())
    values = {"link": link if good else "", "problem": "" if good else SPENT}
    return page(request, "setup_begin.html.j2", None, values, 200 if good else 410)


def _here(request: Request, web: Web) -> Here:
    """Raises NotSignedIn or 403 for everybody else; 404 while there is nothing to sign in with."""
    cookie = request.cookies.get(cookie_name(web.settings, "setup"), "")
    with read(web.engine) as conn:
        state = setting_up.state_of(conn, web.settings, cookie, web.clock())
    viewer = viewer_of(request) if web.settings.app_id else None
    if viewer is not None and viewer.is_operator:
        return Here(state or "", viewer)
    if state is not None:
        return Here(state, viewer)
    if not web.settings.app_id:
        raise HTTPException(403, "Open the link that `remedy up` printed in the terminal.")
    return Here(viewer=operator(request))


def _form_values(request: Request, web: Web, state: str) -> dict[str, Any]:
    """The filled-in manifest; address and owner can be chosen anew without script."""
    asked = request.query_params
    url = asked.get("url", "").strip().rstrip("/")[:300] or web.settings.url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        url = web.settings.url
    organization = asked.get("org", "").strip()[:100]
    github = web.settings.github.web_url.rstrip("/")
    where = f"/organizations/{quote(organization, safe='')}" if organization else ""
    named = urlsplit(url).hostname or "here"
    name = asked.get("name", "").strip()[:34] or f"Remedy {named.split('.')[-2] if '.' in named else named}"[:34]
    return {
        "here": "setup",
        "url": url,
        "org": organization,
        "name": name,
        "refused": urlsplit(url).hostname == "localhost",
        "differs": url != web.settings.url,
        "target": f"{github}{where}/settings/apps/new?state={quote(state, safe='')}",
        "manifest": json.dumps(manifest(web.settings, url, name)),
        "reasons": reasons(),
        "problem": asked.get("problem", "")[:300],
    }


def _check_values(web: Web, viewer: Viewer | None) -> dict[str, Any]:
    with read(web.engine) as conn:
        heard = vault.get(conn, web.settings, vault.HEARD)
        newest = figures.last_delivery_at(conn)
        rows = onboarding.rows(conn) if viewer is not None else []
    return {
        "here": "setup",
        "slug": web.settings.app_slug,
        "app_url": f"{web.settings.github.web_url.rstrip('/')}/apps/{web.settings.app_slug}",
        "install_url": install_url(web),
        "heard_at": newest if heard is None else heard["at"],
        "rows": rows,
        "most": onboarding.BY_ITSELF,
    }


async def begin(request: Request) -> Response:
    """Spend the link; this browser goes on without it in any address."""
    web = web_of(request)
    fields = await read_form(request, web.settings)

    def spend() -> str | None:
        if web.look_for_app():
            return None
        with write(web.engine) as conn:
            return setting_up.open_link(conn, web.settings, fields.get("link", ""), web.clock())

    cookie = await asyncio.to_thread(spend)
    if cookie is None:
        return page(request, "setup_begin.html.j2", None, {"link": "", "problem": SPENT}, 410)
    answer = RedirectResponse("/setup", 303, headers={"cache-control": "no-store"})
    set_cookie(answer, web.settings, "setup", cookie, BROWSER_S)
    return answer


async def callback(request: Request) -> Response:
    """Back from GitHub with a code: the App's secrets go straight to the database, sealed, and are shown nowhere."""
    return await asyncio.to_thread(_callback, request)


def _callback(request: Request) -> Response:
    web = web_of(request)
    here = _here(request, web)
    asked = request.query_params
    code = asked.get("code", "")
    if web.settings.app_id:
        return RedirectResponse("/setup", 303)
    if not here.state or not same(asked.get("state", ""), here.state) or not CODE.fullmatch(code):
        raise HTTPException(400, "GitHub's answer does not belong to this browser. Begin at /setup again.")
    try:
        made = convert(web.settings, code)
    except (UserError, TransientError) as error:
        return RedirectResponse(f"/setup?problem={quote(str(error)[:200], safe='')}", 303)
    kept = Registration(
        app_id=int(made["id"]),
        slug=str(made["slug"]),
        client_id=str(made["client_id"]),
        html_url=str(made.get("html_url") or ""),
        client_secret=str(made["client_secret"]),
        webhook_secret=str(made["webhook_secret"]),
        pem=str(made["pem"]),
    )
    with write(web.engine) as conn:
        vault.keep_app(conn, web.settings, kept, web.clock())
    web.adopt(vault.with_app(web.settings, web.engine))
    log.info("the App was registered", app=kept.app_id)
    _ask_for_ping(web)
    return RedirectResponse("/setup", 303, headers={"cache-control": "no-store"})


def _ask_for_ping(web: Web) -> None:
    """GitHub's first delivery came before its secret was known here, so it is asked for once more."""
    from app.github.client import Client
    from app.github.deliveries import newest_attempts, request_redelivery

    try:
        with Client(web.settings, None) as client:
            for attempt in newest_attempts(client):
                if attempt.event == "ping":
                    request_redelivery(client, attempt.id)
                    return
    except Exception as error:  # an aside: the page says that nothing was heard yet, and offers it again
        log.warning("no test delivery asked for", reason=f"{type(error).__name__}: {error}"[:200])


async def ping(request: Request) -> Response:
    """The button "Ask GitHub for a test delivery"."""
    web = web_of(request)
    fields = await read_form(request, web.settings)

    def ask() -> None:
        check_csrf(operator(request), fields)
        _ask_for_ping(web)

    await asyncio.to_thread(ask)
    return RedirectResponse("/setup", 303)


async def installed(request: Request) -> Response:
    """Where GitHub leads to after an installation."""
    return RedirectResponse("/setup", 303)


async def onboard(request: Request) -> Response:
    """The button that asks for the small pull request in one repository more."""
    web = web_of(request)
    fields = await read_form(request, web.settings)
    number = fields.get("repository", "")

    def ask() -> int | None:
        check_csrf(operator(request), fields)
        if not number.isdecimal() or len(number) > 18:
            raise HTTPException(400, "no repository")
        with write(web.engine) as conn:
            return onboarding.propose(conn, int(number), web.clock())

    installation = await asyncio.to_thread(ask)
    if installation is not None:
        web.ring("deliver", str(installation))
    return RedirectResponse("/setup", 303)
