"""Turn a job's log into one answer: failing tests, diagnostics, the job's kind; pure, no network, no clock."""

from collections.abc import Iterable
from functools import cache

from app.failures import merge
from app.failures.fingerprint import fingerprint, group_key
from app.failures.frameworks import DETECTORS
from app.failures.frameworks.detector import Detector, Found, Sink
from app.failures.kind import Kind, Signs, kind_of
from app.failures.log.reader import Reader, Wakes
from app.failures.model import MESSAGE_CHARS, Diagnostic, Failure, JobInfo, Options, Reading
from app.failures.recorder import Record, Recorder


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


def _answer(record: Record, reader: Reader, job: JobInfo | None) -> Reading:
    findings = [_failure(found, record.options) for found in merge.merge(record.runs)]
    unfinished = any(run.began and not run.ended for run in record.runs)
    signs = Signs(
        failures=[one for one in findings if not one.flaky],
        rows=list(record.rows.values()),
        causes=record.causes,
        segments=record.segments,
        closed=record.closed,
        orderly_end=record.orderly_end,
        conclusion=job.conclusion if job else None,
        runs_passed=any(run.ended for run in record.runs),
        cut=unfinished and not record.orderly_end,
        frameworks=list(record.frameworks),
    )
    kind = kind_of(signs)
    return Reading(
        job_kind=kind.kind,
        findings=tuple(findings),
        diagnostics=tuple(_diagnostics(record, kind)),
        frameworks=tuple(name for name in record.frameworks if name not in ("rows", "causes", "job")),
        exit_code=signs.exit_code,
        truncated=record.capped or (unfinished and not record.orderly_end and signs.exit_code is None),
        bytes_seen=reader.bytes,
        bytes_total=record.options.bytes_total or reader.bytes,
        lines_total=reader.lines,
        notes=tuple(record.broken),
    )


def _diagnostics(record: Record, kind: Kind) -> list[Diagnostic]:
    """Rows in order of print, unsure ones only when no sure one is there; the deciding cause line comes first (OUT-9)."""
    sure = [row.diagnostic for row in record.rows.values() if row.sure]
    unsure = [row.diagnostic for row in record.rows.values() if not row.sure]
    cause = [Diagnostic(kind.cause.text, tool=kind.cause.tool)] if kind.cause else []
    return cause + (sure or (unsure if kind.kind in ("lint", "compile_error") else []))


def _failure(found: Found, options: Options) -> Failure:
    """The finding as the ledger keeps it: redacted, cut, with its identity."""
    test_id = options.redact(found.id)
    message = options.redact(" ".join(found.message.split()))[:MESSAGE_CHARS]
    detail = "\n".join(found.detail)
    identity = fingerprint(test_id, message, detail)
    return Failure(
        test_id=test_id,
        framework=found.framework,
        failure_kind=found.kind,
        error_head=message,
        detail_tail=detail,
        file=found.file or None,
        line=found.line,
        fingerprint=identity.key,
        group_key=group_key(message, detail),
        unstable_id=identity.unstable_id,
        flaky=found.flaky,
        scope=found.scope,
        place_source="log" if found.file else None,
        first_byte=found.at.offset if found.at else 0,
    )
