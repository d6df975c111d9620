"""POST /webhook: a delivery is checked, stored and answered 202; the work on it is a job (IT-1, ST-W1)."""

import asyncio
import re

import pydantic_core
import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.events.payloads import Payload, Unreadable, parse, semantic_key
from app.events.router import HANDLED, interested
from app.ledger.deliveries import Delivery
from app.web.body import LARGE_BYTES, Refused
from app.web.state import Web, web_of
from app.web.writer import Arrival, NotKept

EVENTS = frozenset(event for event, _ in HANDLED)

_GUID = re.compile(r"[A-Za-z0-9-]{1,64}")

log = structlog.get_logger("web")


async def webhook(request: Request) -> Response:
    """202 when the delivery is on disk or does not concern us; else 4xx, and 503 when it could not be kept.

    Cheap checks come first, the signature before anything is believed, no GitHub and no Redis on the way.
    """
    web = web_of(request)
    try:
        _check_type(request)
        if not web.settings.app_id:
            await asyncio.to_thread(web.look_for_app)
        body = await web.bodies.read(request)
        return await _accept(web, request, body)
    except Refused as refusal:
        log.warning("delivery refused", status=refusal.status, reason=refusal.text)
        # Without `close` the server would read the rest of the body only to throw it away.
        return JSONResponse({"error": refusal.text}, refusal.status, headers={"connection": "close"})
    except NotKept:
        return JSONResponse({"error": "the delivery could not be stored"}, 503, headers={"retry-after": "60"})


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the webhook's content type must be application/json")


async def _accept(web: Web, request: Request, body: bytes) -> Response:
    event = request.headers.get("x-github-event", "")
    guid = request.headers.get("x-github-delivery", "")
    if not _GUID.fullmatch(guid):
        raise Refused(400, "X-GitHub-Delivery is not an id")
    if event == "ping":
        await asyncio.to_thread(web.heard)
    if event not in EVENTS:
        return _ignored(guid)
    payload = await asyncio.to_thread(parse, event, body) if len(body) > LARGE_BYTES else parse(event, body)
    if not _concerns_us(event, payload):
        return _ignored(guid)
    kept = await web.writer.keep(_arrival(guid, event, payload, body))
    log.info("delivery", delivery=guid, github_event=event, installation=payload.installation_id, outcome=kept)
    if kept == "failed" and not await asyncio.to_thread(_is_json, body):
        raise Refused(400, "the body is not JSON; it is kept as a failed delivery")
    return JSONResponse({"delivery": guid, "result": kept}, 202)


def _concerns_us(event: str, payload: Payload | Unreadable) -> bool:
    if isinstance(payload, Unreadable):
        return not payload.action or (event, payload.action) in HANDLED
    return interested(event, payload.action, payload.conclusion)


def _arrival(guid: str, event: str, payload: Payload | Unreadable, body: bytes) -> Arrival:
    reason = payload.reason if isinstance(payload, Unreadable) else ""
    delivery = Delivery(
        guid=guid,
        event=event,
        action=payload.action,
        installation_id=payload.installation_id,
        repository_id=payload.repository_id,
        semantic_key=None if isinstance(payload, Unreadable) else semantic_key(payload),
        payload=body,
    )
    return Arrival(delivery, reason)


def _ignored(guid: str) -> Response:
    log.debug("delivery", delivery=guid, outcome="ignored")
    return JSONResponse({"delivery": guid, "result": "ignored"}, 202)


def _is_json(body: bytes) -> bool:
    try:
        pydantic_core.from_json(body)
    except ValueError:
        return False
    return True
