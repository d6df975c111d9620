"""Diagnoses: reading one head's red checks into failures and groups (domain.md, 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, select, update

from app.failures.group_kind import GroupKind
from app.ledger.ids import new_id
from app.ledger.rows import Row, insert, insert_new
from app.ledger.schema import diagnoses, failure_groups, failures, scopes
from app.ledger.schema.diagnosis import ENDED
from app.ledger.words import FailureKind
from app.runs.model import Cause, DiagnosisState, Outcome


@dataclass(frozen=True)
class FailureFacts:
    """One failing test of one head; texts are redacted and cut before they come here (IT-18).

    `source` names the input that told of it, `place_source` the one that gave `file` and `line` (IN-1 to IN-3).
    """

    test_id: str
    framework: str
    kind: FailureKind
    error_head: str
    detail_tail: str
    fingerprint: str
    unstable_id: bool = False
    file: str = ""
    line: int | None = None
    check_run_id: int | None = None
    log_evidence_id: str | None = None
    source: str = ""
    place_source: str = ""


@dataclass(frozen=True)
class GroupFacts:
    """Failures with one root cause and whose fault they are; `test_ids` are of the same diagnosis."""

    fingerprint: str
    title: str
    cause: Cause
    test_ids: Sequence[str]
    how_we_know: str = ""
    why_grouped: str = ""
    cause_counts: Mapping[str, Any] = field(default_factory=dict)
    issue_id: str | None = None
    kind: GroupKind = "tests"
    diff_file: str = ""
    """Where in the pull request's diff its failures stand, if they do; below the line."""
    diff_line: int | None = None


def open(conn: Connection, scope_id: str, head_sha: str, now: int, due_at: int) -> tuple[str, bool]:
    """The open diagnosis of this head and True if it is new; `due_at` counts for a new one only (domain.md, 14)."""
    diagnosis_id = new_id(now)
    about = conn.execute(select(scopes.c.installation_id, scopes.c.base_sha).where(scopes.c.id == scope_id)).one()
    is_new = insert_new(
        conn,
        diagnoses,
        id=diagnosis_id,
        installation_id=about.installation_id,
        scope_id=scope_id,
        head_sha=head_sha,
        base_sha=about.base_sha,
        check_runs=[],
        due_at=due_at,
        created_at=now,
        updated_at=now,
    )
    if is_new:
        return diagnosis_id, True
    return conn.execute(select(diagnoses.c.id).where(*_open_of(scope_id, head_sha))).scalar_one(), False


