"""Ask GitHub who may command; every error means no (F-U2, F-U3, S29)."""

from typing import Literal

from app.errors import TransientError, UserError
from app.events.payloads.parts import Part, Text
from app.github.client import Client
from app.github.errors import GitHubError
from app.github.paths import repo_path

Permission = Literal["admin", "write", "read", "none"]

_LEVELS: dict[str, Permission] = {"admin": "admin", "write": "write", "read": "read"}


class _Answer(Part):
    permission: Text = ""


def permission_of(client: Client, repo: str, login: str) -> Permission:
    """What `login` may do in the repository, asked now. Maintain counts as write, triage as read (F-U1)."""
    try:
        found = client.get(repo_path(repo, "collaborators", login, "permission"))
    except (GitHubError, UserError, TransientError, ValueError):
        return "none"
    return _LEVELS.get(_Answer.model_validate(found).permission, "none") if isinstance(found, dict) else "none"
