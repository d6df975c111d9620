"""The text of a job that an agent gets: every failure with its error, inside a budget of tokens (W5, IT-15)."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.failures.model import Diagnostic, Failure, Reading

CHARS_PER_TOKEN = 4
SHARE_OF_LOG = 0.10
LEAST_CHARS = 2_000
MOST_CHARS = 48_000
MAX_FAILURES = 50
MAX_ROWS = 40
_HEAD_CHARS = 700
_NOTE_CHARS = 48


@dataclass(frozen=True)
class JobEvidence:
    """`shown` of `total` failures are in `text`; `bytes_seen` of `bytes_total` bytes of the log were read."""

    text: str
    shown: int
    total: int
    bytes_seen: int
    bytes_total: int

    @property
    def tokens(self) -> int:
        """An estimate: four characters a token."""
        return (len(self.text) + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN


def budget_of(reading: Reading) -> int:
    """Characters for one job: a tenth of its log, within 2,000 and 48,000."""
    return max(LEAST_CHARS, min(MOST_CHARS, int(reading.bytes_total * SHARE_OF_LOG)))


def evidence(
    reading: Reading, *, job: str = "", max_chars: int | None = None, max_failures: int = MAX_FAILURES
) -> JobEvidence:
    """Failures first (name, place, error), then their captured text as far as the budget goes, then compiler rows.

    The name, place and error of a shown failure are never cut away. Its captured text is cut at its beginning only,
    on a line, and the cut is stated with both numbers.
    """
    budget = budget_of(reading) if max_chars is None else max_chars
    failures = reading.failures
    head = _head(reading, job, len(failures))
    heads = [_title(at, failure) for at, failure in enumerate(failures[:max_failures], 1)]
    while len(heads) > 1 and len(head) + sum(map(len, heads)) + 80 > budget:
        heads.pop()
    rows = _rows(reading.diagnostics, budget - len(head) - sum(map(len, heads)))
    left = budget - len(head) - len(rows) - sum(map(len, heads)) - 2 * len(heads) - 80
    shown = failures[: len(heads)]
    texts = _excerpts(shown, max(0, left))
    parts = [head, *(title + text for title, text in zip(heads, texts, strict=True))]
    if len(heads) < len(failures):
        parts.append(f"({len(failures)} failing tests, first {len(heads)} shown)\n")
    return JobEvidence(
        "\n".join([*parts, rows] if rows else parts), len(heads), len(failures), reading.bytes_seen, reading.bytes_total
    )


def _head(reading: Reading, job: str, total: int) -> str:
    """What kind of job this is and how much of its log was read."""
    code = "" if reading.exit_code is None else f", exit code {reading.exit_code}"
    lines = [
        f"Job {job}: {reading.job_kind}{code}" if job else f"Job: {reading.job_kind}{code}",
        f"{total} failing tests",
    ]
    if reading.truncated or reading.bytes_seen < reading.bytes_total:
        lines.append(f"log cut: {reading.bytes_seen} of {reading.bytes_total} bytes seen")
    return "\n".join(lines) + "\n"


def _title(at: int, failure: Failure) -> str:
    place = f"{failure.file}:{failure.line}" if failure.file and failure.line else failure.file or "place unknown"
    message = failure.error_head[:_HEAD_CHARS] or "no message"
    return f"[{at}] {failure.test_id}\n    {failure.failure_kind} at {place}\n    {message}\n"


def _excerpts(failures: Sequence[Failure], chars: int) -> list[str]:
    """Captured text, shared out evenly: what a short one leaves goes to the longer ones."""
    wanted = [len(failure.detail_tail) for failure in failures]
    given = _share(wanted, chars)
    return [_tail(failure.detail_tail, size) for failure, size in zip(failures, given, strict=True)]


def _share(wanted: Sequence[int], chars: int) -> list[int]:
    given = [0] * len(wanted)
    left, open_ones = chars, [at for at, size in enumerate(wanted) if size]
    while open_ones and left >= len(open_ones):
        part = left // len(open_ones)
        done = [at for at in open_ones if wanted[at] <= part]
        for at in done or open_ones:
            given[at] = min(wanted[at], part)
            left -= given[at]
        open_ones = [at for at in open_ones if at not in done] if done else []
    return given


def _tail(text: str, size: int) -> str:
    """The end of a text within `size` characters, the sentence about the cut included; from a line's start on."""
    if len(text) <= size:
        return text + "\n" if text else ""
    if size <= _NOTE_CHARS:
        return ""
    kept = text[_NOTE_CHARS - size :]
    line = kept.find("\n")
    kept = kept[line + 1 :] if 0 <= line < len(kept) - 1 else kept
    return f"(last {len(kept)} of {len(text)} characters)\n{kept}\n"


def _rows(diagnostics: Sequence[Diagnostic], chars: int) -> str:
    """Rows of compilers and linters, errors first, at most a third of what is left."""
    errors = [row for row in diagnostics if row.severity == "error"]
    lines: list[str] = []
    size = 0
    for row in errors[:MAX_ROWS]:
        place = ":".join(str(part) for part in (row.file, row.line) if part)
        line = " ".join(part for part in (place, row.code or "", row.message[:300]) if part)
        if size + len(line) > max(0, chars) // 3 and lines:
            break
        lines.append(line)
        size += len(line) + 1
    if len(lines) < len(errors):
        lines.append(f"({len(errors)} rows, first {len(lines)} shown)")
    return "\n".join(lines)
