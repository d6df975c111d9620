"""POST /runs/{id}/say: a button of the page becomes a command like that of a comment, checked like it (UX-P9)."""

import asyncio
import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.ledger import commands, ready, runs
from app.ledger.engine import write
from app.ledger.words import CommandSource
from app.web.forms import read_form
from app.web.pages.run import admitted
from app.web.people import check_csrf
from app.web.state import web_of
from app.web.viewer import Viewer

VERBS = ("fix", "resume", "block")
HINT_CHARS = 500


async def say(request: Request) -> Response:
    """Store it and ring; whether this person may is asked of GitHub when it is carried out (CM-6)."""
    fields = await read_form(request, web_of(request).settings)
    return await asyncio.to_thread(_say, request, fields)


def _say(request: Request, fields: dict[str, str]) -> Response:
    web = web_of(request)
    viewer, run_id = admitted(request)
    check_csrf(viewer, fields)
    verb, hint = fields.get("verb", ""), fields.get("hint", "").strip()
    if verb not in VERBS or len(hint) > HINT_CHARS:
        raise HTTPException(400, "no button of this page")
    command_id = _store(request, viewer, run_id, (verb, hint if verb == "resume" else ""))
    web.ring("intake", ready.COMMAND + command_id)
    return RedirectResponse(f"/runs/{run_id}", 303)


def _store(request: Request, viewer: Viewer, run_id: str, said: tuple[str, str]) -> str:
    web = web_of(request)
    verb, hint = said
    with write(web.engine) as conn:
        stored = commands.store(
            conn,
            source=CommandSource.PAGE,
            source_id=secrets.token_hex(16),
            ordinal=0,
            scope_id=runs.get(conn, run_id).scope_id,
            actor_id=viewer.user_id,
            actor=viewer.login,
            verb=verb,
            args=web.redactor.text(hint),
            url="",
            now=web.clock(),
        )
    assert stored is not None
    return stored
