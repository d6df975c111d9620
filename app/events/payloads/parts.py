"""The things that payloads speak of, with the fields that Remedy reads and no others."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

T = TypeVar("T")


def to_millis(value: object) -> int | None:
    """UTC milliseconds of GitHub's ISO text or of epoch seconds (some payloads have those); None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, int | float):
            return int(value * 1000)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return None


def _text_or_empty(value: object) -> object:
    return "" if value is None else value


def _list_or_empty(value: object) -> object:
    return value if isinstance(value, list) else []


Text = Annotated[str, BeforeValidator(_text_or_empty)]
Millis = Annotated[int | None, BeforeValidator(to_millis)]
ListOf = Annotated[tuple[T, ...], BeforeValidator(_list_or_empty)]


class Part(BaseModel):
    """Unknown fields are ignored, absent ones are None, words of GitHub stay text."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class User(Part):
    id: int
    login: Text = ""
    type: Text = ""


class App(Part):
    id: int
    slug: str | None = None


class Repository(Part):
    """`full_name` changes with renames; the id does not (GH-32)."""

    id: int
    full_name: str
    default_branch: str | None = None
    private: bool | None = None
    fork: bool | None = None
    html_url: str | None = None
    owner: User | None = None


class RepositoryRef(Part):
    """A repository as checks and installations name it; `full_name` is absent in checks."""

    id: int
    full_name: str | None = None
    private: bool | None = None


class Branch(Part):
    ref: str
    sha: str
    repo: RepositoryRef | None = None


class PullRef(Part):
    """A pull request as a check names it: a hint only, and empty for forks (F-C11)."""

    id: int
    number: int
    head: Branch
    base: Branch


class PullRequest(Part):
    id: int
    number: int
    head: Branch
    base: Branch
    state: Text = ""
    title: Text = ""
    body: str | None = None
    draft: bool | None = None
    merged: bool | None = None
    user: User | None = None
    html_url: str | None = None
    updated_at: Millis = None


class SuiteRef(Part):
    id: int
    head_branch: str | None = None
    head_sha: str | None = None


class CheckRun(Part):
    id: int
    name: str
    head_sha: str
    status: str | None = None
    conclusion: str | None = None
    external_id: str | None = None
    details_url: str | None = None
    html_url: str | None = None
    started_at: Millis = None
    completed_at: Millis = None
    app: App | None = None
    check_suite: SuiteRef | None = None
    pull_requests: ListOf[PullRef] = ()


class CheckSuite(Part):
    id: int
    head_sha: str
    head_branch: str | None = None
    status: str | None = None
    conclusion: str | None = None
    updated_at: Millis = None
    app: App | None = None
    pull_requests: ListOf[PullRef] = ()


class WorkflowRun(Part):
    id: int
    head_sha: str
    head_branch: str | None = None
    name: str | None = None
    event: str | None = None
    status: str | None = None
    conclusion: str | None = None
    run_attempt: int = 1
    check_suite_id: int | None = None
    html_url: str | None = None
    updated_at: Millis = None
    head_repository: RepositoryRef | None = None
    actor: User | None = None
    pull_requests: ListOf[PullRef] = ()


class IssueRef(Part):
    """An issue, or a pull request when `pull_request` is there."""

    id: int
    number: int
    title: Text = ""
    state: Text = ""
    user: User | None = None
    html_url: str | None = None
    pull_request: Mapping[str, Any] | None = None


class Comment(Part):
    """A comment, a review or a review comment: text by a person or an app. `body` is as delivered (S31)."""

    id: int
    body: str | None = None
    user: User | None = None
    html_url: str | None = None
    performed_via_github_app: App | None = None


class MergeGroup(Part):
    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str


class Installation(Part):
    """`account` and the rest are there in installation events only; elsewhere it is the id."""

    id: int
    account: User | None = None
    app_id: int | None = None
    app_slug: str | None = None
    repository_selection: str | None = None
    html_url: str | None = None
    suspended_at: Millis = None
    permissions: Mapping[str, Any] | None = None
    events: ListOf[str] = ()


class RequestedAction(Part):
    identifier: str
