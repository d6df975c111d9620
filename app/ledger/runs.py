"""Runs and their steps: rows to the machine's `Run` and back, guarded by its version (DB-3, LE-3, AC-1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select, update

from app.ledger.rows import Row, insert_new
from app.ledger.schema import repositories, runs, steps
from app.ledger.schema.run import ACTIVE
from app.ledger.words import Claim
from app.runs.model import Run, Stage, Status, Step, StepStatus


@dataclass(frozen=True)
class RunFacts:
    """What the machine does not turn: where the run belongs and who wanted it."""

    installation_id: int
    repository_id: int
    scope_id: str
    diagnosis_id: str
    dedup_tag: str
    head_sha: str
    base_sha: str
    started_by: str
    started_reason: str = ""
    supervisor_session_id: str | None = None


@dataclass(frozen=True)
class StepFacts:
    """What a step repairs and how it is called (PL-2); status, prompt and risk are in the machine's `Step`."""

    title: str
    group_id: str | None = None
    summary: str = ""
    phase: str = ""
    phase_label: str = ""
    target: str = ""
    aliases: Sequence[str] = field(default=())
    claim: Claim | None = None


def create(conn: Connection, run: Run, facts: RunFacts, plan: Sequence[StepFacts], now: int) -> bool:
    """Insert a run with one row per step, `plan` in the order of `run.steps`.

    False, and nothing is written, if the scope has an active run already (AC-1, IV-14).
    """
    own = {name: getattr(facts, name) for name in RunFacts.__dataclass_fields__}
    times = {"created_at": now, "updated_at": now, "stage_since_at": now}
    if not insert_new(conn, runs, id=run.run_id, **own, **_columns(run), version=run.version, **times):
        return False
    for ord_, (step, about) in enumerate(zip(run.steps, plan, strict=True)):
        words = {name: getattr(about, name) for name in StepFacts.__dataclass_fields__} | {
            "aliases": list(about.aliases)
        }
        conn.execute(
            steps.insert().values(run_id=run.run_id, step_id=step.step_id, ord=ord_, **words, **_of_step(step))
        )
    return True


def load(conn: Connection, run_id: str) -> Run:
    """The run as the machine sees it; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    row = get(conn, run_id)
    return Run(
        run_id=row.id,
        status=row.status,
        stage=row.stage,
        steps=tuple(
            Step(s.step_id, s.status, s.attempts, str(s.risk), s.prompt, s.feedback) for s in steps_of(conn, run_id)
        ),
        version=row.version,
        current=row.current_step,
        round=row.round,
        restarts=row.restarts,
        self_repairs=row.self_repairs,
        head_moves=row.head_moves,
        plan_version=row.plan_version,
        blocked_stage=row.blocked_stage,
        cause=row.block_cause,
        error=row.error,
        active_kind=row.active_kind,
        active_id=row.active_id,
        ci=row.ci,
        result=row.result,
        cancel_reason=row.cancel_reason,
        final_text=row.final_text,
        hint=row.hint,
        budgets=row.budgets,
    )


def save(conn: Connection, before: Run, after: Run, now: int) -> bool:
    """Write one transition; False, and nothing is written, if another one came first (LE-3).

    Raises ValueError unless `after` is the version after `before` of the same run (IV-15).
    """
    if after.run_id != before.run_id or after.version != before.version + 1:
        raise ValueError(f"{after.run_id} version {after.version} cannot follow {before.run_id} {before.version}")
    values: dict[str, object] = {**_columns(after), "version": after.version, "updated_at": now, "rung_at": None}
    if after.stage != before.stage:
        values["stage_since_at"] = now
    if after.status not in ACTIVE:
        values["finished_at"] = now
    where = (runs.c.id == after.run_id, runs.c.version == before.version)
    if conn.execute(update(runs).where(*where).values(**values)).rowcount == 0:
        return False
    for old, new in zip(before.steps, after.steps, strict=True):
        if new != old:
            _save_step(conn, after.run_id, new, now)
    return True


def get(conn: Connection, run_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return conn.execute(select(runs).where(runs.c.id == run_id)).one()


def find(conn: Connection, installation_id: int, run_id: str) -> Row | None:
    """The run for people of one installation; another installation's run is not found (DB-8)."""
    own = select(runs).where(runs.c.id == run_id, runs.c.installation_id == installation_id)
    return conn.execute(own).one_or_none()


def find_any(conn: Connection, run_id: str) -> Row | None:
    """A run of any installation; the caller asks who may read its repository before it shows anything of it."""
    return conn.execute(select(runs).where(runs.c.id == run_id)).one_or_none()


