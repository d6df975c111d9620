"""Turn a job's log into one answer: failing tests, diagnostics, the job's kind; pure, no network, no clock."""

from collections.abc import Iterable, Sequence
from functools import cache

from app.failures import merge
from app.failures.frameworks import DETECTORS
from app.failures.frameworks.detector import Detector, Found, Sink
from app.failures.kind import Kind, Signs, kind_of
from app.failures.log.reader import Reader, Wakes
from app.failures.log.steps import in_failed_steps
from app.failures.model import MESSAGE_CHARS, Diagnostic, Failure, JobInfo, JobKind, Options, Reading
from app.failures.recorder import Record, Recorder, Segment
from app.failures.set_up import all_in_set_up


@cache
def _wakes() -> Wakes:
    return Wakes(DETECTORS)


def read_log(chunks: Iterable[bytes], *, job: JobInfo | None = None, options: Options | None = None) -> Reading:
    """Everything one log says. Never raises for what the bytes hold; the sizes of the chunks do not matter.

    `job` gives the conclusion and the times of the steps; without it the whole log is read as it is.
    """
    record = Record(options or Options())

    def make(reader: Reader, at: int, stream: str) -> tuple[Detector, Sink]:
        detector = DETECTORS[at]
        return detector(), Recorder(record, reader, detector.name, stream)

    reader = Reader(_wakes(), make)
    reader.read(chunks)
    return _answer(record, reader, job)


def together(readings: Sequence[Reading]) -> Reading:
    """Several logs as one answer: findings in order, the kind they share or `mixed` (OUT-12)."""
    kinds = {one.job_kind for one in readings} - {"no_failure", "unknown"}
    quiet: JobKind = "unknown" if any(one.job_kind == "unknown" for one in readings) or not readings else "no_failure"
    codes = [one.exit_code for one in readings if one.exit_code is not None]
    shared: JobKind = next(iter(kinds)) if len(kinds) == 1 else "mixed" if kinds else quiet
    return Reading(
        job_kind=shared,
        findings=tuple(found for one in readings for found in one.findings),
        diagnostics=tuple(row for one in readings for row in one.diagnostics),
        frameworks=tuple(dict.fromkeys(name for one in readings for name in one.frameworks)),
        exit_code=next((code for code in reversed(codes) if code), codes[-1] if codes else None),
        truncated=any(one.truncated for one in readings),
        bytes_seen=sum(one.bytes_seen for one in readings),
        bytes_total=sum(one.bytes_total for one in readings),
        lines_total=sum(one.lines_total for one in readings),
        notes=tuple(note for one in readings for note in one.notes),
        all_in_set_up=bool(readings) and all(one.all_in_set_up for one in readings),
    )


def _answer(record: Record, reader: Reader, job: JobInfo | None) -> Reading:
    found = merge.merge(record.runs, lambda segment: _ended_well(segment, record, job))
    if job is not None:
        found = in_failed_steps(found, job, record.segments)
    findings = [_failure(one, record.options) for one in found]
    begun = [run for run in record.runs if run.began or run.ended]
    unfinished = bool(begun) and not begun[-1].ended
    ended = record.orderly_end or any(segment.exit is not None for segment in record.segments)
    signs = Signs(
        failures=[one for one in findings if not one.flaky],
        rows=list(record.rows.values()),
        causes=record.causes,
        segments=record.segments,
        closed=record.closed,
        orderly_end=record.orderly_end,
        conclusion=job.conclusion if job else None,
        runs_passed=any(run.ended for run in record.runs),
        cut=not ended and (unfinished or reader.stamped),
        frameworks=list(record.frameworks),
    )
    kind = kind_of(signs)
    return Reading(
        job_kind=kind.kind,
        findings=tuple(findings),
        diagnostics=tuple(_diagnostics(record, kind)),
        frameworks=tuple(name for name in record.frameworks if name not in ("rows", "causes", "job")),
        exit_code=signs.exit_code,
        truncated=record.capped or (unfinished and not ended) or _is_short(record.options, reader),
        bytes_seen=reader.bytes,
        bytes_total=record.options.bytes_total or reader.bytes,
        lines_total=reader.lines,
        notes=tuple(record.broken),
        all_in_set_up=all_in_set_up(signs.failures, record.runs),
    )


def _ended_well(segment: Segment, record: Record, job: JobInfo | None) -> bool:
    """Proof that the command of a segment passed: its exit code, what follows it, or the end of the job."""
    if segment.exit is not None or segment.error:
        return segment.exit == 0
    if job is not None and job.conclusion == "success":
        return True
    return segment is not record.segments[-1] or (record.orderly_end and not record.closed)


def _is_short(options: Options, reader: Reader) -> bool:
    return options.bytes_total is not None and reader.bytes < options.bytes_total


def _diagnostics(record: Record, kind: Kind) -> list[Diagnostic]:
    """Rows in order of print, unsure ones when no sure one is there; the deciding cause comes first (OUT-9)."""
    sure = [row.diagnostic for row in record.rows.values() if row.sure]
    unsure = [row.diagnostic for row in record.rows.values() if not row.sure]
    cause = [Diagnostic(kind.cause.text, tool=kind.cause.tool)] if kind.cause else []
    return cause + (sure or (unsure if kind.kind in ("lint", "compile_error") else []))


def _failure(found: Found, options: Options) -> Failure:
    """The finding as the ledger keeps it: redacted, cut, with its identity."""
    test_id = options.redact(found.id)
    message = options.redact(" ".join(found.message.split()))[:MESSAGE_CHARS]
    detail = "\n".join(found.detail)
    return Failure(
        test_id=test_id,
        framework=found.framework,
        failure_kind=found.kind,
        error_head=message,
        detail_tail=detail,
        file=found.file or None,
        line=found.line,
        flaky=found.flaky,
        scope=found.scope,
        place_source="log" if found.file else None,
        first_byte=found.at.offset if found.at else 0,
    )
