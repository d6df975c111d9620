"""The delivery log of the app's webhook, by cursor, and redelivery."""

import json
from typing import Any

from tests.github.call import PER_PAGE, PER_PAGE_LIMIT, Call
from tests.github.core.clock import iso
from tests.github.core.messages import Answer, invalid, not_found
from tests.github.hooks import Delivery

GROUP = "apps"
_CURSOR = "v1_"


def list_webhook_deliveries(call: Call) -> Any:
    """Newest first; the cursor is opaque and stands in the `Link` header only (F-W5)."""
    found = call.world.hooks.within_window(call.app)
    if "status" in call.query:
        found = [delivery for delivery in found if delivery.ok == (call.query["status"] == "success")]
    cursor = call.query.get("cursor")
    if cursor is not None:
        if not cursor.startswith(_CURSOR) or not cursor[len(_CURSOR) :].isdecimal():
            raise invalid("HookDelivery", "cursor")
        found = [delivery for delivery in found if delivery.id <= int(cursor[len(_CURSOR) :])]
    size = min(call.query.get("per_page", PER_PAGE), PER_PAGE_LIMIT)
    if len(found) > size:
        call.link({"next": {"cursor": f"{_CURSOR}{found[size].id}"}})
    return [_item(delivery) for delivery in found[:size]]


def get_webhook_delivery(call: Call) -> Any:
    found = _delivery(call)
    return {
        **_item(found),
        "url": found.app.hook_url or "",
        "request": {"headers": found.headers, "payload": json.loads(found.body)},
        "response": {"headers": {}, "payload": found.response},
    }


def redeliver_webhook_delivery(call: Call) -> Any:
    call.world.hooks.redeliver(_delivery(call))
    return Answer(202, {})


def _delivery(call: Call) -> Delivery:
    for found in call.world.hooks.within_window(call.app):
        if found.id == call.params["delivery_id"]:
            return found
    raise not_found()


def _item(found: Delivery) -> dict[str, Any]:
    return {
        "id": found.id,
        "guid": found.guid,
        "delivered_at": iso(found.at),
        "redelivery": found.redelivery,
        "duration": found.duration,
        "status": found.status,
        "status_code": found.status_code,
        "event": found.event,
        "action": found.action,
        "installation_id": found.installation_id,
        "repository_id": found.repository_id,
        "throttled_at": iso(found.throttled_at),
    }
