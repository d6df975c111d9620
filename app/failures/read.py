"""Turn a job's log into one answer: failing tests, diagnostics, the job's kind; pure, no network, no clock."""

from collections.abc import Iterable
from functools import cache

from app.failures import merge
from app.failures.fingerprint import fingerprint, group_key
from app.failures.frameworks import DETECTORS
from app.failures.frameworks.detector import Detector, Found, Sink
from app.failures.kind import Signs, kind_of
from app.failures.log.reader import Reader, Wakes
from app.failures.model import MESSAGE_CHARS, Failure, JobInfo, Options, Reading
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
    findings = [_failure(found, record.options) for found in merge.merge(record.runs)]
    signs = Signs(
        [one for one in findings if not one.flaky], [], [], None, None, job.conclusion if job else None, False
    )
    return Reading(
        job_kind=kind_of(signs),
        findings=tuple(findings),
        frameworks=tuple(record.frameworks),
        truncated=record.capped,
        bytes_seen=reader.bytes,
        bytes_total=record.options.bytes_total or reader.bytes,
        lines_total=reader.lines,
        notes=tuple(record.broken),
    )


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
