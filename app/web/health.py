"""GET /healthz: is the process well? GET /readyz: can it accept deliveries, and what else is up?"""

import asyncio
import re
from functools import cache
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app import ledger
from app.ledger.engine import read
from app.queues import is_reachable
from app.web.state import web_of

_MIGRATIONS = Path(ledger.__file__).parent / "migrations" / "versions"
_REVISION = re.compile(r'^(revision|down_revision)\b[^=\n]*= *"(\w+)"', re.MULTILINE)


async def healthz(request: Request) -> Response:
    """200 while the process can do its work, else 500: start it again."""
    if not web_of(request).writer.is_alive():
        return JSONResponse({"status": "the writer has stopped"}, 500)
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    """200 when deliveries can be stored, else 503. Redis is shown, and not needed for that (ST-Q1)."""
    web = web_of(request)
    database, redis = await asyncio.gather(
        asyncio.to_thread(database_state, web.engine), asyncio.to_thread(is_reachable, web.settings)
    )
    body = {"database": database, "redis": "ok" if redis else "away"}
    return JSONResponse(body, 200 if database == "ok" else 503)


def database_state(engine: Engine) -> str:
    """`ok`, or why the database cannot be used by this program."""
    try:
        with read(engine) as conn:
            revision = conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none()
    except SQLAlchemyError:
        return "away, or never migrated"
    return "ok" if revision == newest_revision() else f"at version {revision}, not {newest_revision()}"


@cache
def newest_revision() -> str:
    """The migration that no other one follows; read from the files, as alembic is not imported here (PN-1)."""
    names = [_REVISION.findall(path.read_text()) for path in _MIGRATIONS.glob("*.py")]
    known = {value for found in names for name, value in found if name == "revision"}
    followed = {value for found in names for name, value in found if name == "down_revision"}
    (newest,) = known - followed
    return str(newest)