def steps_of(conn: Connection, run_id: str) -> Sequence[Row]:
    """The whole step rows in their order."""
    return conn.execute(select(steps).where(steps.c.run_id == run_id).order_by(steps.c.ord)).all()


def active(conn: Connection, scope_id: str) -> Row | None:
    """The one run of the scope that is RUNNING or BLOCKED, if any."""
    return conn.execute(select(runs).where(runs.c.scope_id == scope_id, runs.c.status.in_(ACTIVE))).one_or_none()


def last(conn: Connection, scope_id: str) -> Row | None:
    """The newest run of the scope, whatever became of it; none means NOT_STARTED (AC-2)."""
    newest = select(runs).where(runs.c.scope_id == scope_id).order_by(runs.c.created_at.desc(), runs.c.id.desc())
    return conn.execute(newest.limit(1)).one_or_none()


def ended_before(conn: Connection, repository_id: int, dedup_tag: str, head_sha: str) -> Row | None:
    """The newest ended run about the same tests of the same commit (IT-30)."""
    same = (runs.c.repository_id == repository_id, runs.c.dedup_tag == dedup_tag, runs.c.head_sha == head_sha)
    ended = select(runs).where(*same, runs.c.status.not_in(ACTIVE)).order_by(runs.c.created_at.desc())
    return conn.execute(ended.limit(1)).one_or_none()


def open_ids(conn: Connection) -> list[str]:
    """Runs that have not ended."""
    ended = runs.c.status.in_((Status.COMPLETED, Status.CANCELLED))
    return list(conn.execute(select(runs.c.id).where(~ended)).scalars())


def running(conn: Connection, installation_id: int) -> int:
    """How many runs of the installation are RUNNING; BLOCKED ones hold no slot (IT-31)."""
    mine = (runs.c.installation_id == installation_id, runs.c.status == Status.RUNNING)
    return conn.execute(select(func.count()).select_from(runs).where(*mine)).scalar_one()


def active_of_installation(conn: Connection, installation_id: int) -> Sequence[Row]:
    """All active runs of an installation with the name of their repository, oldest first."""
    mine = (runs.c.installation_id == installation_id, runs.c.status.in_(ACTIVE))
    return conn.execute(
        select(runs, repositories.c.full_name).join(repositories).where(*mine).order_by(runs.c.created_at)
    ).all()


def annotate(conn: Connection, run_id: str, **columns: object) -> None:
    """Set columns that the machine does not turn, such as `head_sha`, `stale_head_sha`, `supervisor_session_id`.

    Raises ValueError for a column that belongs to the machine.
    """
    _refuse(columns, {"id", "version", *_columns(_NOTHING)})
    conn.execute(update(runs).where(runs.c.id == run_id).values(**columns))


def annotate_step(conn: Connection, run_id: str, step_id: str, **columns: object) -> None:
    """As `annotate`, for a step: `session_id`, `start_tree`, `commit_sha`, `addenda`, ..."""
    _refuse(columns, {"run_id", "step_id", "ord", *_of_step(Step(""))})
    conn.execute(update(steps).where(steps.c.run_id == run_id, steps.c.step_id == step_id).values(**columns))


_NOTHING = Run("", Status.RUNNING, Stage.IDLE, ())


def _refuse(columns: dict[str, object], machine: set[str]) -> None:
    if taken := machine & columns.keys():
        raise ValueError(f"the machine writes {', '.join(sorted(taken))}")


def _columns(run: Run) -> dict[str, object]:
    return {
        "status": run.status,
        "stage": run.stage,
        "blocked_stage": run.blocked_stage,
        "block_cause": run.cause,
        "error": run.error,
        "current_step": run.current,
        "round": run.round,
        "restarts": run.restarts,
        "self_repairs": run.self_repairs,
        "head_moves": run.head_moves,
        "plan_version": run.plan_version,
        "active_kind": run.active_kind,
        "active_id": run.active_id,
        "ci": run.ci,
        "result": run.result,
        "cancel_reason": run.cancel_reason,
        "final_text": run.final_text,
        "hint": run.hint,
        "budgets": run.budgets,
    }


def _of_step(step: Step) -> dict[str, object]:
    return {
        "status": step.status,
        "attempts": step.attempts,
        "risk": step.risk,
        "prompt": step.prompt,
        "feedback": step.feedback,
    }


def _save_step(conn: Connection, run_id: str, step: Step, now: int) -> None:
    finished = {"finished_at": now} if step.status == StepStatus.APPROVED else {}
    where = (steps.c.run_id == run_id, steps.c.step_id == step.step_id)
    conn.execute(update(steps).where(*where).values(**_of_step(step), **finished))
