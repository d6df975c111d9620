"""GET /remedy.schema.json: the schema of `.github/remedy.yml`; open to everybody, it holds nothing of anybody."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.policy.schema import policy_schema


async def schema(_request: Request) -> Response:
    """Editors read it from other places, so any page may ask for it."""
    headers = {"cache-control": "public, max-age=3600", "access-control-allow-origin": "*"}
    return JSONResponse(policy_schema(), headers=headers, media_type="application/schema+json")
