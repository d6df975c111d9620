"""Read a webhook's body into small models that tolerate what GitHub adds, leaves out or renames (F-E5)."""

from dataclasses import dataclass

from pydantic import ValidationError

from app.events.payloads.events import (
    MODELS,
    CheckRunEvent,
    CheckSuiteEvent,
    InstallationEvent,
    InstallationRepositoriesEvent,
    IssueCommentEvent,
    MergeGroupEvent,
    Payload,
    PingEvent,
    PullRequestEvent,
    ReviewCommentEvent,
    ReviewEvent,
    WorkflowRunEvent,
)
from app.events.payloads.parts import Part

__all__ = [
    "MODELS",
    "CheckRunEvent",
    "CheckSuiteEvent",
    "InstallationEvent",
    "InstallationRepositoriesEvent",
    "IssueCommentEvent",
    "MergeGroupEvent",
    "Payload",
    "PingEvent",
    "PullRequestEvent",
    "ReviewCommentEvent",
    "ReviewEvent",
    "Unreadable",
    "WorkflowRunEvent",
    "parse",
    "semantic_key",
]


@dataclass(frozen=True)
class Unreadable:
    """A body that has no model or does not fit it; kept, counted and shown (IT-4). `reason` holds no value of it."""

    reason: str
    action: str = ""
    installation_id: int | None = None
    repository_id: int | None = None


class _Id(Part):
    id: int | None = None


class _Envelope(Part):
    action: str | None = None
    installation: _Id | None = None
    repository: _Id | None = None


def parse(event: str, body: bytes) -> Payload | Unreadable:
    """The model of `body`, which is JSON text sent with the header `X-GitHub-Event: <event>`. Never raises."""
    model = MODELS.get(event)
    if model is None:
        return _unreadable("no model for this event", body)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        return _unreadable(f"{where}: {first['msg']}", body)


def semantic_key(payload: Payload) -> str | None:
    """A key that a redelivery under a new guid shares (IT-3); None where only the guid counts (buttons, the rest)."""
    match payload:
        case CheckRunEvent(action="completed", check_run=check) if check.completed_at is not None:
            return f"check_run:{check.id}:{check.completed_at}:{check.conclusion}"
        case CheckSuiteEvent(action="completed", check_suite=suite) if suite.updated_at is not None:
            return f"check_suite:{suite.id}:{suite.updated_at}:{suite.conclusion}"
        case WorkflowRunEvent(action="completed", workflow_run=run):
            return f"workflow_run:{run.id}:{run.run_attempt}:{run.conclusion}"
        case IssueCommentEvent(action="created") | ReviewCommentEvent(action="created"):
            return f"{payload.event}:{payload.comment.id}"
        case ReviewEvent(action="submitted"):
            return f"{payload.event}:{payload.review.id}"
        case _:
            return None


def _unreadable(reason: str, body: bytes) -> Unreadable:
    try:
        envelope = _Envelope.model_validate_json(body)
    except ValidationError:
        return Unreadable(reason)
    return Unreadable(
        reason,
        envelope.action or "",
        envelope.installation.id if envelope.installation else None,
        envelope.repository.id if envelope.repository else None,
    )
