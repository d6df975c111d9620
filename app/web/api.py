"""GET /api/repos/{owner}/{repo}/status: where the scopes of a repository stand (decisions.md, row 68; C6, C31)."""

import asyncio
import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.web.state import web_of
from app.web.status import read_status
from app.web.tokens import read_token

_SCOPE = re.compile(r"pr:[1-9][0-9]{0,9}|branch:[^\x00-\x20\x7f]{1,255}")


async def status(request: Request) -> Response:
    """One scope with `?scope=pr:318`, else all open ones, from rows alone.

    401 without a token of `remedy token`; 404 for a repository that the token's installation does not have.
    """
    web = web_of(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    secret = web.settings.secret_key.get_secret_value()
    installation_id = read_token(secret, token.strip(), web.clock()) if kind.lower() == "bearer" else None
    if installation_id is None:
        raise HTTPException(401, "a token of `remedy token` is needed", {"www-authenticate": "Bearer"})
    scope = request.query_params.get("scope")
    if scope is not None and not _SCOPE.fullmatch(scope):
        raise HTTPException(400, "scope is pr:<number> or branch:<name>")
    name = f"{request.path_params['owner']}/{request.path_params['repo']}"
    found = await asyncio.to_thread(read_status, web.engine, installation_id, name, scope)
    if found is None:
        raise HTTPException(404, "not found")
    return JSONResponse(found, headers={"cache-control": "no-store"})
