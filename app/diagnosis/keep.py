"""Keep what was read: failures, groups with causes, and the evidence that a plan may cite."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.diagnosis.blaming import Blamed
from app.diagnosis.reading import CheckRead
from app.failures.diff_places import Shown, place_in
from app.failures.group_kind import kind_of
from app.failures.model import Failure
from app.ledger import diagnoses
from app.ledger.diagnoses import FailureFacts, GroupFacts
from app.ledger.evidence import Store
from app.ledger.words import EvidenceKind, FailureKind
from app.runs.model import Cause

LOG_CHARS = 8000
SLICES = 5


def keep_findings(
    conn: Connection, store: Store, told_id: str, found: Sequence[tuple[CheckRead, Failure]], now: int
) -> None:
    """The failing tests and, per check, the part of its log around them."""
    slices = _slices(conn, store, told_id, found, now)
    rows = [
        FailureFacts(
            test_id=failure.test_id,
            framework=failure.framework,
            kind=FailureKind(failure.kind),
            error_head=failure.error_head,
            detail_tail=failure.detail_tail,
            fingerprint=failure.fingerprint,
            unstable_id=failure.unstable_id,
            file=failure.file or "",
            line=failure.line,
            check_run_id=read.check.id,
            log_evidence_id=slices.get(read.check.id),
            source=failure.source,
            place_source=failure.place_source or "",
        )
        for read, failure in found
    ]
    diagnoses.store_failures(conn, told_id, rows, now)
    for read, failure in found:
        what = f"{failure.test_id} {failure.kind} in job {read.check.name}, attempt {read.attempt}"
        _put(conn, store, told_id, (EvidenceKind.FAILURE, what, f"{what}\n{failure.error_head}"), now)


def keep_groups(
    conn: Connection, store: Store, told_id: str, blamed: Sequence[Blamed], now: int, shown: Shown | None = None
) -> None:
    """The groups with their causes and their places in the diff; each cause is evidence with its counts."""
    places = [place_in(shown or {}, one.group.members) or ("", None) for one in blamed]
    rows = [
        GroupFacts(
            fingerprint=one.group.fingerprint,
            title=one.group.title,
            cause=Cause(one.blame.cause),
            test_ids=one.group.test_ids,
            how_we_know=one.blame.how_we_know,
            why_grouped=one.group.why_grouped,
            kind=kind_of(one.group.members),
            diff_file=file,
            diff_line=line,
        )
        for one, (file, line) in zip(blamed, places, strict=True)
    ]
    diagnoses.store_groups(conn, told_id, rows, now)
    for one in blamed:
        what = f"{one.blame.cause.replace('_', ' ')}: {one.blame.how_we_know}"
        text = "\n".join((what, *one.group.test_ids))
        _put(conn, store, told_id, (EvidenceKind.BLAME, what, text), now)


def _slices(
    conn: Connection, store: Store, told_id: str, found: Sequence[tuple[CheckRead, Failure]], now: int
) -> dict[int, str]:
    ids: dict[int, str] = {}
    by_check: dict[int, list[Failure]] = {}
    reads = {read.check.id: read for read, _ in found}
    for read, failure in found:
        by_check.setdefault(read.check.id, []).append(failure)
    for check_id, failures in by_check.items():
        read = reads[check_id]
        text = "\n\n".join(failure.detail_tail or failure.error_head for failure in failures[:SLICES])[-LOG_CHARS:]
        total = read.reading.lines_total if read.reading is not None else 0
        ids[check_id] = store.put(
            conn,
            run_id=None,
            diagnosis_id=told_id,
            kind=EvidenceKind.LOG,
            data=text.encode("utf-8", "replace"),
            origin="github",
            meta={
                "what": f"job {read.check.name}, attempt {read.attempt}: the lines around the failures",
                "job": read.check.name,
                "attempt": read.attempt,
                "lines_shown": text.count("\n") + 1,
                "lines_total": total,
                "log_url": read.log_url,
            },
            now=now,
        )
    return ids


def _put(conn: Connection, store: Store, told_id: str, fact: tuple[EvidenceKind, str, str], now: int) -> str:
    """Store one fact: its kind, its line in the list of evidence, its text."""
    kind, what, text = fact
    return store.put(
        conn,
        run_id=None,
        diagnosis_id=told_id,
        kind=kind,
        data=text.encode("utf-8", "replace"),
        origin="remedy",
        meta={"what": what},
        now=now,
    )
