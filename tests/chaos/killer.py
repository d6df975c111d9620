"""Kill processes of Remedy: whatever kind, or whoever holds the lease at a named point; and see who takes over."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine, select

from app.ledger.engine import read
from app.ledger.rows import Row
from app.ledger.schema import deliveries, diagnoses, leases, proofs, publications, turns
from app.ledger.schema.diagnosis import ENDED
from app.ledger.words import DeliveryState
from app.runs.model import ItemStatus
from tests.chaos.scene import ChaosStage
from tests.processes import command_of, tree_of

PARTS = {
    "web": "-m app.cli web",
    "quick worker": "-m jobs.worker quick",
    "long worker": "-m jobs.worker long",
    "sweep": "-m jobs.worker sweep",
    "redis": "redis-server",
    "agent": "qa.py",
}
POINTS = {
    "diagnosis": "diagnose",
    "proof": "prove",
    "publication": "publish",
    "outbox": "deliver",
    "delivery": "intake",
    "run": "advance",
}
"""Kinds of leases, and the job that holds them; those of turns are named by their purpose."""
EVERY_POINT = (*POINTS.values(), *(f"turn {purpose}" for purpose in ("plan", "work", "review", "final")))
WAIT_FOR_POINT_S = 6.0
MEASURED = {"turn": turns, "proof": proofs, "publication": publications}


@dataclass
class Watch:
    """Work whose holder is dead; over when somebody saw that."""

    resource: str
    owner: str
    since: float
    killed: str


@dataclass
class Killer:
    """Kills in the order that its seed gives; `seconds` are the times until work was taken over."""

    stage: ChaosStage
    random: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    watched: list[Watch] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    turn: int = 0

    def kill(self) -> bool:
        """One kill, by turns at a named point and of any kind; False if nobody was there to be killed."""
        self.turn += 1
        if self.turn % 2:
            return self._at_point()
        kind = self.random.choice([*PARTS, "flush", "work-horse", "work-horse", "long worker"])
        return self._flush() if kind == "flush" else self._of_kind(kind)

    def watch(self) -> None:
        """See which work of the dead was taken over meanwhile."""
        if not self.watched:
            return
        with read(self.stage.engine) as conn:
            owners = dict(conn.execute(select(leases.c.resource, leases.c.owner)).tuples().all())
        now = time.monotonic()
        for watch in [one for one in self.watched if owners.get(one.resource) != one.owner]:
            self.watched.remove(watch)
            self.seconds.append(now - watch.since)
            kind = watch.resource.partition(":")[0]
            self.slowest = max(self.slowest, (round(now - watch.since, 2), f"{kind} after {watch.killed}"))

    def _at_point(self) -> bool:
        """Whoever holds the lease of a point that was met least so far; after a while, of any point."""
        until = time.monotonic() + WAIT_FOR_POINT_S
        while (left_s := until - time.monotonic()) > 0:
            held = _holders(self.stage.engine)
            least = min(self.kills[f"at {name}"] for name in EVERY_POINT)
            for point in sorted(held, key=lambda name: self.kills[f"at {name}"]):
                rare = self.kills[f"at {point}"] == least
                if (rare or left_s < WAIT_FOR_POINT_S / 2) and self._kill(held[point], f"at {point}"):
                    return True
            time.sleep(0.01)
            self.watch()
        return False

    def _of_kind(self, kind: str) -> bool:
        every = tree_of(self.stage.remedy.pid)
        if kind == "work-horse":
            workers = [pid for pid in every if "-m jobs.worker" in command_of(pid)]
            found = [pid for worker in workers for pid in tree_of(worker) if "-m jobs.worker" in command_of(pid)]
        else:
            found = [pid for pid in every if PARTS[kind] in command_of(pid) and "tether.py" not in command_of(pid)]
        return bool(found) and self._kill(self.random.choice(found), kind)

    def _kill(self, pid: int, name: str) -> bool:
        dead = {pid, *tree_of(pid)}
        if pid not in tree_of(self.stage.remedy.pid):
            return False
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills[name] += 1
            now = time.monotonic()
            self.watched += [
                Watch(row.resource, row.owner, now, name)
                for row in _unfinished(self.stage.engine)
                if pid_of(row.owner) in dead
            ]
            return True
        return False

    def _flush(self) -> bool:
        """Redis forgets everything, as after a restart without its file."""
        path = self.stage.folder / "data" / "redis" / "redis.sock"
        with suppress(RedisError), Redis.from_url(f"unix://{path}", socket_timeout=1) as redis:
            redis.flushall()
            self.kills["redis flushed"] += 1
            return True
        return False


def pid_of(owner: str) -> int:
    """The process of a lease: its owner is named `host:pid:random`."""
    parts = owner.split(":")
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else 0


def _holders(engine: Engine) -> dict[str, int]:
    """Named points where somebody is now, with the pid of a process that is there."""
    live = (leases.c.owner != "", leases.c.until_at > time.time_ns() // 1_000_000)
    with read(engine) as conn:
        held = conn.execute(select(leases.c.resource, leases.c.owner).where(*live)).all()
        purposes = dict(
            conn.execute(select(turns.c.id, turns.c.purpose).where(turns.c.status == ItemStatus.RUNNING)).tuples().all()
        )
    found: dict[str, int] = {}
    for resource, owner in held:
        kind, _, item = resource.partition(":")
        point = f"turn {purposes[item]}" if item in purposes else POINTS.get(kind)
        if point is not None:
            found[point] = pid_of(owner)
    return found


def _unfinished(engine: Engine) -> list[Row]:
    """Live leases of work that is not done; that of finished work is nobody's loss."""
    with read(engine) as conn:
        names = [
            f"{kind}:{row_id}"
            for kind, table in MEASURED.items()
            for row_id in conn.execute(select(table.c.id).where(table.c.status == ItemStatus.RUNNING)).scalars()
        ]
        open_ = select(diagnoses.c.id).where(diagnoses.c.state.not_in(ENDED))
        names += [f"diagnosis:{row_id}" for row_id in conn.execute(open_).scalars()]
        waiting = select(deliveries.c.guid).where(deliveries.c.state == DeliveryState.RECEIVED)
        names += [f"delivery:{guid}" for guid in conn.execute(waiting).scalars()]
        held = select(leases).where(leases.c.owner != "", leases.c.resource.in_(names))
        return list(conn.execute(held).all())
