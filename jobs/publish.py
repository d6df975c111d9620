"""Publish a proven fix: the tree that was proved, pushed by git from our own store, or handed over by its words."""

from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from app.errors import TransientError, UserError
from app.github.client import Client
from app.github.tokens import Purpose
from app.ledger import outbox, proofs, publications, repos, runs, transitions, work
from app.ledger.publications import PublicationEnd
from app.ledger.rows import Row
from app.ledger.words import OutboxKind, PublishMode
from app.proving.whole import PUSHED, Whole, keep_whole, whole_fix
from app.runs.facts import HeadMoved
from app.runs.model import BlockCause, ItemKind, PublicationStatus
from app.services import Hold, Services, hold, services
from app.turns.places import address, fetch
from app.workspace.checkout import Mirror
from app.workspace.remote import Pushed, Refused, Target

log = structlog.get_logger("publish")

CAUSE_OF = {
    "moved": BlockCause.HUMAN_PUSHED,
    "not_a_descendant": BlockCause.HUMAN_PUSHED,
    "permission": BlockCause.NO_PERMISSION,
    "protected": BlockCause.NO_PERMISSION,
    "workflows": BlockCause.NO_PERMISSION,
}
"""Reasons of a refused push as causes of a block; any other is `publish_failed`."""


@dataclass(frozen=True)
class Job:
    """One publication with its rows."""

    s: Services
    held: Hold
    publication: Row
    run: Row
    scope: Row
    repository: Row
    commit: str

    @property
    def target(self) -> Target:
        """The branch to push to: our own, or with mode commit the author's, which must still stand where we read it."""
        never = (self.repository.default_branch, self.scope.base_ref)
        if self.publication.mode is PublishMode.COMMIT:
            return Target(self.scope.head_ref, self.run.head_sha, never)
        return Target(self.publication.branch, None, never)


def publish(publication_id: str) -> str:
    """Publish once; again is harmless: the remote is searched before any push (PB-7, CR-8, CR-9)."""
    s = services()
    with hold(s, f"publication:{publication_id}", lambda conn: _cancelled(conn, publication_id)) as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            job = _open(s, held, conn, publication_id)
        if job is None:
            return "idle"
        if job.scope.head_sha != job.run.head_sha:
            return _follow(job)
        with s.write() as conn:
            if (quiet := _quiet_until(job, conn)) > s.clock():
                publications.wait(conn, publication_id, quiet)
                return "waiting"
            if not publications.start(conn, publication_id, job.held.holder, s.clock()):
                return "late"
        word = _end(job, *_publish(job))
    s.ring("advance", job.run.id)
    s.ring("deliver", str(job.run.installation_id))
    return word


def _cancelled(conn: Connection, publication_id: str) -> bool:
    return work.is_cancelled(conn, ItemKind.PUBLICATION, publication_id)


def _open(s: Services, held: Hold, conn: Connection, publication_id: str) -> Job | None:
    publication = publications.get(conn, publication_id)
    run = runs.get(conn, publication.run_id)
    scope, repository = repos.get_scope(conn, run.scope_id), repos.get_repository(conn, run.repository_id)
    proof = transitions.accepted_proof(conn, run.id)
    if publication.status is not PublicationStatus.QUEUED or scope is None or repository is None:
        return None
    return Job(s, held, publication, run, scope, repository, "" if proof is None else proof.commit_sha)


def _quiet_until(job: Job, conn: Connection) -> int:
    """A branch that a person may still be pushing to is left alone for a while (PB-6).

    The push was no later than we knew its commit: when the run began, or when the fix was put on a head that moved.
    """
    if job.publication.mode is not PublishMode.COMMIT:
        return 0
    made = proofs.of_run(conn, job.run.id)
    here = [proof.created_at for proof in made if proof.head_sha == job.run.head_sha]
    moved = len(here) < len(made)
    known = min(here) if moved and here else job.run.created_at
    return int(known + job.s.settings.times.push_quiet_s * 1000)


def _follow(job: Job) -> str:
    """A person pushed meanwhile: the whole is proved again on the new head (T39); the machine counts how often."""
    s, now = job.s, job.s.clock()
    with s.write() as conn:
        work.cancel(conn, ItemKind.PUBLICATION, job.publication.id, now)
        runs.annotate(conn, job.run.id, head_sha=job.scope.head_sha)
        step = transitions.apply(conn, job.run.id, HeadMoved(job.scope.head_sha, applies=True), s.settings, now)
    if step.order is not None:
        s.ring("prove", str(step.run.active_id))
    return "processed"


