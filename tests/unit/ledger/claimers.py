"""What each of several processes does at the same time in `test_concurrency`; it must be importable to be spawned."""

import random

from app.ledger import deliveries, leases
from app.ledger.engine import open_engine, read, write
from tests.unit.ledger.world import NOW

LEASE_MS = 60_000


def claim_all(url: str, owner: str) -> list[str]:
    """Claim and finish waiting deliveries until there are none; the guids that this process finished."""
    engine = open_engine(url)
    order = random.Random(owner)
    mine = []
    while True:
        with read(engine) as conn:
            waiting = [row.guid for row in deliveries.unhandled(conn, NOW, 20)]
        if not waiting:
            engine.dispose()
            return mine
        guid = order.choice(waiting)
        resource = f"delivery:{guid}"
        with write(engine) as conn:
            epoch = leases.take(conn, resource, owner, NOW, LEASE_MS)
        if epoch is None:
            continue
        with write(engine) as conn:
            if leases.holds(conn, resource, owner, epoch, NOW) and deliveries.handled(conn, guid, NOW):
                mine.append(guid)
            leases.release(conn, resource, owner, epoch)
