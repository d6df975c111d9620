"""Turn GitHub's 403 into a sentence that names the missing permission and its cure (GH-22, GH-24)."""

import re
from collections.abc import Mapping

from app.errors import UserError
from app.github.errors import ForeignCheck, GitHubError, InstallationGone, PermissionMissing
from app.github.retry import Answer

NOT_ACCESSIBLE = "Resource not accessible by integration"

# Method and path below /repos/{owner}/{name} -> the permission that GitHub asks for; the first match counts.
_NEEDS = (
    ("GET", r"/(check-runs|check-suites)\b", "checks: read"),
    ("GET", r"/commits/[^/]+/check-(runs|suites)", "checks: read"),
    ("POST|PATCH", r"/(check-runs|check-suites)\b", "checks: write"),
    ("GET", r"/actions/", "actions: read"),
    ("POST", r"/actions/", "actions: write"),
    ("GET", r"/commits/[^/]+/pulls", "pull_requests: read"),
    ("GET", r"/pulls\b", "pull_requests: read"),
    ("POST|PATCH|PUT|DELETE", r"/pulls\b", "pull_requests: write"),
    ("GET", r"/(issues|labels)\b", "issues: read"),
    ("POST|PATCH|PUT|DELETE", r"/(issues|labels)\b", "issues: write"),
    ("GET", r"/commits/[^/]+/status$", "statuses: read"),
    ("GET", r"/(contents|branches|commits|git|compare)\b", "contents: read"),
    ("POST|PATCH|PUT|DELETE", r"/(contents|git)\b", "contents: write"),
    ("GET", r"/collaborators/", "metadata: read"),
    ("GET", r"", "metadata: read"),
)
_LEVELS = {"read": 1, "write": 2, "admin": 3}
_REPOSITORY = re.compile(r"^/repos/[^/]+/[^/]+(?=/|$)")

# Wording of the last three is not verified (GH-24): an unknown 403 shows GitHub's own sentence.
_OTHER_REFUSALS = (
    (r"suspended", "Remedy's installation is suspended. An owner can lift that in the installation's settings."),
    (r"archived", "The repository is archived: GitHub takes no changes to it."),
    (r"IP allow ?list", "The organisation's IP allow list refuses Remedy. An owner can add the server's address."),
    (r"SAML|SSO", "The organisation's single sign-on policy refuses Remedy. An owner can allow the app."),
)


def permission_for(method: str, path: str) -> str | None:
    """The permission that a call needs by our own table, as `issues: write`; None for a call outside it."""
    rest, found = _REPOSITORY.subn("", path)
    if not found:
        return None
    for methods, pattern, permission in _NEEDS:
        if method in methods.split("|") and re.match(pattern, rest):
            return permission
    return None


def accepted_permissions(header: str) -> str:
    """`X-Accepted-GitHub-Permissions` as `issues: write`; commas mean "and", semicolons "or"."""
    alternatives = (
        " and ".join(part.strip().replace("=", ": ") for part in alternative.split(",") if part.strip())
        for alternative in header[:500].split(";")
    )
    return ", or ".join(text for text in alternatives if text)


def ungranted(asked: Mapping[str, str], granted: Mapping[str, object]) -> str:
    """What of `asked` the installation does not grant, as `issues: write and checks: read`."""
    lacking = (
        f"{name}: {level}" for name, level in asked.items() if _LEVELS[level] > _LEVELS.get(str(granted.get(name)), 0)
    )
    return " and ".join(lacking)


def granted(asked: Mapping[str, str], held: Mapping[str, object]) -> dict[str, str]:
    """What of `asked` the installation grants, at the level that it grants."""
    part = {}
    for name, level in asked.items():
        known = str(held.get(name))
        if known in _LEVELS:
            part[name] = level if _LEVELS[level] <= _LEVELS[known] else known
    return part


def refusal(method: str, path: str, answer: Answer, settings_url: str) -> Exception:
    """The error for a 403; `settings_url` is where an owner accepts permissions, empty when nobody knows."""
    message = answer.message
    if NOT_ACCESSIBLE.lower() in message.lower():
        named = accepted_permissions(answer.headers.get("x-accepted-github-permissions", ""))
        return missing(named or permission_for(method, path) or f"the permission for {method} {path}", settings_url)
    if "Invalid app_id" in message:
        return ForeignCheck(403, message, answer.json)
    for pattern, text in _OTHER_REFUSALS:
        if re.search(pattern, message, re.IGNORECASE):
            return InstallationGone(text) if pattern == "suspended" else UserError(text)
    return GitHubError(403, message, answer.json)


def missing(permission: str, settings_url: str) -> PermissionMissing:
    """The error for a permission that was not granted, with where it can be."""
    where = f"at {settings_url}" if settings_url else "in the installation's settings"
    text = f"Remedy lacks `{permission}` on this repository. An owner can accept it {where}."
    return PermissionMissing(permission, text, settings_url)
