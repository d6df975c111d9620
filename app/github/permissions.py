"""Ask GitHub who may command; every error means no (F-U2, F-U3, S29)."""

from typing import Literal

from app.errors import TransientError, UserError
from app.events.payloads.parts import Part, Text, User
from app.github.client import Client
from app.github.errors import GitHubError
from app.github.paths import repo_path

Permission = Literal["admin", "write", "read", "none"]

_LEVELS: dict[str, Permission] = {"admin": "admin", "write": "write", "read": "read"}


class Standing(Part):
    """`permission` decides; `role_name` is the finer word, also a role of the organisation's own making."""

    permission: Text = ""
    role_name: Text = ""
    user: User | None = None


def standing_of(client: Client, repo: str, login: str) -> Standing:
    """How `login` stands to the repository, asked now; an empty one, which may nothing, after any error."""
    try:
        found = client.get(repo_path(repo, "collaborators", login, "permission"))
    except (GitHubError, UserError, TransientError, ValueError):
        return Standing()
    return Standing.model_validate(found) if isinstance(found, dict) else Standing()


def permission_of(client: Client, repo: str, login: str) -> Permission:
    """What `login` may do in the repository, asked now. Maintain counts as write, triage as read (F-U1)."""
    return _LEVELS.get(standing_of(client, repo, login).permission, "none")
