"""What a call to GitHub can end with, beside an answer."""

from app.errors import Outcome, TransientError, UserError


class GitHubError(Exception):
    """An answer that the caller did not expect; `message` is GitHub's sentence, capped and not to be trusted."""

    def __init__(self, status: int, message: str, body: object = None) -> None:
        super().__init__(f"GitHub answered {status}: {message}")
        self.status = status
        self.message = message
        self.body = body


class ForeignCheck(GitHubError):
    """The check run belongs to another app, which alone may change it (F-C6)."""


class RateLimited(TransientError):
    """GitHub asks the whole installation to wait until `retry_at` (GH-10).

    `told` is False when GitHub named no time: then the caller counts and takes `unknown_limit_wait_s`.
    """

    def __init__(self, cause: str, retry_at: int, told: bool, outcome: Outcome = "not_done") -> None:
        super().__init__(cause, retry_at, outcome)
        self.told = told


class InstallationGone(UserError):
    """The installation is suspended or removed; no more tokens are minted for it (GH-8)."""


class RepositoryGone(UserError):
    """The repository is not, or not any more, among those of the installation."""


class PermissionMissing(UserError):
    """The installation lacks `permission`, written as `issues: write`; `settings_url` is where it can be accepted."""

    def __init__(self, permission: str, text: str, settings_url: str = "") -> None:
        super().__init__(text)
        self.permission = permission
        self.settings_url = settings_url


class IssuesDisabled(UserError):
    """The repository has no issues (F-I5)."""


class BranchNotUpdated(UserError):
    """GitHub cannot merge the base into the head: they conflict, or a rule forbids it."""


class ListCut(UserError):
    """A list was too long to read to its end, so "there is none" cannot be said of it (GH-37)."""
