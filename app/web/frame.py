"""Answer with a page: its frame, its headers, and the strict policy for what a browser may do with it (UX-H2)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app import __version__
from app.render.pages import FOLDER, fill_page
from app.web.forms import origin_of
from app.web.state import web_of
from app.web.viewer import Viewer

READERS = (("runs", "/", "Runs"), ("flaky", "/flaky", "Flaky tests"))
OPERATORS = (("runners", "/runners", "Runners"), ("doctor", "/doctor", "Doctor"), ("setup", "/setup", "Set-up"))
STATIC = {
    "icon.svg": "image/svg+xml",
    "remedy.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
}
_JSON = re.compile(r"application/json", re.IGNORECASE)

SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


def page(request: Request, name: str, viewer: Viewer | None, values: Mapping[str, Any], status: int = 200) -> Response:
    """The page `name` in its frame; `values` holds what its template needs beside the frame's own."""
    web = web_of(request)
    frame = {
        "who": viewer,
        "csrf": "" if viewer is None else viewer.csrf,
        "nav": (*READERS, *(OPERATORS if viewer is not None and viewer.is_operator else ())),
        "here": "",
        "live": "",
        "now": web.clock(),
        "version": __version__,
        "host": urlsplit(web.settings.url).netloc,
        "web": web.settings.github.web_url.rstrip("/"),
    }
    headers = {**SAFE, "content-security-policy": policy_of(web.settings.github.web_url)}
    return HTMLResponse(fill_page(name, {**frame, **values}), status, headers)


def policy_of(github: str) -> str:
    """Nothing but our own style sheet, script and stream; forms go to us, and on to GitHub (UX-H2)."""
    return (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        f"form-action 'self' {origin_of(github)}; frame-ancestors 'none'; base-uri 'none'"
    )


def wants_json(request: Request) -> bool:
    """A script: the path ends in .json, or only JSON is accepted."""
    accept = request.headers.get("accept", "")
    return request.url.path.endswith(".json") or (bool(_JSON.search(accept)) and "text/html" not in accept)


def static_file(request: Request) -> Response:
    """The style sheet or the script; a new version of Remedy has a new tag."""
    name = request.path_params["name"]
    if name not in STATIC:
        return missing(request)
    tag = f'"{__version__}-{_size(FOLDER / name)}"'
    headers = {"etag": tag, "cache-control": "no-cache", "x-content-type-options": "nosniff"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response((FOLDER / name).read_bytes(), media_type=STATIC[name], headers=headers)


def _size(path: Path) -> str:
    found = path.stat()
    return f"{found.st_size:x}-{found.st_mtime_ns:x}"


def missing(request: Request) -> Response:
    """One answer, byte for byte, for what is not there and for what this viewer may not know of (UX-P4)."""
    return page(request, "error.html.j2", None, MISSING, 404)


MISSING = {
    "fact": "Not found",
    "text": "There is no such page, or it is about a repository that you cannot read on GitHub.",
}
