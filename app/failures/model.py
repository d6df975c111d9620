"""What reading CI output yields: failures, diagnostics, the job's kind, as frozen values with closed word lists."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

from app.failures.fingerprint import fingerprint as identity_of
from app.failures.fingerprint import group_key as group_key_of
from app.failures.fingerprint import is_unstable

FailureKind = Literal[
    "fail", "error", "collection_error", "suite_error", "timeout", "crash", "not_run", "unexpected_success"
]
JobKind = Literal[
    "test_failure",
    "test_error",
    "collection_error",
    "compile_error",
    "lint",
    "timeout",
    "crash",
    "oom_killed",
    "infrastructure",
    "dependency_install",
    "config_error",
    "cancelled",
    "no_tests",
    "no_failure",
    "mixed",
    "unknown",
]
Severity = Literal["error", "warning", "notice"]
Source = Literal["report", "annotation", "log"]

FAILURE_KINDS: tuple[str, ...] = get_args(FailureKind)
JOB_KINDS: tuple[str, ...] = get_args(JobKind)
SEVERITIES: tuple[str, ...] = get_args(Severity)

MESSAGE_CHARS = 500
DETAIL_CHARS = 3000


@dataclass(frozen=True)
class Failure:
    """One failing test. Bytes are offsets into the raw log, `[first, last)`; both 0 when no log line is behind it.

    `kind` is the ledger's word, `failure_kind` one of the 8 of reading-logs.md 2.2. `place_source` says which input
    gave `file` and `line`.
    """

    test_id: str
    framework: str
    failure_kind: FailureKind
    error_head: str = ""
    detail_tail: str = ""
    file: str | None = None
    line: int | None = None
    flaky: bool = False
    scope: str = ""
    source: Source = "log"
    place_source: Source | None = None
    first_byte: int = 0
    last_byte: int = 0

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the failure: SHA-256 over the test and its innermost error (6.1)."""
        return identity_of(self.test_id, self.error_head, self.detail_tail).key

    @cached_property
    def unstable_id(self) -> bool:
        """Does the test's own name hold something volatile (IT-19)?"""
        return is_unstable(self.test_id)

    @cached_property
    def group_key(self) -> str:
        """Root cause: innermost error and innermost project frame; empty when that says too little (IT-21)."""
        return group_key_of(self.error_head, self.detail_tail)

    @property
    def kind(self) -> Literal["failed", "error"]:
        """`failed` when an expectation did not hold, else `error` (section 2, "To the ledger")."""
        return "failed" if self.failure_kind in ("fail", "unexpected_success") else "error"


@dataclass(frozen=True)
class Diagnostic:
    """One row of a compiler, linter or cause; what the row does not say is None."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    code: str | None = None
    tool: str | None = None
    severity: Severity = "error"
    source: Source = "log"


@dataclass(frozen=True)
class StepInfo:
    """One entry of the job's `steps[]`; times are UTC milliseconds, None when GitHub gave none."""

    name: str
    number: int
    conclusion: str | None
    started_at: int | None
    completed_at: int | None


@dataclass(frozen=True)
class JobInfo:
    """What GitHub says about the job whose log is read."""

    name: str = ""
    job_id: int = 0
    conclusion: str | None = None
    started_at: int | None = None
    completed_at: int | None = None
    steps: tuple[StepInfo, ...] = ()


def as_it_is(text: str) -> str:
    """The redact function of callers that keep no secret."""
    return text


@dataclass(frozen=True)
class Options:
    """How much text is kept, how it is redacted (before every cut, OUT-10), and the caps of section 4.4."""

    detail_chars: int = DETAIL_CHARS
    redact: Callable[[str], str] = as_it_is
    max_findings: int = 20_000
    max_diagnostics: int = 50_000
    max_detail_total: int = 16_000_000
    bytes_total: int | None = None


@dataclass(frozen=True)
class Reading:
    """One merged answer about one job. `findings` holds flaky ones too, in order of first appearance."""

    job_kind: JobKind
    findings: tuple[Failure, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    frameworks: tuple[str, ...] = ()
    exit_code: int | None = None
    truncated: bool = False
    bytes_seen: int = 0
    bytes_total: int = 0
    lines_total: int = 0
    notes: tuple[str, ...] = field(default=())
    all_in_set_up: bool = False
    """No test got past its set-up, and nothing says that the code itself is wrong."""

    @property
    def failures(self) -> list[Failure]:
        """What fails now, one row for each test id (IT-16), failed ones first, then errors (A4)."""
        rows: dict[str, Failure] = {}
        for found in self.findings:
            if not found.flaky:
                known = rows.get(found.test_id)
                rows[found.test_id] = found if known is None else _twins(known, found)
        return sorted(rows.values(), key=lambda failure: failure.kind == "error")

    @property
    def flaky(self) -> list[Failure]:
        """Tests that failed and then passed in this job (IT-24)."""
        return [found for found in self.findings if found.flaky]


def _twins(first: Failure, second: Failure) -> Failure:
    """Two tests of one name in different scopes become one row that names both scopes (RP-4)."""
    scopes = list(dict.fromkeys(scope for scope in (*first.scope.split(" + "), second.scope) if scope))
    return replace(first, scope=" + ".join(scopes))
