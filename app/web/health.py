"""GET /healthz: is the process well? GET /readyz: can it accept deliveries, and what else is up?"""

import asyncio

from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.ledger import figures, ready
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


def _rows(engine: Engine, now: int) -> dict[str, object]:
    """What waits for a worker and for how long, the newest delivery, what waits for an operator (IT-4, OB-7, W113)."""
    with read(engine) as conn:
        waiting = ready.depth(conn, now).values()
        newest = figures.last_delivery_at(conn)
        return {
            "queue": {
                "waiting": sum(one.count for one in waiting),
                "oldest_s": max(one.age_ms for one in waiting) // 1000,
            },
            "last_delivery_s": None if newest is None else max(0, now - newest) // 1000,
            "post": counts(conn),
        }


async def readyz(request: Request) -> Response:
    """200 when deliveries can be stored, else 503. Redis and the queue are shown, and not needed for that (ST-Q1)."""
    web = web_of(request)
    database, redis = await asyncio.gather(
        asyncio.to_thread(database_state, web.engine), asyncio.to_thread(is_reachable, web.settings)
    )
    body: dict[str, object] = {"database": database, "redis": "ok" if redis else "away"}
    if database == "ok":
        body |= await asyncio.to_thread(_rows, web.engine, web.clock())
    return JSONResponse(body, 200 if database == "ok" else 503)
