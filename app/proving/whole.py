"""The whole fix of a run on its head, and in which way it may be handed over (PB-3)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.ledger.rows import Row
from app.ledger.words import EvidenceKind, PublishMode
from app.policy import Policy
from app.render.suggestion import is_sayable
from app.runners.permissions import is_protected
from app.services import Services
from app.workspace.checkout import Mirror
from app.workspace.size import size_of
from app.workspace.suggestions import Suggestion, suggestions_of

PUSHED = frozenset({PublishMode.COMMIT, PublishMode.STACKED_PR})


@dataclass(frozen=True)
class Whole:
    """One change from the head to the proven tree. `suggestions` only with that mode."""

    mode: PublishMode
    diff: bytes
    subject: str
    suggestions: tuple[Suggestion, ...] = ()


def whole_fix(s: Services, mirror: Mirror, publication: Row, rows: tuple[Row, Row, Row], commit: str) -> Whole:
    """`rows` are run, scope and repository. Forks and protected paths are proposed and never pushed to."""
    run, scope, repository = rows
    diff = mirror.diff(run.head_sha, commit)
    subject = mirror.subject(commit)
    if publication.mode is PublishMode.SUGGESTIONS:
        said = _suggestions(s, mirror, run, diff) if scope.key.startswith("pr:") else ()
        return Whole(PublishMode.SUGGESTIONS if said else PublishMode.PATCH, diff, subject, said)
    protected = Policy.model_validate(repository.policy_json or {}).protected
    proposes = any(is_protected(change.path, protected) for change in mirror.changes(run.head_sha, commit))
    pushed = publication.mode in PUSHED and not scope.is_fork and not proposes
    return Whole(publication.mode if pushed else PublishMode.PATCH, diff, subject)


def _suggestions(s: Services, mirror: Mirror, run: Row, diff: bytes) -> tuple[Suggestion, ...]:
    base = mirror.merge_base(run.base_sha, run.head_sha) if run.base_sha and mirror.has(run.base_sha) else None
    found = suggestions_of(diff, mirror.diff(base, run.head_sha)) if base else ()
    exact = all(is_sayable(one.text) and s.redactor.text(one.text) == one.text for one in found)
    return found if exact else ()


def keep_whole(s: Services, conn: Connection, run_id: str, whole: Whole, now: int) -> None:
    """As the newest diff of the run: what comment, patch and review show is all of it, not its last step."""
    size = size_of(whole.diff)
    files = f"{len(size.files)} file{'s' if len(size.files) != 1 else ''}"
    s.store.put(
        conn,
        run_id=run_id,
        kind=EvidenceKind.DIFF,
        data=s.redactor.text(whole.diff.decode("utf-8", "replace")).encode(),
        origin="host",
        meta={
            "what": f"the whole fix: {files}, +{size.added} -{size.removed}",
            "files": len(size.files),
            "added": size.added,
            "removed": size.removed,
            "test_added": size.test_added,
            "test_removed": size.test_removed,
            "subject": s.redactor.text(whole.subject),
            "suggestions": [one.as_json() for one in whole.suggestions],
        },
        now=now,
    )
