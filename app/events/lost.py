"""Deliveries that never arrived: ask GitHub for them again (GH-35, CR-1)."""

from dataclasses import dataclass, field

from app.events.router import HANDLED
from app.github.client import Client
from app.github.deliveries import HookDelivery, list_failed_deliveries, request_redelivery
from app.ledger import deliveries
from app.services import Services

WINDOW_MS = 3 * 24 * 3600 * 1000
AT_A_TIME = 20
TRIES = 10


@dataclass
class Lost:
    """Asks once for each failed attempt: what comes of that is an attempt of its own, with a row only if it matters."""

    connect: type[Client] = Client
    asked: set[int] = field(default_factory=set)

    def ask_again(self, s: Services) -> int:
        """Ask for each failed delivery that we would keep and do not have, oldest first; how many were asked for."""
        with self.connect(s.settings, None) as client:
            failed = list(list_failed_deliveries(client, s.clock() - WINDOW_MS))
            self.asked &= {attempt.id for attempt in failed}
            wanted = [attempts[0] for attempts in _by_guid(failed) if len(attempts) <= TRIES]
            missing = [one for one in wanted if one.id not in self.asked and not _is_stored(s, one.guid)]
            for attempt in missing[:AT_A_TIME]:
                request_redelivery(client, attempt.id)
                self.asked.add(attempt.id)
        return len(missing[:AT_A_TIME])


def _by_guid(failed: list[HookDelivery]) -> list[list[HookDelivery]]:
    """Attempts of each delivery, newest first in each; the delivery that failed first comes first."""
    groups: dict[str, list[HookDelivery]] = {}
    for attempt in failed:
        if (attempt.event, attempt.action or "") in HANDLED:
            groups.setdefault(attempt.guid, []).append(attempt)
    return list(reversed(groups.values()))


def _is_stored(s: Services, guid: str) -> bool:
    with s.read() as conn:
        return deliveries.get(conn, guid) is not None
