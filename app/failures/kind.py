"""The kind of a job from what was found in its log: the root cause, not the last line (2.1)."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from app.failures.frameworks.rows import is_compiler
from app.failures.model import Failure, JobKind
from app.failures.recorder import CauseLine, Row, Segment
from app.failures.set_up import HOOK

_TIMED_OUT = re.compile(
    r"(?:[Tt]imeout|TIMEOUT) (?:of [\d.]+ ?m?s|>|\(>)"
    r"|timed out after|[Ee]xceeded timeout of|Async callback was not invoked within"
    r"|Test timeout of|TestTimedOut|test timed out|did not complete within|Timeout - Async"
)
_BY_EXIT: dict[int, JobKind] = {
    137: "oom_killed",
    124: "timeout",
    139: "crash",
    134: "crash",
    127: "config_error",
    126: "config_error",
}
_PYTEST_EXIT: dict[int, JobKind] = {3: "crash", 4: "config_error", 5: "no_tests"}
_ORDER: tuple[JobKind, ...] = (
    "oom_killed",
    "infrastructure",
    "dependency_install",
    "compile_error",
    "lint",
    "timeout",
    "crash",
    "no_tests",
    "test_error",
    "config_error",
    "cancelled",
)
_NEAR = 200_000
_CONFIGURES = ("cmake",)
T = TypeVar("T", Row, CauseLine)


@dataclass(frozen=True)
class Signs:
    """What the kind is decided from; `failures` without the flaky ones."""

    failures: Sequence[Failure]
    rows: Sequence[Row]
    causes: Sequence[CauseLine]
    segments: Sequence[Segment]
    closed: int | None = None
    orderly_end: bool = False
    conclusion: str | None = None
    runs_passed: bool = False
    cut: bool = False
    frameworks: Sequence[str] = ()

    @property
    def exit_code(self) -> int | None:
        """The code of the last command that failed, else the job's own."""
        codes = [segment.exit for segment in self.segments if segment.exit is not None]
        failed = next((code for code in reversed(codes) if code), None)
        if failed is not None or self.closed is not None:
            return failed if failed is not None else self.closed
        return codes[-1] if codes else None

    @property
    def failed(self) -> bool | None:
        """Did the job fail? None when neither GitHub nor the log says so."""
        if self.conclusion is not None:
            return self.conclusion not in ("success", "neutral", "skipped")
        if self.closed is not None:
            return self.closed != 0
        if self.exit_code:
            return True
        if self.orderly_end and not any(segment.error for segment in self.segments):
            return False
        return None


class Kind(NamedTuple):
    """The kind, and the cause line that decided it when no row and no test did."""

    kind: JobKind
    cause: CauseLine | None = None


def kind_of(signs: Signs) -> Kind:
    """One of the 16 job kinds."""
    if signs.failed is False:
        return Kind("no_failure")
    if signs.failures:
        return _with_tests(signs)
    if signs.conclusion == "cancelled":
        return Kind("cancelled")
    if signs.conclusion == "timed_out":
        return Kind("timeout")
    return _without_tests(signs)


def _with_tests(signs: Signs) -> Kind:
    """Failing tests, and what else is independent of them (K-1, K-2)."""
    own = _of_failures(signs.failures)
    install = next((cause for cause in signs.causes if cause.kind == "dependency_install"), None)
    if own == "collection_error" and install:
        return Kind("dependency_install", install)
    compiled, linted = _split(_effective(signs, [row for row in signs.rows if _is_error(row)]))
    at = [failure.first_byte for failure in signs.failures]
    suites = any(failure.failure_kind in ("suite_error", "collection_error") for failure in signs.failures)
    stopped = any(cause.kind == "compile_error" for cause in signs.causes)
    builds = stopped or any(_is_failing_alone(signs, row.offset, at) for row in compiled)
    if builds and not suites:
        return Kind("mixed")
    elsewhere = [row for row in linted if _is_failing_alone(signs, row.offset, at)]
    return Kind("mixed" if elsewhere else own)


