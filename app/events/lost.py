"""Deliveries that never arrived: ask GitHub for them again (GH-35, CR-1)."""

from app.github.client import Client
from app.github.deliveries import HookDelivery, list_failed_deliveries, request_redelivery
from app.ledger import deliveries
from app.services import Services

WINDOW_MS = 3 * 24 * 3600 * 1000
AT_A_TIME = 20
TRIES = 3


def ask_again(s: Services, connect: type[Client] = Client) -> int:
    """Ask for each failed delivery that is not stored, oldest first; how many were asked for."""
    now = s.clock()
    with connect(s.settings, None) as client:
        failed = list(list_failed_deliveries(client, now - WINDOW_MS))
        asked = 0
        for attempts in _by_guid(failed):
            if asked >= AT_A_TIME or len(attempts) > TRIES or _is_stored(s, attempts[0].guid):
                continue
            request_redelivery(client, attempts[0].id)
            asked += 1
    return asked


def _by_guid(failed: list[HookDelivery]) -> list[list[HookDelivery]]:
    """Attempts of each delivery, newest first in each; the delivery that failed first comes first."""
    groups: dict[str, list[HookDelivery]] = {}
    for attempt in failed:
        groups.setdefault(attempt.guid, []).append(attempt)
    return list(reversed(groups.values()))


def _is_stored(s: Services, guid: str) -> bool:
    with s.read() as conn:
        return deliveries.get(conn, guid) is not None
