"""What is answered when a request is refused or breaks: a page for browsers, JSON for everything else."""

from urllib.parse import quote

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from app.web.frame import MISSING, page, wants_json

FACTS = {
    400: "Not understood",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible",
    413: "Too large",
    415: "Not understood",
    500: "Something went wrong here",
    503: "Not now",
}
_FOR_MACHINES = ("/webhook", "/healthz", "/readyz", "/api/", "/metrics")

log = structlog.get_logger("web")


async def refused(request: Request, error: Exception) -> Response:
    """An answer that says no more to those who may not know."""
    assert isinstance(error, HTTPException)
    if _is_for_machine(request):
        return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)
    if error.status_code == 404:
        return page(request, "error.html.j2", None, MISSING, 404)
    values = {"fact": FACTS.get(error.status_code, "Not possible"), "text": error.detail}
    return page(request, "error.html.j2", None, values, error.status_code)


async def not_signed_in(request: Request, error: Exception) -> Response:
    """A browser is led to the sign-in and comes back; a POST is not repeated by itself (UX-P11)."""
    if _is_for_machine(request):
        return JSONResponse({"error": "sign in, or send a token of `remedy token`"}, 401)
    path = request.url.path if request.method == "GET" else "/"
    query = f"?{request.url.query}" if request.method == "GET" and request.url.query else ""
    return RedirectResponse(f"/signin?return_to={quote(path + query, safe='')}", 303, {"cache-control": "no-store"})


async def broken(request: Request, error: Exception) -> Response:
    """Our bug: the log knows more than the answer."""
    log.error("request failed", path=request.url.path, error=type(error).__name__)
    text = "something went wrong here; the log says what"
    if _is_for_machine(request):
        return JSONResponse({"error": text}, 500)
    return page(request, "error.html.j2", None, {"fact": FACTS[500], "text": "The log of the server says what."}, 500)


def _is_for_machine(request: Request) -> bool:
    path = request.url.path
    accepts_html = "text/html" in request.headers.get("accept", "")
    return path.startswith(_FOR_MACHINES) or path.endswith("/events") or wants_json(request) or not accepts_html
