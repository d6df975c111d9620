"""What CI says about a commit that we pushed, from the check suites and runs that GitHub lists (PB-8); pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.runs.model import Ci

GOOD = frozenset({"success", "neutral", "skipped"})


@dataclass(frozen=True)
class SuiteSeen:
    """One check suite of another app; `jobs` is how many check runs it holds."""

    status: str
    conclusion: str | None
    jobs: int


@dataclass(frozen=True)
class JobSeen:
    """One check run of another app."""

    name: str
    conclusion: str | None


@dataclass(frozen=True)
class Waited:
    """How long CI was waited for, and how long it may take; seconds."""

    since_push_s: float
    first_suite_s: float
    all_s: float


def red_names(jobs: Sequence[JobSeen]) -> list[str]:
    """The jobs that are red, each name once, in their order."""
    return list(dict.fromkeys(job.name for job in jobs if job.conclusion not in GOOD))


def ci_of(
    suites: Sequence[SuiteSeen], jobs: Sequence[JobSeen], failed_before: frozenset[str], waited: Waited
) -> Ci | None:
    """The end of CI, or None while it is to be waited for. `failed_before` are the jobs that the repair was about."""
    held = [suite for suite in suites if suite.conclusion == "action_required" and not suite.jobs]
    real = [suite for suite in suites if suite.jobs or suite.status == "completed"]
    if not real and not held:
        return Ci.NONE if waited.since_push_s >= waited.first_suite_s else None
    if held and all(suite in held or suite.status == "completed" for suite in suites):
        return Ci.WAITING_APPROVAL
    if any(suite.status != "completed" for suite in real):
        return Ci.UNFINISHED if waited.since_push_s >= waited.all_s else None
    if all(suite.conclusion == "cancelled" for suite in real):
        return Ci.UNFINISHED
    red = [job for job in jobs if job.conclusion not in GOOD]
    if not red and all(suite.conclusion in GOOD for suite in real):
        return Ci.GREEN
    return Ci.RED_NAMED if any(job.name in failed_before for job in red) else Ci.RED_OTHER
