"""A database of the first version, with work in it, is upgraded and its runs go on (DB-9, CR-18, C24, T23)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from app.ledger import events, repairs, runs, transitions
from app.ledger.engine import migrate, open_engine, read, write
from app.runs.facts import Command
from app.runs.model import BlockCause, Stage, Status
from app.services import Services, use
from app.settings import Settings
from jobs.advance import advance
from jobs.sweep import sweep

pytestmark = pytest.mark.slow

FIRST = "0005_engine"
"""The first revision with all tables of a run."""
THEN = 1_700_000_000_000


@dataclass
class Old:
    """The first version's tables as they are in its database, and its way to fill them."""

    engine: Engine
    meta: sa.MetaData = field(default_factory=sa.MetaData)

    def __post_init__(self) -> None:
        self.meta.reflect(self.engine)

    def add(self, name: str, **values: object) -> None:
        table = self.meta.tables[name]
        times = {column: THEN for column in ("created_at", "updated_at", "stage_since_at") if column in table.c}
        with write(self.engine) as conn:
            conn.execute(table.insert().values(**times, **values))

    def run(self, name: str, **columns: object) -> None:
        """A run of one step in a pull request of its own."""
        where = {"installation_id": 7, "repository_id": 101}
        head = {"head_sha": "headsha", "base_sha": "basesha"}
        facts = {"key": f"pr:{name[1:]}", "state": "open", "head_repo_id": 101, "head_ref": "f", "base_ref": "main"}
        self.add("scopes", id=f"S{name}", **where, **head, **facts)
        self.add("diagnoses", id=f"D{name}", installation_id=7, scope_id=f"S{name}", state="DONE", due_at=0)
        places = {"scope_id": f"S{name}", "diagnosis_id": f"D{name}"}
        self.add("runs", id=name, **where, **places, **head, **columns)
        step = {"status": "BLOCKED" if columns["status"] == "BLOCKED" else "WORKING", "attempts": 1, "risk": "code"}
        self.add("steps", run_id=name, step_id="s1", ord=0, title="repair", prompt="Repair it.", **step)

    def turn(self, run: str, role: str, purpose: str, **columns: object) -> None:
        session = {"id": f"{run}-{role}", "run_id": run, "role": role, "runner_id": "a/b/c", "state": "OPEN"}
        self.add("sessions", **session)
        about = {"run_id": run, "step_id": "s1", "session_id": session["id"], "role": role, "purpose": purpose}
        self.add("turns", id=f"{run}-3", **about, started_at=THEN, **columns)


@pytest.fixture
def s(empty_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """The tools of the new version on the old version's database."""
    engine = open_engine(empty_url)
    migrate(engine, FIRST)
    old = Old(engine)
    old.add("installations", id=7, account="acme")
    old.add("repositories", id=101, installation_id=7, full_name="acme/shop", default_branch="main")
    old.run("R1", status="BLOCKED", stage="IDLE", error="it broke off", version=4, current_step=0)
    old.turn("R1", "SUPERVISOR", "review", status="FAILED", error_code="runner.crashed", finished_at=THEN + 9)
    old.run("R2", status="RUNNING", stage="AGENT", version=3, current_step=0, active_kind="turn", active_id="R2-3")
    old.turn("R2", "AGENT", "work", status="RUNNING")
    migrate(engine)
    known = {
        "DATABASE_URL": empty_url,
        "data": tmp_path_factory.mktemp("data"),
        "agent": "a/b/c",
        "supervisor": "a/b/d",
    }
    services = Services(Settings(**known), engine, lambda job, item: None, lambda installation: None)  # type: ignore
    use(services)
    yield services
    use(None)
    engine.dispose()


def happened(s: Services, run_id: str) -> list[str]:
    with s.read() as conn:
        return [event.kind.value for event in events.of_run(conn, run_id)]


def test_a_run_that_was_blocked_is_caught_up_and_can_be_resumed_T23_BS_6_C24(s: Services) -> None:
    assert ("advance", "R1") in sweep(s)
    assert advance("R1") == "self_repair_recovered"

    assert happened(s, "R1") == ["self_repair.catchup_started"]
    with read(s.engine) as conn:
        run, asked = runs.load(conn, "R1"), repairs.running(conn, "R1")
        assert (run.blocked_stage, run.cause, run.budgets) == (Stage.SUPERVISOR, BlockCause.TURN_FAILED, 1)
        assert asked is not None and asked.turn_id == f"R1-{run.version}"
    assert ("advance", "R1") not in sweep(s), "asked once"

    with write(s.engine) as conn:
        step = transitions.apply(conn, "R1", Command("resume", "mo"), s.settings, s.clock())
    assert (step.run.status, step.run.stage) == (Status.RUNNING, Stage.SUPERVISOR)


def test_a_run_that_was_at_work_goes_on_where_it_was_CR_5_CR_18(s: Services) -> None:
    assert ("advance", "R2") in sweep(s)
    assert advance("R2") == "processed"

    with read(s.engine) as conn:
        run = runs.load(conn, "R2")
    assert (run.stage, run.restarts, run.active_id, run.steps[0].attempts) == (Stage.AGENT, 1, "R2-4", 1)
    assert happened(s, "R2") == ["lease.taken_over", "step.turn_restarted"]
    assert ("turn", "R2-4") in sweep(s)
