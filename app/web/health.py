"""GET /healthz: is the process well? GET /readyz: can it accept deliveries, and what else is up?"""

import asyncio

from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.ledger.engine import read
from app.ledger.post import counts
from app.ledger.version import database_state
from app.queues import is_reachable
from app.web.state import web_of


async def healthz(request: Request) -> Response:
    """200 while the process can do its work, else 500: start it again."""
    if not web_of(request).writer.is_alive():
        return JSONResponse({"status": "the writer has stopped"}, 500)
    return JSONResponse({"status": "ok"})


def _post(engine: Engine) -> dict[str, int]:
    """What waits for an operator: failed and unreadable deliveries, letters that GitHub refused (IT-4, OB-7)."""
    with read(engine) as conn:
        return counts(conn)


async def readyz(request: Request) -> Response:
    """200 when deliveries can be stored, else 503. Redis is shown, and not needed for that (ST-Q1)."""
    web = web_of(request)
    database, redis = await asyncio.gather(
        asyncio.to_thread(database_state, web.engine), asyncio.to_thread(is_reachable, web.settings)
    )
    body: dict[str, object] = {"database": database, "redis": "ok" if redis else "away"}
    if database == "ok":
        body["post"] = await asyncio.to_thread(_post, web.engine)
    return JSONResponse(body, 200 if database == "ok" else 503)