def get(conn: Connection, diagnosis_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return conn.execute(select(diagnoses).where(diagnoses.c.id == diagnosis_id)).one()


def last(conn: Connection, scope_id: str, head_sha: str | None = None) -> Row | None:
    """The newest diagnosis of a scope, or of one head of it; a dry run is none."""
    rows = select(diagnoses).where(diagnoses.c.scope_id == scope_id, ~diagnoses.c.dry_run)
    if head_sha is not None:
        rows = rows.where(diagnoses.c.head_sha == head_sha)
    newest = rows.order_by(diagnoses.c.created_at.desc(), diagnoses.c.id.desc()).limit(1)
    return conn.execute(newest).one_or_none()


def open_of_scope(conn: Connection, scope_id: str) -> Sequence[Row]:
    """The open diagnoses of a scope (one per head), oldest first."""
    rows = select(diagnoses).where(diagnoses.c.scope_id == scope_id, diagnoses.c.state.not_in(ENDED))
    return conn.execute(rows.order_by(diagnoses.c.created_at, diagnoses.c.id)).all()


def waiting(conn: Connection, installation_id: int) -> Sequence[Row]:
    """Diagnoses that wait for a slot, oldest first (IT-31)."""
    rows = select(diagnoses).where(
        diagnoses.c.installation_id == installation_id, diagnoses.c.state == DiagnosisState.WAITING
    )
    return conn.execute(rows.order_by(diagnoses.c.created_at, diagnoses.c.id)).all()


def update_open(conn: Connection, diagnosis_id: str, now: int, **columns: object) -> bool:
    """Set columns of an open diagnosis and let its doorbell ring again; False if it ended already (DB-3)."""
    values = {**columns, "updated_at": now, "rung_at": None}
    still = (diagnoses.c.id == diagnosis_id, diagnoses.c.state.not_in(ENDED))
    return conn.execute(update(diagnoses).where(*still).values(**values)).rowcount == 1


def saw_red(conn: Connection, diagnosis_id: str, check_run_id: int, name: str, now: int) -> None:
    """A red check of the head by name, before anybody read it (state 01); once read, the reading counts."""
    known = list(get(conn, diagnosis_id).check_runs or ())
    if check_run_id not in {check["id"] for check in known}:
        update_open(conn, diagnosis_id, now, check_runs=[*known, {"id": check_run_id, "name": name}])


def end(
    conn: Connection, diagnosis_id: str, outcome: Outcome, now: int, *, run_id: str | None = None, problem: str = ""
) -> bool:
    """DONE with its outcome; False if it ended already. Without a `problem` the one that is known stays."""
    told = {"problem": problem} if problem else {}
    return update_open(
        conn, diagnosis_id, now, state=DiagnosisState.DONE, outcome=outcome, run_id=run_id, finished_at=now, **told
    )


def fail(conn: Connection, diagnosis_id: str, problem: str, now: int) -> bool:
    """FAILED by a bug of ours; the outcome stays empty. False if it ended already."""
    return update_open(conn, diagnosis_id, now, state=DiagnosisState.FAILED, problem=problem, finished_at=now)


def store_failures(conn: Connection, diagnosis_id: str, found: Sequence[FailureFacts], now: int) -> list[str]:
    """Keep the failing tests in their order; their ids. Storing a test id again replaces its row (IT-16, CR-3)."""
    ids = []
    for ord_, failure in enumerate(found):
        values = asdict(failure) | {"ord": ord_}
        row = insert(conn, failures).values(id=new_id(now), diagnosis_id=diagnosis_id, **values)
        known = row.on_conflict_do_update(index_elements=["diagnosis_id", "test_id"], set_=values)
        ids.append(conn.execute(known.returning(failures.c.id)).scalar_one())
    return ids


def store_groups(conn: Connection, diagnosis_id: str, groups: Sequence[GroupFacts], now: int) -> list[str]:
    """Keep the groups in their order and point their failures to them; their ids. A known fingerprint is replaced."""
    ids = []
    for ord_, group in enumerate(groups):
        values = asdict(group) | {"ord": ord_, "cause_counts": dict(group.cause_counts)}
        tests = values.pop("test_ids")
        row = insert(conn, failure_groups).values(id=new_id(now), diagnosis_id=diagnosis_id, **values)
        known = row.on_conflict_do_update(index_elements=["diagnosis_id", "fingerprint"], set_=values)
        group_id = conn.execute(known.returning(failure_groups.c.id)).scalar_one()
        members = (failures.c.diagnosis_id == diagnosis_id, failures.c.test_id.in_(tests))
        conn.execute(update(failures).where(*members).values(group_id=group_id))
        ids.append(group_id)
    return ids


def failures_of(conn: Connection, diagnosis_id: str) -> Sequence[Row]:
    """All failing tests of a diagnosis in their order."""
    return conn.execute(select(failures).where(failures.c.diagnosis_id == diagnosis_id).order_by(failures.c.ord)).all()


def joined(conn: Connection, run: Row) -> Sequence[Row]:
    """Tests that were found failing at the run's head after it had begun, and that it does not know (IT-29)."""
    known = select(failures.c.test_id).where(failures.c.diagnosis_id == run.diagnosis_id)
    later = select(diagnoses.c.id).where(
        diagnoses.c.run_id == run.id, diagnoses.c.id != run.diagnosis_id, diagnoses.c.head_sha == run.head_sha
    )
    rows = select(failures).where(failures.c.diagnosis_id.in_(later), failures.c.test_id.not_in(known))
    found = {row.test_id: row for row in conn.execute(rows.order_by(failures.c.diagnosis_id, failures.c.ord))}
    return list(found.values())


def failures_of_group(conn: Connection, group_id: str) -> Sequence[Row]:
    """The members of one group in their order."""
    return conn.execute(select(failures).where(failures.c.group_id == group_id).order_by(failures.c.ord)).all()


def groups_of(conn: Connection, diagnosis_id: str) -> Sequence[Row]:
    """The groups of a diagnosis in their order."""
    rows = select(failure_groups).where(failure_groups.c.diagnosis_id == diagnosis_id)
    return conn.execute(rows.order_by(failure_groups.c.ord)).all()


def groups_of_scope(conn: Connection, scope_id: str) -> Sequence[Row]:
    """All groups that any diagnosis of a scope found."""
    rows = select(failure_groups).join(diagnoses).where(diagnoses.c.scope_id == scope_id)
    return conn.execute(rows.order_by(diagnoses.c.created_at, failure_groups.c.ord)).all()


def newest_group_of_issue(conn: Connection, issue_id: str) -> Row | None:
    """The group that an issue was last linked to."""
    rows = select(failure_groups).join(diagnoses).where(failure_groups.c.issue_id == issue_id)
    newest = rows.order_by(diagnoses.c.created_at.desc(), failure_groups.c.ord).limit(1)
    return conn.execute(newest).one_or_none()


def link_issue(conn: Connection, group_id: str, issue_id: str) -> None:
    """This group's issue (IT-27)."""
    conn.execute(update(failure_groups).where(failure_groups.c.id == group_id).values(issue_id=issue_id))


def blame_again(conn: Connection, group_id: str, cause: Cause, how_we_know: str) -> None:
    """Another cause of a group, from evidence that came later than its diagnosis."""
    mine = update(failure_groups).where(failure_groups.c.id == group_id)
    conn.execute(mine.values(cause=cause, how_we_know=how_we_know))


def _open_of(scope_id: str, head_sha: str) -> tuple[Any, ...]:
    return diagnoses.c.scope_id == scope_id, diagnoses.c.head_sha == head_sha, diagnoses.c.state.not_in(ENDED)
