"""The kind of a job from what was found in its log: the root cause, not the last line (2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.failures.model import Diagnostic, Failure, JobKind

_ASSERTED = ("fail", "unexpected_success", "not_run")


@dataclass(frozen=True)
class Signs:
    """What the kind is decided from; `failures` without the flaky ones."""

    failures: Sequence[Failure]
    diagnostics: Sequence[Diagnostic]
    causes: Sequence[tuple[JobKind, str]]
    exit_code: int | None
    failed: bool | None
    conclusion: str | None
    unfinished: bool


def kind_of(signs: Signs) -> JobKind:
    """One of the 16 job kinds."""
    if signs.failures:
        return _of_failures(signs)
    return "unknown" if signs.failed is not False else "no_failure"


def _of_failures(signs: Signs) -> JobKind:
    kinds = {failure.failure_kind for failure in signs.failures}
    if kinds <= {"collection_error", "suite_error"}:
        return "collection_error"
    if kinds <= {"error"}:
        return "test_error"
    if kinds <= set(_ASSERTED):
        return "test_failure"
    return "mixed"
