"""GET /runs/{id}/events: the parts of an open run page, sent anew when they change (UX-H4)."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from app.ledger.engine import read
from app.ledger.sheet import pulse, repository_of
from app.render.pages import fill_page
from app.runs.model import Status
from app.web.frame import SAFE
from app.web.pages.run import admitted, values_now
from app.web.pages.sheet import PARTS
from app.web.people import still_there
from app.web.state import Web, web_of
from app.web.viewer import Viewer

LOOK_S = 1.0
QUIET_S = 15.0
ASK_AGAIN_S = 60.0
AT_ONCE = 100


async def events(request: Request) -> Response:
    """A stream for one browser; 503 when too many are open, and the page then says that it is not live."""
    web = web_of(request)
    viewer, run_id = await asyncio.to_thread(admitted, request)
    if web.streams >= AT_ONCE:
        raise HTTPException(503, "too many pages are open", {"retry-after": "60"})
    headers = {**SAFE, "x-accel-buffering": "no"}
    return StreamingResponse(_stream(web, viewer, run_id, request), media_type="text/event-stream", headers=headers)


async def _stream(web: Web, viewer: Viewer, run_id: str, request: Request) -> AsyncIterator[str]:
    web.streams += 1
    try:
        yield "retry: 3000\n\n"
        async for event in _changes(web, viewer, run_id, request):
            yield event
    finally:
        web.streams -= 1


async def _changes(web: Web, viewer: Viewer, run_id: str, request: Request) -> AsyncIterator[str]:
    """What changed, as it changes; ends with the run, the right to read it, or the browser."""
    loop = asyncio.get_running_loop()
    sent: dict[str, str] = {}
    seen: tuple[int, ...] = ()
    spoke = asked = loop.time()
    while not await request.is_disconnected():
        if loop.time() - asked >= ASK_AGAIN_S:
            asked = loop.time()
            if not await asyncio.to_thread(_still_may_read, web, viewer, run_id):
                return
        now = await asyncio.to_thread(_pulse, web, run_id)
        if now != seen:
            seen, spoke = now, loop.time()
            parts, offers, over = await asyncio.to_thread(_parts, web, run_id)
            for event in _differing(sent, {**parts, "buttons": offers}):
                yield event
            if over:
                yield "event: end\ndata: {}\n\n"
                return
        elif loop.time() - spoke >= QUIET_S:
            spoke = loop.time()
            yield ": still here\n\n"
        await asyncio.sleep(LOOK_S)


def _differing(sent: dict[str, str], parts: Mapping[str, str]) -> list[str]:
    """An event per part that this browser does not have yet; other buttons need the page itself (UX-H5)."""
    made = []
    for name, html in parts.items():
        digest = hashlib.sha256(html.encode()).hexdigest()
        if sent.get(name) != digest:
            sent[name] = digest
            data = {"id": name, "html": html, "how": "buttons" if name == "buttons" else "replace"}
            made.append(f"event: part\ndata: {json.dumps(data)}\n\n")
    return made


def _pulse(web: Web, run_id: str) -> tuple[int, ...]:
    with read(web.engine) as conn:
        return pulse(conn, run_id)


def _parts(web: Web, run_id: str) -> tuple[dict[str, str], str, bool]:
    with read(web.engine) as conn:
        values: dict[str, Any] = values_now(web, conn, run_id)
    parts = {name: fill_page(f"run/{name}.html.j2", values) for name in PARTS}
    over = values["run"].status in (Status.COMPLETED, Status.CANCELLED)
    return parts, " ".join(values["buttons"]), over


def _still_may_read(web: Web, viewer: Viewer, run_id: str) -> bool:
    with read(web.engine) as conn:
        repository = repository_of(conn, run_id)
    return web.reach.may_read(viewer, repository) and still_there(web, viewer)
