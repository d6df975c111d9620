"""What the processes of `test_concurrency` do; it must be importable to be spawned."""

import random
import time
from multiprocessing.connection import Connection as Pipe

from app.ledger import deliveries, leases, runs, transitions, work
from app.ledger.engine import open_engine, read, write
from app.ledger.heartbeat import Heartbeat
from app.ledger.leases import Holder
from app.runs.facts import TurnDone, Verdict
from app.runs.model import Decision, ItemKind, ItemStatus
from app.settings import Limits, Settings
from tests.unit.ledger.world import NOW

LEASE_MS = 60_000
PATIENT = Settings(limits=Limits(rounds=1000))


def claim_all(url: str, owner: str) -> list[str]:
    """Claim and finish waiting deliveries until there are none; the guids that this process finished."""
    engine = open_engine(url)
    order = random.Random(owner)
    mine: list[str] = []
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


def tick(url: str, run_id: str, until: int) -> int:
    """Tick one run, as everybody else does at the same time; how many transitions this process made."""
    engine = open_engine(url)
    made = 0
    while True:
        with read(engine) as conn:
            run = runs.load(conn, run_id)
        if run.version >= until:
            engine.dispose()
            return made
        fact = TurnDone(str(run.active_id), Verdict(Decision.CORRECT, f"after {run.version}"))
        try:
            with write(engine) as conn:
                step = transitions.apply(conn, run_id, fact, PATIENT, NOW + run.version)
                made += not step.refused
        except transitions.Overtaken:
            continue


def real_now() -> int:
    return time.time_ns() // 1_000_000


def work_on_turn(url: str, turn_id: str, pipe: Pipe) -> None:
    """Start a turn, say so, wait for a word, try to write its end: [was it written, is the loss known]."""
    engine = open_engine(url)
    resource = work.resource(ItemKind.TURN, turn_id)
    with write(engine) as conn:
        epoch = leases.take(conn, resource, "frozen", real_now(), 500)
        assert epoch is not None
        me = Holder("frozen", epoch)
        assert work.start(conn, ItemKind.TURN, turn_id, me, real_now())
    with Heartbeat(url, resource, me.owner, me.epoch, lease_s=0.5, renew_s=0.05, clock=real_now) as beat:
        pipe.send("started")
        pipe.recv()
        with write(engine) as conn:
            written = work.end(conn, ItemKind.TURN, turn_id, me, real_now(), status=ItemStatus.DONE)
        pipe.send([written, beat.lost.wait(20)])
    engine.dispose()