def _publish(job: Job) -> tuple[PublicationEnd, Whole | None]:
    """What became of it; a passing reason is FAILED, and the machine tries again (T50)."""
    try:
        with job.s.connect(job.run.installation_id) as client:
            return _hand_over(job, client)
    except TransientError as passing:
        why = job.s.redactor.text(str(passing))
        return PublicationEnd(PublicationStatus.FAILED, error_code="passing", error=why), None
    except UserError as refused:
        return _refused(job, BlockCause.NO_PERMISSION, str(refused)), None


def _hand_over(job: Job, client: Client) -> tuple[PublicationEnd, Whole | None]:
    """Push where that is allowed; else the proven change is handed over as suggestions or as a patch."""
    s = job.s
    wanted = (job.run.head_sha, job.run.base_sha)
    mirror = fetch(s, client.acting(Purpose.READ, job.repository.id), job.run, job.repository, wanted)
    if not job.commit or mirror.tree_of(job.commit) != job.publication.tree:
        return _refused(job, BlockCause.TREE_MISMATCH, "the tree to push is not the tree that was proved"), None
    whole = whole_fix(s, mirror, job.publication, (job.run, job.scope, job.repository), job.commit)
    if whole.mode in PUSHED:
        return _push(job, client, mirror), whole
    return PublicationEnd(PublicationStatus.HANDED_OVER, mode=whole.mode), whole


def _push(job: Job, client: Client, mirror: Mirror) -> PublicationEnd:
    s = job.s
    url = address(s, job.repository.full_name)
    token = client.token(Purpose.PUSH, job.repository.id)
    there = mirror.remote_sha(url, token, job.target.branch)
    if there is not None and _is_ours(mirror, job, there):
        return _pushed(job)
    if there not in (None, job.target.expected):
        return _refused(job, BlockCause.HUMAN_PUSHED, "somebody else pushed to the branch of the fix")
    if job.held.lost():
        raise TransientError("the lease was lost before the push")
    done = mirror.push(url, token, job.commit, job.target)
    if isinstance(done, Refused):
        return _refused(job, CAUSE_OF.get(done.reason, BlockCause.PUBLISH_FAILED), done.detail)
    assert isinstance(done, Pushed)
    return _pushed(job)


def _is_ours(mirror: Mirror, job: Job, there: str) -> bool:
    """The remote branch is at our commit, or grew from it (decisions.md, row 76)."""
    return there == job.commit or (mirror.has(there) and mirror.is_ancestor(job.commit, there))


def _pushed(job: Job) -> PublicationEnd:
    s, times = job.s, job.s.settings.times
    return PublicationEnd(
        PublicationStatus.PUSHED,
        pushed_sha=job.commit,
        next_at=s.in_ms(times.ci_poll_s),
        ci_deadline_at=s.in_ms(times.ci_all_s),
    )


def _refused(job: Job, cause: BlockCause, error: str) -> PublicationEnd:
    text = job.s.redactor.text(error)[:1000]
    return PublicationEnd(PublicationStatus.REFUSED, refusal=cause.value, error=text)


def _end(job: Job, end: PublicationEnd, whole: Whole | None) -> str:
    """The end, the whole change, and the pull request or review that it intends, in one transaction (OB-1)."""
    s, now = job.s, job.s.clock()
    with s.write() as conn:
        if not publications.finish(conn, job.publication.id, job.held.holder, end, now):
            return "late"
        if whole is not None and end.status in (PublicationStatus.PUSHED, PublicationStatus.HANDED_OVER):
            keep_whole(s, conn, job.run.id, whole, now)
        if end.status is PublicationStatus.PUSHED and job.publication.mode is PublishMode.STACKED_PR:
            _intend(job, conn, OutboxKind.OPEN_PULL, f"open_pull:{job.publication.branch}", now)
        elif end.mode is PublishMode.SUGGESTIONS:
            _intend(job, conn, OutboxKind.SUBMIT_REVIEW, f"review:{job.run.id}", now)
    return end.status.value.lower()


def _intend(job: Job, conn: Connection, kind: OutboxKind, key: str, now: int) -> None:
    outbox.put(
        conn,
        key=key,
        lane=job.scope.id,
        kind=kind,
        payload={"publication_id": job.publication.id},
        installation_id=job.run.installation_id,
        now=now,
    )
