"""One answer from all inputs: reports before annotations before the log (section 1)."""

from collections.abc import Sequence
from dataclasses import replace

from app.failures.annotations import Annotation, add_places, rows_of
from app.failures.frameworks.detector import Found
from app.failures.merge import fold
from app.failures.model import MESSAGE_CHARS, Failure, JobKind, Options, Reading
from app.failures.reports import Report

_CONTAINERS = ("suite_error", "collection_error")


def join(
    reading: Reading, report: Report | None, annotations: Sequence[Annotation] = (), options: Options | None = None
) -> Reading:
    """The log's reading, completed: ids of the best input win, the log's excerpt is always kept (IN-1 to IN-3).

    A test that the report lists as passed and the log as failed counts as failed: the report may be an earlier run's.
    """
    options = options or Options()
    findings = list(reading.findings)
    notes = list(reading.notes)
    if report is not None and report.files:
        findings = _with_report(findings, report, options)
        notes += report.notes
    findings = add_places(findings, annotations)
    diagnostics = list(reading.diagnostics)
    known = {(row.file, row.line) for row in diagnostics}
    diagnostics += [row for row in rows_of(annotations) if (row.file, row.line) not in known]
    return replace(
        reading,
        findings=tuple(findings),
        diagnostics=tuple(diagnostics),
        notes=tuple(notes),
        job_kind=reading.job_kind if reading.findings or not findings else _kind_of_report(findings, reading),
    )


def _with_report(findings: list[Failure], report: Report, options: Options) -> list[Failure]:
    """Report rows joined with the log's; rows of the log that the report does not know stay (another step or tool)."""
    by_name: dict[str, list[int]] = {}
    for at, known in enumerate(findings):
        by_name.setdefault(fold(known.test_id), []).append(at)
    used: set[int] = set()
    added: list[Failure] = []
    for found in report.failing:
        same = _match(found, findings, by_name, used)
        if same is None:
            added.append(_failure(found, options))
            continue
        used.add(same)
        findings[same] = _completed(findings[same], found, options)
    return findings + added


def _match(found: Found, findings: Sequence[Failure], by_name: dict[str, list[int]], used: set[int]) -> int | None:
    """Equal after folding, else the one free candidate of which one name is a tail of the other."""
    name = fold(found.id)
    exact = [at for at in by_name.get(name, ()) if at not in used]
    if exact:
        return exact[0]
    tails = [
        at
        for other, places in by_name.items()
        if other.endswith(" " + name) or name.endswith(" " + other) or sorted(other.split()) == sorted(name.split())
        for at in places
        if at not in used
    ]
    return tails[0] if len(tails) == 1 else None


def _completed(known: Failure, found: Found, options: Options) -> Failure:
    """The log's spelling when it is the more complete one; the report's message; the log's excerpt."""
    longer = known.test_id if len(known.test_id) >= len(found.id) else options.redact(found.id)
    message = options.redact(" ".join(found.message.split()))[:MESSAGE_CHARS]
    return replace(
        known,
        test_id=longer,
        failure_kind=found.kind if known.failure_kind not in _CONTAINERS else known.failure_kind,
        error_head=message or known.error_head,
        file=known.file if known.line is not None else found.file or known.file,
        line=known.line if known.line is not None else found.line,
        place_source=known.place_source if known.line is not None else "report" if found.file else known.place_source,
        flaky=found.flaky,
        source="report",
    )


def _failure(found: Found, options: Options) -> Failure:
    limit = options.detail_chars
    detail = options.redact("\n".join(found.detail)).strip()
    return Failure(
        test_id=options.redact(" ".join(found.id.split())),
        framework="",
        failure_kind=found.kind,
        error_head=options.redact(" ".join(found.message.split()))[:MESSAGE_CHARS],
        detail_tail=detail[-limit:] if limit else "",
        file=found.file,
        line=found.line,
        flaky=found.flaky,
        scope=found.scope,
        source="report",
        place_source="report" if found.file else None,
    )


def _kind_of_report(findings: Sequence[Failure], reading: Reading) -> JobKind:
    failing = [one for one in findings if not one.flaky]
    if not failing:
        return reading.job_kind
    kinds = {one.kind for one in failing}
    return "mixed" if len(kinds) > 1 else "test_failure" if "failed" in kinds else "test_error"