def _without_tests(signs: Signs) -> Kind:
    rows = _effective(signs, [row for row in signs.rows if row.sure])
    compiled, linted = _split([row for row in rows if _is_error(row)])
    causes = _effective(signs, signs.causes)
    if {cause.kind for cause in causes} <= {"config_error", "cancelled"}:
        # the command that failed only lacks what an earlier one could not get
        causes = [*(cause for cause in signs.causes if _segment(signs, cause.offset).exit is None), *causes]
    if compiled and _is_only_linted(compiled, causes):
        compiled, linted = [], [*compiled, *linted]
    if compiled and linted:
        first, last = min(row.offset for row in compiled), max(row.offset for row in linted)
        return Kind("mixed" if _segment(signs, first) is not _segment(signs, last) else "compile_error")
    if compiled or linted:
        return Kind("compile_error" if compiled else "lint")
    cause = _first_cause(causes)
    if cause is not None and cause.kind not in ("config_error", "cancelled"):
        return Kind(cause.kind, cause)
    by_exit = _by_exit(signs)
    if by_exit is not None:
        return Kind(by_exit, cause)
    compiled, linted = _split(rows)
    if (compiled or linted) and cause is None:
        return Kind("compile_error" if compiled and not linted else "lint")
    if cause is not None:
        return Kind(cause.kind, cause)
    if signs.failed is None and (signs.runs_passed or signs.frameworks) and not signs.cut:
        return Kind("no_failure")
    unsure = _effective(signs, [row for row in signs.rows if not row.sure])
    if unsure and not signs.cut:
        return Kind("lint")
    return Kind("unknown")


def _is_only_linted(compiled: Sequence[Row], causes: Sequence[CauseLine]) -> bool:
    """Build tools print a checker's rows like a compiler's; the goal or task that failed tells them apart."""
    kinds = {cause.kind for cause in causes}
    jvm = all(row.diagnostic.tool in ("javac", "kotlinc", "scalac") for row in compiled)
    return jvm and "lint" in kinds and "compile_error" not in kinds


def _of_failures(failures: Sequence[Failure]) -> JobKind:
    """The kind that the tests alone give."""
    timed_out = [failure for failure in failures if is_time_out(failure)]
    if len(timed_out) == len(failures):
        return "timeout"
    kinds = {failure.failure_kind for failure in failures}
    if kinds == {"crash"}:
        return "crash"
    if timed_out or "crash" in kinds:
        return "mixed"
    loads = kinds & {"collection_error", "suite_error"}
    if loads:
        return "collection_error" if kinds == loads else "mixed"
    if "error" in kinds:
        return "test_error" if kinds == {"error"} else "mixed"
    return "test_error" if all(HOOK.search(failure.test_id) for failure in failures) else "test_failure"


def is_time_out(failure: Failure) -> bool:
    """By the framework's status word or by the test's own message (K-8)."""
    return failure.failure_kind == "timeout" or _TIMED_OUT.search(failure.error_head) is not None


def _first_cause(causes: Sequence[CauseLine]) -> CauseLine | None:
    by_kind: dict[JobKind, CauseLine] = {}
    for cause in causes:
        by_kind.setdefault(cause.kind, cause)
    network, install = by_kind.get("infrastructure"), by_kind.get("dependency_install")
    if network and install and not 0 <= install.offset - network.offset < _NEAR:
        del by_kind["infrastructure"]
    return next((by_kind[kind] for kind in _ORDER if kind in by_kind), None)


def _by_exit(signs: Signs) -> JobKind | None:
    code = signs.exit_code
    if code is None:
        return None
    if "pytest" in signs.frameworks and code in _PYTEST_EXIT:
        return _PYTEST_EXIT[code]
    return _BY_EXIT.get(code)


def _is_error(row: Row) -> bool:
    return row.sure and row.diagnostic.severity == "error"


def _split(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Rows of compilers, and rows of linters (K-6, K-9)."""
    compiled: list[Row] = []
    linted: list[Row] = []
    for row in rows:
        if row.diagnostic.tool in _CONFIGURES:
            continue
        (compiled if is_compiler(row.diagnostic.tool) else linted).append(row)
    return compiled, linted


def _segment(signs: Signs, offset: int) -> Segment:
    at = bisect_right(signs.segments, offset, key=lambda segment: segment.offset)
    return signs.segments[max(0, at - 1)]


def _fails(segment: Segment) -> bool:
    return bool(segment.exit)


def _effective(signs: Signs, items: Sequence[T]) -> list[T]:
    """What stands in a command that failed; everything when no failed command holds any (K-3)."""
    failing = [item for item in items if _fails(_segment(signs, item.offset))]
    if failing:
        return failing
    return [item for item in items if _segment(signs, item.offset).exit != 0]


def _is_failing_alone(signs: Signs, offset: int, tests: Sequence[int]) -> bool:
    """Does the row stand in a failed command that printed no failing test?"""
    segment = _segment(signs, offset)
    return _fails(segment) and all(_segment(signs, test) is not segment for test in tests)
