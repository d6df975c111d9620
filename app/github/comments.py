"""Read, write and react to comments in the thread of an issue or pull request."""

from typing import Literal

from app.events.payloads.parts import App, Millis, Part, Text, User
from app.github import sizes
from app.github.calls import Listing
from app.github.client import Client
from app.github.errors import ListCut
from app.github.paths import repo_path

Reaction = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]
Place = Literal["issue", "review"]
"""Where a comment stands: in the thread, or at a line of the diff."""

_FOLDER: dict[Place, str] = {"issue": "issues", "review": "pulls"}


class Comment(Part):
    id: int
    body: Text = ""
    user: User | None = None
    html_url: str | None = None
    created_at: Millis = None
    updated_at: Millis = None
    performed_via_github_app: App | None = None


class _LineComment(Part):
    path: str
    commit_id: str


class _Reaction(Part):
    id: int


def find_comment(client: Client, repo: str, comment_id: int) -> Comment | None:
    """None when it was deleted (OB-10)."""
    found = client.find(repo_path(repo, "issues", "comments", comment_id))
    return Comment.model_validate(found) if found is not None else None


def find_our_comments(client: Client, repo: str, number: int, app_id: int, marker: str) -> Listing[Comment]:
    """Comments that our app wrote and that begin with `marker`, oldest first (GH-15).

    A marker in somebody else's comment is ignored (S16). Raises ListCut when none was found in a cut list.
    """
    found = client.pages(repo_path(repo, "issues", number, "comments")).of(Comment)
    ours = sorted((comment for comment in found if _is_ours(comment, app_id, marker)), key=lambda item: item.id)
    if not ours and found.cut:
        raise ListCut(f"#{number} has too many comments to find Remedy's own among them.")
    return Listing(tuple(ours), found.cut)


def find_our_comment(client: Client, repo: str, number: int, app_id: int, marker: str) -> Comment | None:
    """The oldest of `find_our_comments`, which is the one to edit (GH-16)."""
    return next(iter(find_our_comments(client, repo, number, app_id, marker)), None)


def open_comment(client: Client, repo: str, number: int, body: str) -> Comment:
    text = sizes.fit_text(body, sizes.BODY, "comment")
    return Comment.model_validate(client.post(repo_path(repo, "issues", number, "comments"), {"body": text}))


def update_comment(client: Client, repo: str, comment_id: int, body: str) -> Comment:
    text = sizes.fit_text(body, sizes.BODY, "comment")
    return Comment.model_validate(client.patch(repo_path(repo, "issues", "comments", comment_id), {"body": text}))


def open_review_reply(client: Client, repo: str, number: int, comment_id: int, body: str) -> Comment:
    """Answer a comment at a line of the diff.

    GitHub does not open the reply operation itself to apps; a new comment with `in_reply_to` is (F-I10). That one wants
    the place of the first comment once more.
    """
    first = _LineComment.model_validate(client.get(repo_path(repo, "pulls", "comments", comment_id)))
    sent = {
        "body": sizes.fit_text(body, sizes.BODY, "review reply"),
        "commit_id": first.commit_id,
        "path": first.path,
        "in_reply_to": comment_id,
    }
    return Comment.model_validate(client.post(repo_path(repo, "pulls", number, "comments"), sent))


def add_reaction(client: Client, repo: str, comment_id: int, content: Reaction, place: Place = "issue") -> int:
    """The reaction's id. Repeatable: GitHub answers with the one that is there (F-I4)."""
    where = repo_path(repo, _FOLDER[place], "comments", comment_id, "reactions")
    return _Reaction.model_validate(client.post(where, {"content": content}, repeatable=True)).id


def remove_own_reaction(client: Client, repo: str, comment_id: int, content: Reaction, place: Place = "issue") -> None:
    """Take our reaction back; asking for it again is the surest way to its id."""
    reaction_id = add_reaction(client, repo, comment_id, content, place)
    client.delete(repo_path(repo, _FOLDER[place], "comments", comment_id, "reactions", reaction_id))


def _is_ours(comment: Comment, app_id: int, marker: str) -> bool:
    app = comment.performed_via_github_app
    return app is not None and app.id == app_id and comment.body.startswith(marker)
