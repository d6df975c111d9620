"""GET /runs/{id} and what lies below it: the page of one run, its JSON, its patches, its evidence."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.ledger import evidence, listing
from app.ledger.board import RunLine, line_of
from app.ledger.engine import read
from app.ledger.evidence import DamagedEvidence
from app.ledger.sheet import diff_of, repository_of, sheet_of
from app.render.scope import mapped
from app.runs.model import Status
from app.web.frame import SAFE, page, wants_json
from app.web.pages.sheet import values_of_run
from app.web.people import needed
from app.web.state import Web, web_of
from app.web.viewer import Viewer

RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
EVIDENCE_ID = re.compile(r"E-[0-9a-f]{10,64}(-\d{1,6})?")
NOT_FOUND = HTTPException(404, "not found")
TEXT = {**SAFE, "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox"}


async def run(request: Request) -> Response:
    """The page, or with .json everything that is worth reading of the run."""
    return await asyncio.to_thread(_run, request)


def _run(request: Request) -> Response:
    web = web_of(request)
    viewer, run_id = admitted(request)
    with read(web.engine) as conn:
        if wants_json(request):
            found = mapped(_plain(listing.whole(conn, run_id)), web.redactor.text)
            return JSONResponse(found, headers={"cache-control": "no-store"})
        values = values_now(web, conn, run_id, request.query_params.get("turn", ""))
    over = values["run"].status in (Status.COMPLETED, Status.CANCELLED)
    live = "" if over or viewer.installation is not None else f"/runs/{run_id}/events"
    return page(request, "run.html.j2", viewer, {**values, "here": "runs", "live": live})


def values_now(web: Web, conn: Connection, run_id: str, turn: str = "") -> dict[str, Any]:
    """The values of the page and its parts at this moment."""
    sheet = sheet_of(conn, web.store, run_id, web.settings, turn)
    line: RunLine = line_of(conn, run_id, web.settings)
    values = values_of_run(sheet, line, web.redactor, web.clock())
    return {**values, "web": web.settings.github.web_url.rstrip("/")}


def admitted(request: Request) -> tuple[Viewer, str]:
    """Who asks for which run; 404 for one of a repository that she cannot read, as for one that is not (UX-P4)."""
    web, viewer = web_of(request), needed(request)
    run_id = str(request.path_params["run_id"])
    if not RUN_ID.fullmatch(run_id):
        raise NOT_FOUND
    with read(web.engine) as conn:
        repository = repository_of(conn, run_id)
    if not web.reach.may_read(viewer, repository):
        raise NOT_FOUND
    return viewer, run_id


async def patch(request: Request) -> Response:
    """The change of the run, or of one of its rounds, for `git apply`."""
    return await asyncio.to_thread(_file, request, _patch)


async def kept(request: Request) -> Response:
    """One piece of evidence as text, secrets removed."""
    return await asyncio.to_thread(_file, request, _evidence)


def _file(request: Request, find: Callable[[Web, Request, str], bytes]) -> Response:
    web = web_of(request)
    _, run_id = admitted(request)
    text = web.redactor.text(find(web, request, run_id).decode("utf-8", "replace"))
    # Never as HTML, whatever is in it.
    return Response(text, media_type="text/plain; charset=utf-8", headers=TEXT)


def _patch(web: Web, request: Request, run_id: str) -> bytes:
    n = request.path_params.get("n")
    with read(web.engine) as conn:
        data = diff_of(conn, web.store, run_id, n)
    if data is None:
        raise NOT_FOUND
    return data if n is None else f"Round {n} of run {run_id}: not proven, not published.\n\n".encode() + data


def _evidence(web: Web, request: Request, run_id: str) -> bytes:
    name = str(request.path_params["evidence_id"])
    if not EVIDENCE_ID.fullmatch(name):
        raise NOT_FOUND
    with read(web.engine) as conn:
        row = evidence.get(conn, name, run_id=run_id)
        if row is None:
            raise NOT_FOUND
        try:
            return web.store.read(row)
        except DamagedEvidence:
            raise NOT_FOUND from None


def _plain(value: Any) -> Any:
    """Lists and mappings of plain values, as JSON has them."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_plain(one) for one in value)
    return value
