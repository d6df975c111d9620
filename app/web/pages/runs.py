"""GET /: the runs of the repositories that the viewer can read; `/runs.json` is the same for scripts."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.ledger.board import Wanted, board_of, lines_of
from app.ledger.engine import read
from app.web.frame import page, wants_json
from app.web.people import needed
from app.web.reach import Unknown
from app.web.state import Web, web_of
from app.web.viewer import Viewer

UNKNOWN = "GitHub does not say now which repositories you can read, so nothing is shown. Try again in a minute."


async def runs(request: Request) -> Response:
    """Tiles, a filter, and three lists."""
    return await asyncio.to_thread(_runs, request)


def _runs(request: Request) -> Response:
    web, viewer = web_of(request), needed(request)
    readable = readable_of(web, viewer)
    asked = request.query_params
    names = {"repository": "repo", "state": "state", "cause": "cause", "text": "q"}
    wanted = Wanted(**{name: asked.get(key, "").strip()[:200] for name, key in names.items()})
    with read(web.engine) as conn:
        if wants_json(request):
            lines = [line.as_json() for line in lines_of(conn, readable, wanted, web.settings)]
            return JSONResponse({"runs": lines}, headers={"cache-control": "no-store"})
        board = board_of(conn, readable, wanted, web.settings, web.clock())
    values = {
        "here": "runs",
        "board": board,
        "wanted": wanted,
        "filtered": any(vars(wanted).values()),
        "places": web.settings.limits.running,
        "install_url": install_url(web),
    }
    return page(request, "runs.html.j2", viewer, values)


def readable_of(web: Web, viewer: Viewer) -> frozenset[int]:
    """Ids of the repositories that may be shown; raises HTTPException 503 where GitHub does not say."""
    try:
        return web.reach.readable(viewer)
    except Unknown:
        raise HTTPException(503, UNKNOWN) from None


def install_url(web: Web) -> str:
    """Where repositories are chosen at GitHub; empty while no App is known."""
    settings = web.settings
    return (
        f"{settings.github.web_url.rstrip('/')}/apps/{settings.app_slug}/installations/new" if settings.app_id else ""
    )
