"""Read pull requests; open and update those of a fix. Remedy never merges (F-P4)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from app.events.payloads.parts import Branch, Millis, Part, Text, User
from app.github import sizes
from app.github.calls import Listing
from app.github.client import Client
from app.github.paths import repo_path


class Pull(Part):
    """`head.repo` is None when the fork was deleted. `merged` is None in lists: there `merged_at` tells."""

    id: int
    number: int
    head: Branch
    base: Branch
    state: Text = ""
    title: Text = ""
    body: Text = ""
    draft: bool | None = None
    merged: bool | None = None
    merged_at: Millis = None
    mergeable: bool | None = None
    user: User | None = None
    html_url: str | None = None
    updated_at: Millis = None

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def is_merged(self) -> bool:
        return bool(self.merged) or self.merged_at is not None

    @property
    def is_fork(self) -> bool:
        """Whether the head lives elsewhere than the base, or nowhere any more."""
        return self.head.repo is None or self.base.repo is None or self.head.repo.id != self.base.repo.id


class ChangedFile(Part):
    filename: str
    status: Text = ""
    previous_filename: str | None = None


class PullCommit(Part):
    """One commit of a pull request; `author` is an account of GitHub, or None."""

    class Message(Part):
        message: Text = ""

    sha: str
    commit: Message = Message()
    author: User | None = None
    committer: User | None = None


class PullWrite(BaseModel):
    """A pull request to open, from a branch of the same repository; never a draft (decisions.md 63)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    body: str
    head: str
    base: str


class ReviewComment(BaseModel):
    """A remark at lines of the new version of a file; its body may hold a suggestion."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    line: int
    body: str
    start_line: int | None = None


class Review(Part):
    id: int
    body: Text = ""
    user: User | None = None
    state: Text = ""
    html_url: str | None = None


def get_pull(client: Client, repo: str, number: int) -> Pull:
    return Pull.model_validate(client.get(repo_path(repo, "pulls", number)))


def find_open_pulls(client: Client, repo: str) -> Listing[Pull]:
    """Newest first; the sweep reads them after a gap in deliveries (GH-36)."""
    return _pulls(client, repo, state="open")


def find_pulls_for_sha(client: Client, repo: str, sha: str) -> Listing[Pull]:
    """Pull requests of this repository that hold commit `sha`, open or not; none is normal (F-C11).

    The commit may be any of theirs: compare `head.sha`. GitHub also names pull requests of other repositories, which
    are left out here.
    """
    found = client.pages(repo_path(repo, "commits", sha, "pulls")).of(Pull)
    return Listing(tuple(pull for pull in found if _is_of(pull, repo, client.repository_id)), found.cut)


def find_pulls_by_head(client: Client, repo: str, branch: str, owner: str = "", state: str = "all") -> Listing[Pull]:
    """Pull requests from `branch` of `owner` (of this repository's owner by default), newest first (GH-15)."""
    owner = owner or repo.partition("/")[0]
    return _pulls(client, repo, state=state, head=f"{owner}:{branch}")


def find_pull_by_head(client: Client, repo: str, branch: str) -> Pull | None:
    """The newest pull request from this branch of the repository itself, open or not."""
    return next(iter(find_pulls_by_head(client, repo, branch)), None)


def find_changed_files(client: Client, repo: str, number: int) -> Listing[ChangedFile]:
    """The files that the pull request changes; GitHub names at most 3,000."""
    return client.pages(repo_path(repo, "pulls", number, "files")).of(ChangedFile)


def find_pull_commits(client: Client, repo: str, number: int) -> Listing[PullCommit]:
    """Its commits, oldest first; GitHub names at most 250."""
    return client.pages(repo_path(repo, "pulls", number, "commits")).of(PullCommit)


def open_pull(client: Client, repo: str, pull: PullWrite) -> Pull:
    """Look for ours by head first; a second one of the same head is 422."""
    body = {**_texts(pull.title, pull.body), "head": pull.head, "base": pull.base, "maintainer_can_modify": False}
    return Pull.model_validate(client.post(repo_path(repo, "pulls"), body))


def update_pull(client: Client, repo: str, number: int, title: str, body: str) -> Pull:
    return Pull.model_validate(client.patch(repo_path(repo, "pulls", number), _texts(title, body)))


def close_pull(client: Client, repo: str, number: int) -> Pull:
    return Pull.model_validate(client.patch(repo_path(repo, "pulls", number), {"state": "closed"}))


def update_branch(client: Client, repo: str, number: int, expected_head_sha: str) -> None:
    """Ask GitHub to merge the base into the head; 422 when the head is another one by now."""
    client.put(repo_path(repo, "pulls", number, "update-branch"), {"expected_head_sha": expected_head_sha})


def find_reviews(client: Client, repo: str, number: int) -> Listing[Review]:
    """Reviews, oldest first."""
    return client.pages(repo_path(repo, "pulls", number, "reviews")).of(Review)


def open_review(
    client: Client, repo: str, number: int, sha: str, body: str, comments: tuple[ReviewComment, ...] = ()
) -> Review:
    """A review that only comments, at commit `sha`; look for its marker first."""
    event: Literal["COMMENT"] = "COMMENT"
    sent = {
        "commit_id": sha,
        "event": event,
        "body": sizes.fit_text(body, sizes.BODY, "review"),
        "comments": [_review_comment(comment) for comment in comments],
    }
    return Review.model_validate(client.post(repo_path(repo, "pulls", number, "reviews"), sent))


def _pulls(client: Client, repo: str, **params: Any) -> Listing[Pull]:
    return client.pages(repo_path(repo, "pulls"), sort="created", direction="desc", **params).of(Pull)


def _is_of(pull: Pull, repo: str, repository_id: int | None) -> bool:
    base = pull.base.repo
    if base is None:
        return False
    if repository_id is not None:
        return base.id == repository_id
    return (base.full_name or "").lower() == repo.lower()


def _texts(title: str, body: str) -> dict[str, str]:
    return {
        "title": sizes.fit_line(title, sizes.TITLE, "pull request title"),
        "body": sizes.fit_text(body, sizes.BODY, "pull request"),
    }


def _review_comment(comment: ReviewComment) -> dict[str, Any]:
    body = sizes.fit_text(comment.body, sizes.BODY, "review comment")
    sent: dict[str, Any] = {"path": comment.path, "line": comment.line, "side": "RIGHT", "body": body}
    if comment.start_line is not None and comment.start_line < comment.line:
        sent |= {"start_line": comment.start_line, "start_side": "RIGHT"}
    return sent
