"""Publications: the hand-over of a proven tree, and what CI says about it (domain.md, 11)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, func, select, update

from app.ledger import work
from app.ledger.leases import Holder
from app.ledger.rows import Row
from app.ledger.schema import publications, runs, steps
from app.ledger.words import PublishMode
from app.runs.model import Ci, ItemKind, PublicationStatus

MOST_IN_A_ROW = 100


@dataclass(frozen=True)
class NewPublication:
    """A hand-over to be made; `key` is `<run id>-<version>`, `tree` the proven one (PB-2), `branch` as in PB-4."""

    key: str
    run_id: str
    mode: PublishMode
    tree: str
    branch: str


@dataclass(frozen=True)
class PublicationEnd:
    """How the hand-over ended; a refusal is one of the words of T38. `mode` where it was another than was asked for."""

    status: PublicationStatus
    pushed_sha: str | None = None
    refusal: str = ""
    error_code: str = ""
    error: str = ""
    next_at: int | None = None
    ci_deadline_at: int | None = None
    mode: PublishMode | None = None


def create(conn: Connection, publication: NewPublication, now: int) -> str:
    """Queue a publication; its id, which is its key."""
    values = asdict(publication)
    conn.execute(publications.insert().values(id=values.pop("key"), created_at=now, **values))
    return publication.key


def get(conn: Connection, publication_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return work.get(conn, ItemKind.PUBLICATION, publication_id)


def of_run(conn: Connection, run_id: str) -> Sequence[Row]:
    """All publications of a run, oldest first."""
    rows = select(publications).where(publications.c.run_id == run_id)
    return conn.execute(rows.order_by(publications.c.created_at, publications.c.id)).all()


def waiting_for(conn: Connection, repository_id: int, pushed_sha: str) -> Row | None:
    """The publication that waits for the CI of this commit of this repository (T42, decisions.md 58)."""
    open_ = (
        runs.c.repository_id == repository_id,
        publications.c.pushed_sha == pushed_sha,
        publications.c.status == PublicationStatus.PUSHED,
        publications.c.ci.is_(None),
    )
    rows = select(publications).join(runs).where(*open_).order_by(publications.c.created_at.desc())
    return conn.execute(rows.limit(1)).one_or_none()


def in_a_row(conn: Connection, repository_id: int, sha: str) -> int:
    """How many commits of ours end at `sha`, run upon run, without a person's between them (IT-32)."""
    count = 0
    while count < MOST_IN_A_ROW:
        pushed = (runs.c.repository_id == repository_id, publications.c.pushed_sha == sha)
        rows = select(runs.c.head_sha, runs.c.id).join(publications, publications.c.run_id == runs.c.id)
        found = conn.execute(rows.where(*pushed, runs.c.head_sha != sha).limit(1)).one_or_none()
        if found is None:
            break
        made = (steps.c.run_id == found.id, steps.c.commit_sha.is_not(None))
        count += max(1, conn.execute(select(func.count()).select_from(steps).where(*made)).scalar_one())
        sha = found.head_sha
    return count


def start(conn: Connection, publication_id: str, holder: Holder, now: int) -> bool:
    """QUEUED to RUNNING by the holder of `publication:<id>`; False if it is not mine to start."""
    return work.start(conn, ItemKind.PUBLICATION, publication_id, holder, now)


def wait(conn: Connection, publication_id: str, next_at: int) -> None:
    """A QUEUED one is not tried before `next_at`; that is no try."""
    queued = (publications.c.id == publication_id, publications.c.status == PublicationStatus.QUEUED)
    conn.execute(update(publications).where(*queued).values(next_at=next_at, rung_at=None))


def finish(conn: Connection, publication_id: str, holder: Holder, end: PublicationEnd, now: int) -> bool:
    """RUNNING to its end by the holder of `publication:<id>`; False, and nothing is written, if it is not mine.

    PUSHED needs `pushed_sha`, `next_at` (first look at CI) and `ci_deadline_at`.
    """
    values = asdict(end)
    if end.mode is None:
        del values["mode"]
    return work.end(conn, ItemKind.PUBLICATION, publication_id, holder, now, **values)


def requeue(conn: Connection, publication_id: str, next_at: int) -> bool:
    """FAILED back to QUEUED: T50's next try of the same row."""
    failed = (publications.c.id == publication_id, publications.c.status == PublicationStatus.FAILED)
    values = {"status": PublicationStatus.QUEUED, "next_at": next_at, "finished_at": None, "rung_at": None}
    return conn.execute(update(publications).where(*failed).values(**values)).rowcount == 1


def pull_opened(conn: Connection, publication_id: str, number: int) -> None:
    """The pull request of the fix has this number."""
    _set(conn, publication_id, pr_number=number)


def look_again(conn: Connection, publication_id: str, next_at: int, ci_deadline_at: int) -> None:
    """CI is not finished: look at `next_at`, give up at `ci_deadline_at`."""
    _set(conn, publication_id, next_at=next_at, ci_deadline_at=ci_deadline_at)


def ci_seen(conn: Connection, publication_id: str, ci: Ci, red_jobs: Sequence[str], now: int) -> bool:
    """CI concluded for the pushed commit, with these jobs red; False if that was known already."""
    first = (publications.c.id == publication_id, publications.c.ci.is_(None))
    values = {"ci": ci, "red_jobs": list(red_jobs), "ci_seen_at": now}
    return conn.execute(update(publications).where(*first).values(**values)).rowcount == 1


def _set(conn: Connection, publication_id: str, **values: object) -> None:
    conn.execute(update(publications).where(publications.c.id == publication_id).values(**values))
