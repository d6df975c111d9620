"""The pages that are one table: flaky tests, runners, what doctor sees, the commands."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from app.doctor import Row, counts, examine
from app.ledger.engine import read
from app.ledger.flaky import flaky_tests
from app.ledger.runners_seen import runners_seen
from app.web.forms import read_form
from app.web.frame import page, wants_json
from app.web.pages.runs import readable_of
from app.web.people import check_csrf, needed, operator, viewer_of
from app.web.state import web_of
from app.web.viewer import Viewer

NO_STORE = {"cache-control": "no-store"}


async def flaky(request: Request) -> Response:
    """Tests of readable repositories that passed and failed on one commit."""
    return await asyncio.to_thread(_flaky, request)


def _flaky(request: Request) -> Response:
    web, viewer = web_of(request), needed(request)
    readable = readable_of(web, viewer)
    with read(web.engine) as conn:
        found = flaky_tests(conn, readable, web.clock())
    if wants_json(request):
        return JSONResponse({"tests": [one.as_json() for one in found]}, headers=NO_STORE)
    return page(request, "flaky.html.j2", viewer, {"here": "flaky", "tests": found})


async def runners(request: Request) -> Response:
    """Which runners are there, and how they did."""
    return await asyncio.to_thread(_runners, request)


def _runners(request: Request) -> Response:
    web, viewer = web_of(request), operator(request)
    with read(web.engine) as conn:
        found = runners_seen(conn, web.settings, web.clock())
    if wants_json(request):
        return JSONResponse({"runners": [one.as_json() for one in found]}, headers=NO_STORE)
    return page(request, "runners.html.j2", viewer, {"here": "runners", "runners": found})


async def doctor(request: Request) -> Response:
    """What `remedy doctor` sees from the web process, asked anew each time."""
    return await asyncio.to_thread(_doctor, request)


def _doctor(request: Request) -> Response:
    web, viewer = web_of(request), operator(request)
    rows = examine(web.settings)
    if wants_json(request):
        told = [{"group": row.group, "check": row.check, **vars(row.found)} for row in rows]
        return JSONResponse({"counts": counts(rows), "checks": told}, headers=NO_STORE)
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    cures = [row.found for row in rows if row.found.level in ("failed", "warning") and row.found.cure]
    cures.sort(key=lambda found: found.level != "failed")
    values: dict[str, Any] = {"here": "doctor", "groups": groups, "counts": counts(rows), "cures": cures}
    return page(request, "doctor.html.j2", viewer, values)


async def look_again(request: Request) -> Response:
    """The button "Check again": the page looks each time it is loaded."""
    fields = await read_form(request, web_of(request).settings)

    def checked() -> Viewer:
        viewer = operator(request)
        check_csrf(viewer, fields)
        return viewer

    await asyncio.to_thread(checked)
    return RedirectResponse("/doctor", 303)


async def commands_help(request: Request) -> Response:
    """What can be said to Remedy, from the very table that decides (UX-X1); open to everybody (UX-P2)."""
    from app.commands.table import COMMANDS  # it brings the parser of comments, which deliveries do not need (PN-1)

    viewer = await asyncio.to_thread(viewer_of, request)
    if wants_json(request):
        rows = [{"verb": one.verb, "also": one.names[1:], "who": one.who, "line": one.line} for one in COMMANDS]
        return JSONResponse({"commands": rows})
    return page(request, "help.html.j2", viewer, {"here": "help", "commands": COMMANDS})
