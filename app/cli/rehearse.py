"""Try a delivery on a copy of the ledger: GitHub is asked and never written to, no agent and no test is started."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection, select

from app.github.reading import ReadingClient
from app.ledger import deliveries, diagnoses, ready, views
from app.ledger.deliveries import Delivery
from app.ledger.engine import migrate, open_engine
from app.ledger.past import copy_past
from app.ledger.rows import Row
from app.ledger.schema import deliveries as delivery_rows
from app.ledger.schema import diagnoses as diagnosis_rows
from app.ledger.schema import outbox, scopes
from app.ledger.schema.diagnosis import ENDED
from app.ledger.words import DeliveryState
from app.render.comment import render_comment
from app.runs.projection import project
from app.services import Services, use

MOST_STEPS = 60
STEP_MS = 5_000
TRIES = 3


@dataclass(frozen=True)
class Told:
    """What a delivery led to, in words."""

    delivery: str
    diagnosis: str = ""
    causes: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    writes: tuple[str, ...] = ()
    comment: str = ""


@dataclass
class _Stage:
    """A clock that is moved on instead of waiting, and the doorbells that rang."""

    clock: Callable[[], int]
    ahead_ms: int = 0
    rang: list[tuple[str, str]] = field(default_factory=list)

    def now(self) -> int:
        return self.clock() + self.ahead_ms

    def diagnosis(self) -> str:
        """The diagnosis that the delivery rang for; empty without one."""
        return next((item for job, item in self.rang if job == "diagnose"), "")


def rehearse(real: Services, delivery: Delivery, at: int) -> Told:
    """What this delivery would lead to now, knowing what was known at `at`; nothing is kept of it."""
    stage = _Stage(real.clock)
    with _copied(real, delivery, at, stage) as s:
        with s.write() as conn:
            deliveries.store(conn, delivery, s.clock())
        _run(s, delivery.guid, stage)
        with s.read() as conn:
            row = deliveries.get(conn, delivery.guid)
            assert row is not None
            told = diagnoses.get(conn, stage.diagnosis()) if stage.diagnosis() else None
            return told_of(conn, row, told, s)


def recorded(s: Services, row: Row) -> Told:
    """What this delivery led to when it came, as far as rows tell: the diagnosis of its commit that was open then."""
    with s.read() as conn:
        body = deliveries.payload(row) if row.payload else b""
        until = (row.handled_at or row.received_at) + 1_000
        open_then = select(diagnosis_rows).where(
            diagnosis_rows.c.created_at <= until,
            diagnosis_rows.c.finished_at.is_(None) | (diagnosis_rows.c.finished_at >= row.received_at),
            diagnosis_rows.c.scope_id.in_(select(scopes.c.id).where(scopes.c.repository_id == row.repository_id)),
        )
        found = conn.execute(open_then.order_by(diagnosis_rows.c.created_at.desc()).limit(50)).all()
        mine = [one for one in found if one.head_sha and one.head_sha.encode() in body]
        return told_of(conn, row, mine[0] if mine else None)


def told_of(conn: Connection, row: Row, told: Row | None, s: Services | None = None) -> Told:
    """The words for a delivery and its diagnosis; with the services of a rehearsal also what would be written."""
    delivery = f"{row.state.value.lower()}{': ' + row.error if row.error else ''}"
    letters = [str(one.kind.value) for one in conn.execute(select(outbox).order_by(outbox.c.seq))] if s else []
    if told is None:
        return Told(delivery, writes=tuple(letters))
    outcome = f"{(told.outcome or told.state).value}{': ' + told.problem if told.problem else ''}"
    causes = {group.title: group.cause.value for group in diagnoses.groups_of(conn, told.id)}
    run = "starts" if told.run_id else "none"
    return Told(delivery, outcome, causes, run, tuple(letters), _comment(conn, told, s) if s else "")


def _comment(conn: Connection, told: Row, s: Services) -> str:
    view = views.scope_view(conn, s.store, told.scope_id, s.settings)
    return "" if project(view) is None or view.number is None else str(render_comment(view, s.redactor))


@contextmanager
def _copied(real: Services, delivery: Delivery, at: int, stage: _Stage) -> Iterator[Services]:
    """Services on a copy of the ledger, with a folder of their own, no doorbell and a client that only reads."""
    with tempfile.TemporaryDirectory(prefix="remedy-replay-") as folder:
        settings = real.settings.model_copy(update={"data": Path(folder)})
        engine = open_engine(f"sqlite:///{folder}/remedy.db")
        migrate(engine)
        copy_past(real.engine, engine, delivery.repository_id or 0, at)
        s = replace(
            real,
            settings=settings,
            engine=engine,
            bell=lambda job, item: stage.rang.append((job, item)),
            connect=lambda installation_id: ReadingClient(real.settings, installation_id),
            clock=stage.now,
        )
        use(s)
        try:
            yield s
        finally:
            use(None)
            engine.dispose()


def _run(s: Services, guid: str, stage: _Stage) -> None:
    """Intake, and the diagnosis that it rings for, without waiting for what waits for a time."""
    tries = 0
    for _ in range(MOST_STEPS):
        with s.read() as conn:
            open_ = _open(conn, guid, stage.diagnosis())
            due = [one for one in ready.due(conn, s.clock(), 0) if one in open_]
        if not open_ or tries > TRIES:
            return
        if not due:
            stage.ahead_ms += STEP_MS
            continue
        job, item = due[0]
        tries += job == "intake"
        getattr(import_module(f"jobs.{job}"), job)(item)


def _open(conn: Connection, guid: str, diagnosis_id: str) -> list[tuple[str, str]]:
    """What of the two goes on, now or later."""
    row = deliveries.get(conn, guid)
    if row is not None and row.state is DeliveryState.RECEIVED:
        return [("intake", guid)]
    if not diagnosis_id or diagnoses.get(conn, diagnosis_id).state in ENDED:
        return []
    return [("diagnose", diagnosis_id)]


def find(s: Services, guid: str) -> Row | None:
    """A delivery that was kept."""
    with s.read() as conn:
        return conn.execute(select(delivery_rows).where(delivery_rows.c.guid == guid)).one_or_none()
