"""Read check runs and suites; open and update our own check (github.md A3)."""

from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, model_validator

from app.events.payloads.parts import App, Millis, Part, SuiteRef, Text
from app.github import sizes
from app.github.calls import Listing
from app.github.client import Client
from app.github.errors import ListCut
from app.github.paths import repo_path

Status = Literal["queued", "in_progress", "completed"]
# The words that an app may send; `stale` is GitHub's own (F-C1).
Conclusion = Literal["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"]


class Output(Part):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class CheckRun(Part):
    id: int
    name: Text = ""
    head_sha: Text = ""
    status: Text = ""
    conclusion: str | None = None
    external_id: str | None = None
    details_url: str | None = None
    html_url: str | None = None
    started_at: Millis = None
    completed_at: Millis = None
    app: App | None = None
    check_suite: SuiteRef | None = None
    output: Output = Output()

    def says(self, write: "CheckWrite") -> bool:
        """Whether GitHub already holds what `write` would send, annotations apart (GH-17)."""
        return (
            self.status == write.status
            and self.conclusion == write.conclusion
            and self.external_id == write.external_id
            and (self.output.title or "", self.output.summary or "", self.output.text or "")
            == (write.title, write.summary, write.text)
        )


class CheckSuite(Part):
    id: int
    head_sha: Text = ""
    head_branch: str | None = None
    status: str | None = None
    conclusion: str | None = None
    app: App | None = None
    latest_check_runs_count: int | None = None
    updated_at: Millis = None


class Annotation(Part):
    """A line of a file with a remark, by anybody's check."""

    path: Text = ""
    start_line: int | None = None
    end_line: int | None = None
    annotation_level: str | None = None
    title: str | None = None
    message: Text = ""
    raw_details: str | None = None


class _Write(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnnotationWrite(_Write):
    path: str
    start_line: int
    end_line: int
    annotation_level: Literal["notice", "warning", "failure"]
    message: str
    title: str = ""
    raw_details: str = ""


class ActionWrite(_Write):
    """A button of a check."""

    label: str
    description: str
    identifier: str


class CheckWrite(_Write):
    """All that we say in our check. `conclusion` is there exactly when `status` is completed (F-C2)."""

    name: str
    head_sha: str
    external_id: str
    status: Status
    title: str
    summary: str
    conclusion: Conclusion | None = None
    text: str = ""
    details_url: str = ""
    actions: tuple[ActionWrite, ...] = ()
    annotations: tuple[AnnotationWrite, ...] = ()

    @model_validator(mode="after")
    def _status_and_conclusion_agree(self) -> Self:
        if (self.status == "completed") != (self.conclusion is not None):
            raise ValueError("a check has a conclusion exactly when it is completed")
        return self


def get_check(client: Client, repo: str, check_run_id: int) -> CheckRun:
    return CheckRun.model_validate(client.get(repo_path(repo, "check-runs", check_run_id)))


def find_check_runs(client: Client, repo: str, sha: str) -> Listing[CheckRun]:
    """The newest check run of each name and app at `sha`, of all apps."""
    return _runs(client, repo, sha, filter="latest")


def find_check_suites(client: Client, repo: str, sha: str) -> Listing[CheckSuite]:
    """The check suites at `sha`, of all apps."""
    return client.pages(repo_path(repo, "commits", sha, "check-suites"), "check_suites").of(CheckSuite)


def find_our_check(client: Client, repo: str, sha: str, app_id: int, external_id: str) -> CheckRun | None:
    """Our check at `sha` with this key; of several the newest, which is the one that GitHub shows (F-C8).

    Raises ListCut when the list was too long to say that there is none.
    """
    runs = _runs(client, repo, sha, filter="all", app_id=app_id)
    ours = [run for run in runs if run.app and run.app.id == app_id and run.external_id == external_id]
    if not ours and runs.cut:
        raise ListCut(f"Commit {sha} has too many check runs to find Remedy's own among them.")
    return max(ours, key=lambda run: run.id, default=None)


def find_annotations(client: Client, repo: str, check_run_id: int) -> Listing[Annotation]:
    """What a check remarked on lines of files."""
    return client.pages(repo_path(repo, "check-runs", check_run_id, "annotations")).of(Annotation)


def open_check(client: Client, repo: str, check: CheckWrite) -> CheckRun:
    """A new check run. Look for ours first: GitHub makes a second one of the same name without a word (F-C8)."""
    body = {**_body(check), "head_sha": check.head_sha}
    return CheckRun.model_validate(client.post(repo_path(repo, "check-runs"), body))


def update_check(client: Client, repo: str, check_run_id: int, check: CheckWrite) -> CheckRun:
    """Annotations are added to those that are there (F-C4). Raises ForeignCheck for another app's check (F-C6)."""
    return CheckRun.model_validate(client.patch(repo_path(repo, "check-runs", check_run_id), _body(check)))


def check_run_id_of(check_run_url: str | None) -> int | None:
    """The id at the end of an API address of a check run."""
    last = urlsplit(check_run_url or "").path.rpartition("/")[2]
    return int(last) if last.isdigit() else None


def _runs(client: Client, repo: str, sha: str, **params: Any) -> Listing[CheckRun]:
    return client.pages(repo_path(repo, "commits", sha, "check-runs"), "check_runs", **params).of(CheckRun)


def _body(check: CheckWrite) -> dict[str, Any]:
    output: dict[str, Any] = {
        "title": sizes.fit_line(check.title, sizes.TITLE, "check title"),
        "summary": sizes.fit_text(check.summary, sizes.CHECK_TEXT, "check summary"),
        "text": sizes.fit_text(check.text, sizes.CHECK_TEXT, "check text"),
    }
    if check.annotations:
        slots = sizes.fit_list(check.annotations, sizes.ANNOTATIONS, "annotations")
        output["annotations"] = [_annotation(item) for item in slots]
    body: dict[str, Any] = {
        "name": check.name,
        "external_id": check.external_id,
        "status": check.status,
        "output": output,
        "actions": [_action(item) for item in sizes.fit_list(check.actions, sizes.ACTIONS, "check actions")],
    }
    if check.conclusion:
        body["conclusion"] = check.conclusion
    if check.details_url:
        body["details_url"] = check.details_url
    return body


def _annotation(item: AnnotationWrite) -> dict[str, Any]:
    body: dict[str, Any] = {
        "path": item.path,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "annotation_level": item.annotation_level,
        "message": sizes.fit_bytes(item.message, sizes.ANNOTATION_TEXT, "annotation message"),
    }
    if item.title:
        body["title"] = sizes.fit_line(item.title, sizes.ANNOTATION_TITLE, "annotation title")
    if item.raw_details:
        body["raw_details"] = sizes.fit_bytes(item.raw_details, sizes.ANNOTATION_TEXT, "annotation details")
    return body


def _action(item: ActionWrite) -> dict[str, str]:
    return {
        "label": sizes.fit_line(item.label, sizes.ACTION_LABEL, "action label"),
        "description": sizes.fit_line(item.description, sizes.ACTION_DESCRIPTION, "action description"),
        "identifier": sizes.fit_line(item.identifier, sizes.ACTION_IDENTIFIER, "action identifier"),
    }
