"""A world whose workers die: traps say at which point of which job, and somebody else takes over afterwards."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import or_, select

from app.ledger.schema import runs
from app.runs.model import Stage
from jobs.sweep import sweep
from tests.journeys.victim import Point, Task, killed_at
from tests.journeys.world import World


@dataclass
class Trap:
    """A worker dies `times` times at `point` of this job, if its run is at `stage` (None: wherever)."""

    job: str
    point: Point
    stage: Stage | None = None
    times: int = 1

    def __str__(self) -> str:
        return f"{self.point.when} {self.point.place} in {self.job} {self.stage or ''}"


class DeadlyWorld(World):
    """`traps` are met while the world is stepped; each dead worker's lease runs out before anybody else goes on."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.traps: list[Trap] = []
        self.words_while_leased: list[str] = []

    def set_traps(self, traps: Iterable[Trap]) -> None:
        self.traps = [replace(trap) for trap in traps]

    def assert_all_met(self) -> None:
        """A trap that nobody met tested nothing."""
        unmet = [str(trap) for trap in self.traps if trap.times > 0]
        assert not unmet, f"nobody came there: {unmet}"

    def run(self, job: str, item: str) -> str:
        """Run one job; in a process of its own while a trap waits for it."""
        traps = self._traps_for(job, item)
        if not traps:
            return super().run(job, item)
        self.did.append((f"{job} among traps", item))
        met = killed_at(Task(self.settings, self.offset_ms, job, item), [trap.point for trap in traps])
        if met is None:
            return "survived"
        traps[met].times -= 1
        self.words_while_leased.append(super().run(job, item))
        self.take_over()
        return "killed"

    def take_over(self) -> None:
        """The leases of the dead run out, and the sweep finds what they left (domain.md, 13)."""
        self.pass_time(self.settings.times.lease_s + 1)
        sweep(self.services)

    def _traps_for(self, job: str, item: str) -> list[Trap]:
        stage = self._stage_of(item)
        waiting = [trap for trap in self.traps if trap.times > 0 and trap.job == job]
        return [trap for trap in waiting if trap.stage in (None, stage)]

    def _stage_of(self, item: str) -> Stage | None:
        with self.services.read() as conn:
            mine = or_(runs.c.id == item, runs.c.active_id == item)
            return conn.execute(select(runs.c.stage).where(mine)).scalar()
