"""Why a job broke off that names no failing test: the row of its log that says it, for people (states 04 and 21)."""

from collections.abc import Sequence

from app.diagnosis.reading import CheckRead
from app.failures.blame import INFRASTRUCTURE_KINDS
from app.failures.model import Diagnostic

CHARS = 500


def problem_of(read: Sequence[CheckRead]) -> str:
    """What broke the machine, or else, where no test failed, the first error of a compiler or linter; else empty."""
    readings = [one.reading for one in read if one.reading is not None]
    broken = [reading for reading in readings if reading.job_kind in INFRASTRUCTURE_KINDS]
    quiet = [] if any(reading.failures for reading in readings) else readings
    for reading in (*broken, *quiet):
        errors = [row for row in reading.diagnostics if row.severity == "error"]
        if errors:
            return _line(errors)[:CHARS]
    return ""


def _line(errors: Sequence[Diagnostic]) -> str:
    first, more = errors[0], len(errors) - 1
    line = f"line {first.line}" if first.file and first.line else ""
    place = ", ".join(part for part in (first.file, line) if part)
    words = " ".join(part for part in (f"{place}:" if place else "", first.code, first.message) if part)
    return f"{words} (and {more} more)" if more else words
