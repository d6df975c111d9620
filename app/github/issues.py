"""Read and write issues; a failed search means "unknown", never "none" (IT-27)."""

from collections.abc import Sequence
from typing import Any, Literal

from app.events.payloads.parts import App, ListOf, Millis, Part, Text, User
from app.github import sizes
from app.github.client import Client
from app.github.errors import GitHubError, ListCut
from app.github.paths import repo_path


class Label(Part):
    name: Text = ""


class Issue(Part):
    """`pull_request` is there when the issue is a pull request."""

    id: int
    number: int
    title: Text = ""
    body: Text = ""
    state: Text = ""
    state_reason: str | None = None
    user: User | None = None
    html_url: str | None = None
    labels: ListOf[Label] = ()
    pull_request: dict[str, Any] | None = None
    performed_via_github_app: App | None = None
    closed_at: Millis = None
    updated_at: Millis = None


def get_issue(client: Client, repo: str, number: int) -> Issue:
    return Issue.model_validate(client.get(repo_path(repo, "issues", number)))


def find_our_issue(client: Client, repo: str, app_slug: str, marker: str, label: str = "") -> Issue | None:
    """The oldest issue, open or closed, that our app opened and whose body begins with `marker` (GH-15).

    Listed by creator and label, never searched for (F-I8). Raises ListCut when none was found in a cut list.
    """
    params: dict[str, Any] = {"creator": f"{app_slug}[bot]", "state": "all", "sort": "created", "direction": "asc"}
    if label:
        params["labels"] = label
    found = client.pages(repo_path(repo, "issues"), **params)
    ours = [issue for issue in map(Issue.model_validate, found) if _is_ours(issue, client.settings.app_id, marker)]
    if not ours and found.cut:
        raise ListCut("The repository has too many issues to find Remedy's own among them.")
    return min(ours, key=lambda issue: issue.number, default=None)


def open_issue(client: Client, repo: str, title: str, body: str, labels: Sequence[str] = ()) -> Issue:
    """Raises IssuesDisabled where the repository has none (F-I5)."""
    return Issue.model_validate(client.post(repo_path(repo, "issues"), _body(title, body, labels)))


def update_issue(client: Client, repo: str, number: int, body: str) -> Issue:
    """Title and labels stay as people left them."""
    return Issue.model_validate(
        client.patch(repo_path(repo, "issues", number), {"body": sizes.fit_text(body, sizes.BODY, "issue")})
    )


def close_issue(
    client: Client, repo: str, number: int, reason: Literal["completed", "not_planned"] = "completed"
) -> Issue:
    body = {"state": "closed", "state_reason": reason}
    return Issue.model_validate(client.patch(repo_path(repo, "issues", number), body))


def reopen_issue(client: Client, repo: str, number: int) -> Issue:
    body = {"state": "open", "state_reason": "reopened"}
    return Issue.model_validate(client.patch(repo_path(repo, "issues", number), body))


def open_label(client: Client, repo: str, name: str, color: str, description: str) -> None:
    """A label that is already there is success (F-I3). `color` is six hex digits."""
    body = {
        "name": sizes.fit_line(name, sizes.LABEL_NAME, "label name"),
        "color": color,
        "description": sizes.fit_line(description, sizes.LABEL_DESCRIPTION, "label description"),
    }
    try:
        client.post(repo_path(repo, "labels"), body, repeatable=True)
    except GitHubError as error:
        if error.status != 422 or "already_exists" not in str(error.body):
            raise


def _body(title: str, body: str, labels: Sequence[str]) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "title": sizes.fit_line(title, sizes.TITLE, "issue title"),
        "body": sizes.fit_text(body, sizes.BODY, "issue"),
    }
    if labels:
        names = sizes.fit_list(labels, sizes.LABELS, "labels")
        sent["labels"] = [sizes.fit_line(name, sizes.LABEL_NAME, "label name") for name in names]
    return sent


def _is_ours(issue: Issue, app_id: int, marker: str) -> bool:
    """The `[bot]` creator was asked for; older servers leave the app out, which must not hide the issue."""
    app, user = issue.performed_via_github_app, issue.user
    by_us = app.id == app_id if app is not None else user is not None and user.type == "Bot"
    return by_us and issue.pull_request is None and issue.body.startswith(marker)
