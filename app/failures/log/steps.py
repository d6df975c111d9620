"""GitHub's job JSON as a `JobInfo`, and which findings stand in a step that failed (1.3)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from app.failures.frameworks.detector import Found
from app.failures.model import JobInfo, StepInfo
from app.failures.recorder import Segment

_SECOND = 1000


def job_info(data: Mapping[str, object]) -> JobInfo:
    """One job of "list jobs for a workflow run"; what is missing or of a wrong type becomes None."""
    steps = data.get("steps")
    return JobInfo(
        name=str(data.get("name") or ""),
        job_id=_number(data.get("id")),
        conclusion=_text(data.get("conclusion")),
        started_at=milliseconds(data.get("started_at")),
        completed_at=milliseconds(data.get("completed_at")),
        steps=tuple(_step(step) for step in steps if isinstance(step, Mapping)) if isinstance(steps, list) else (),
    )


def milliseconds(stamp: object) -> int | None:
    """UTC milliseconds of an ISO stamp with Z, with any number of digits behind the second."""
    if not isinstance(stamp, str) or len(stamp) < 20:
        return None
    try:
        whole = datetime.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    digits = stamp[20:].rstrip("Z") if stamp[19] == "." else ""
    part = int((digits + "000")[:3]) if digits.isdigit() else 0
    return int(whole.timestamp()) * 1000 + part


def in_failed_steps(found: Sequence[Found], job: JobInfo, segments: Sequence[Segment]) -> list[Found]:
    """The findings printed by steps that failed; all of them when that leaves none or nothing is known (IN-4, IN-5)."""
    windows = [
        _window(step, segments) for step in job.steps if step.conclusion in ("failure", "timed_out", "cancelled")
    ]
    known = [window for window in windows if window is not None]
    if not known:
        return list(found)
    inside = [one for one in found if any(_is_inside(one, window) for window in known)]
    return inside or list(found)


def _window(step: StepInfo, segments: Sequence[Segment]) -> tuple[int, int, int] | None:
    """Start and end in milliseconds, and the first byte: the last command that began in the step's first second."""
    if step.started_at is None or step.completed_at is None:
        return None
    first = [
        segment.offset
        for segment in segments
        if segment.command and step.started_at <= (milliseconds(segment.stamp) or 0) < step.started_at + _SECOND
    ]
    return step.started_at, step.completed_at + _SECOND, first[-1] if first else 0


def _is_inside(found: Found, window: tuple[int, int, int]) -> bool:
    at = milliseconds(found.at.stamp) if found.at else None
    if at is None or found.at is None:
        return True
    start, end, first_byte = window
    return start <= at < end and found.at.offset >= first_byte


def _step(data: Mapping[str, object]) -> StepInfo:
    return StepInfo(
        name=str(data.get("name") or ""),
        number=_number(data.get("number")),
        conclusion=_text(data.get("conclusion")),
        started_at=milliseconds(data.get("started_at")),
        completed_at=milliseconds(data.get("completed_at")),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
