"""Find deliveries that failed and ask for them again (GH-35); GitHub never repeats one by itself (F-W2)."""

from app.events.payloads.parts import Millis, Part, Text
from app.github.calls import Listing
from app.github.client import Client
from app.github.paths import path


class HookDelivery(Part):
    """One attempt to deliver; all attempts of one delivery share `guid`, which is X-GitHub-Delivery (F-W4)."""

    id: int
    guid: str
    event: Text = ""
    action: str | None = None
    status: Text = ""
    status_code: int = 0
    redelivery: bool = False
    duration: float = 0
    delivered_at: Millis = None
    throttled_at: Millis = None
    installation_id: int | None = None
    repository_id: int | None = None

    @property
    def arrived(self) -> bool:
        """Whether we answered that we have it."""
        return 200 <= self.status_code < 300


def newest_attempts(client: Client) -> list[HookDelivery]:
    """The newest hundred, newest first: one page, for a look."""
    return [HookDelivery.model_validate(one) for one in client.get(path("app", "hook", "deliveries"), per_page=100)]


def list_failed_deliveries(client: Client, since_ms: int, last_seen_id: int = 0) -> Listing[HookDelivery]:
    """Failed attempts after `since_ms` and after the attempt `last_seen_id`, newest first.

    Any guid may be stored or delivered by now: the caller knows its rows. `cut` as in every list.
    """

    def known(item: object) -> bool:
        attempt = HookDelivery.model_validate(item)
        return attempt.id <= last_seen_id or (attempt.delivered_at or since_ms) < since_ms

    return client.pages(path("app", "hook", "deliveries"), until=known, status="failure").of(HookDelivery)


def find_attempts(client: Client, since_ms: int) -> Listing[HookDelivery]:
    """All attempts after `since_ms`, newest first, whatever came of them."""

    def known(item: object) -> bool:
        return (HookDelivery.model_validate(item).delivered_at or since_ms) < since_ms

    return client.pages(path("app", "hook", "deliveries"), until=known).of(HookDelivery)


def request_redelivery(client: Client, delivery_id: int) -> None:
    """Ask for the attempt once more. Repeatable: the guid is the same, and a delivery that is stored is a no-op."""
    client.post(path("app", "hook", "deliveries", delivery_id, "attempts"), repeatable=True)
