"""One model for each event that Remedy subscribes to, and for the two that always come (github.md, B10)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from app.events.payloads.parts import (
    CheckRun,
    CheckSuite,
    Comment,
    Installation,
    IssueRef,
    ListOf,
    MergeGroup,
    Part,
    PullRequest,
    Repository,
    RepositoryRef,
    RequestedAction,
    Text,
    User,
    WorkflowRun,
)


class Payload(Part):
    """What all events carry. `installation_id` and `repository_id` are None where GitHub does not say."""

    event: ClassVar[str] = ""

    action: Text = ""
    repository: Repository | None = None
    sender: User | None = None
    installation: Installation | None = None

    @property
    def conclusion(self) -> str | None:
        """The conclusion of the check, suite or run that the event is about."""
        return None

    @property
    def installation_id(self) -> int | None:
        return self.installation.id if self.installation else None

    @property
    def repository_id(self) -> int | None:
        return self.repository.id if self.repository else None


class CheckRunEvent(Payload):
    event = "check_run"

    check_run: CheckRun
    requested_action: RequestedAction | None = None

    @property
    def conclusion(self) -> str | None:
        return self.check_run.conclusion


class CheckSuiteEvent(Payload):
    event = "check_suite"

    check_suite: CheckSuite

    @property
    def conclusion(self) -> str | None:
        return self.check_suite.conclusion


class WorkflowRunEvent(Payload):
    event = "workflow_run"

    workflow_run: WorkflowRun

    @property
    def conclusion(self) -> str | None:
        return self.workflow_run.conclusion


class PullRequestEvent(Payload):
    """`before` and `after` are SHAs of a push; `changes` names what was edited."""

    event = "pull_request"

    pull_request: PullRequest
    before: str | None = None
    after: str | None = None
    changes: Mapping[str, Any] | None = None


class IssueCommentEvent(Payload):
    event = "issue_comment"

    issue: IssueRef
    comment: Comment


class ReviewEvent(Payload):
    event = "pull_request_review"

    pull_request: PullRequest
    review: Comment


class ReviewCommentEvent(Payload):
    event = "pull_request_review_comment"

    pull_request: PullRequest
    comment: Comment


class MergeGroupEvent(Payload):
    event = "merge_group"

    merge_group: MergeGroup


class InstallationEvent(Payload):
    event = "installation"

    installation: Installation
    repositories: ListOf[RepositoryRef] = ()


class InstallationRepositoriesEvent(Payload):
    event = "installation_repositories"

    installation: Installation
    repositories_added: ListOf[RepositoryRef] = ()
    repositories_removed: ListOf[RepositoryRef] = ()


class PingEvent(Payload):
    event = "ping"

    zen: str | None = None
    hook_id: int | None = None


MODELS: Mapping[str, type[Payload]] = {
    model.event: model
    for model in (
        CheckRunEvent,
        CheckSuiteEvent,
        WorkflowRunEvent,
        PullRequestEvent,
        IssueCommentEvent,
        ReviewEvent,
        ReviewCommentEvent,
        MergeGroupEvent,
        InstallationEvent,
        InstallationRepositoriesEvent,
        PingEvent,
    )
}
