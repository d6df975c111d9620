"""The merge queue asks for checks at a head of its own; there is nothing to repair there (decisions.md, row 73)."""

from app.events.handlers.outcome import Heard, ignored
from app.events.payloads import MergeGroupEvent
from app.events.places import know
from app.ledger import outbox
from app.ledger.words import OutboxKind
from app.services import Services


def on_merge_group_checks_requested(s: Services, event: MergeGroupEvent, guid: str) -> Heard:
    """Answer at once with a neutral check, so that a required check of ours never holds the queue (F-P5)."""
    with s.write() as conn:
        place = know(conn, event)
        if place is None:
            return ignored("no installation")
        sha = event.merge_group.head_sha
        outbox.put(
            conn,
            key=f"queue_check:{place.repository_id}:{sha}",
            lane=f"queue:{sha}",
            kind=OutboxKind.UPSERT_CHECK,
            payload={"repository_id": place.repository_id, "queue_head": sha},
            installation_id=place.installation_id,
            now=s.clock(),
        )
    return Heard(rings=(("deliver", str(place.installation_id)),))


def on_merge_group_destroyed(s: Services, event: MergeGroupEvent, guid: str) -> Heard:
    """Nothing was begun there."""
    return ignored("nothing was begun there")
