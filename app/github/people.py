"""Ask GitHub as a person, with the token of her sign-in: who she is, and which repositories she can read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.errors import TransientError
from app.github.paths import repo_path
from app.github.session import TIMEOUT, USER_AGENT
from app.settings import Settings
from app.tls import trust

MOST_PAGES = 20
PER_PAGE = 100


class SignedOut(Exception):
    """GitHub does not know this token any more."""


@dataclass(frozen=True)
class Grant:
    """A person's token, and how long it lives; None: until it is revoked."""

    token: str = field(repr=False)
    seconds: int | None


@dataclass(frozen=True)
class Person:
    id: int
    login: str


class People:
    """GitHub's answers to one server's people. Methods raise TransientError when GitHub does not say."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = httpx.Client(
            timeout=TIMEOUT, verify=trust(settings), headers={"User-Agent": USER_AGENT}, follow_redirects=False
        )

    def close(self) -> None:
        self._client.close()

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Grant | None:
        """The token for a code that GitHub gave a browser of ours; None for a code that it does not accept."""
        sent = {
            "client_id": self._settings.client_id,
            "client_secret": self._settings.client_secret.get_secret_value(),
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        }
        address = f"{self._settings.github.web_url.rstrip('/')}/login/oauth/access_token"
        answer = self._send("POST", address, {"Accept": "application/json"}, data=sent)
        found = _json(answer)
        token = found.get("access_token") if isinstance(found, dict) else None
        if answer.status_code != 200 or not isinstance(token, str) or not token:
            return None
        seconds = found.get("expires_in")
        return Grant(token, seconds if isinstance(seconds, int) else None)

    def who(self, token: str) -> Person:
        found = self._get(token, "/user")
        if not isinstance(found, dict) or not isinstance(found.get("id"), int):
            raise TransientError("GitHub did not say who this is")
        return Person(found["id"], str(found.get("login", "")))

    def reachable(self, token: str) -> frozenset[int]:
        """Ids of the repositories that both this person and the App reach (UX-P3)."""
        installations = [one["id"] for one in self._all(token, "/user/installations", "installations")]
        return frozenset(
            int(one["id"])
            for number in installations
            for one in self._all(token, f"/user/installations/{int(number)}/repositories", "repositories")
        )

    def can_read(self, token: str, full_name: str, repository_id: int) -> bool:
        """Whether this very repository can be read; a name that went to another repository does not count."""
        found = self._get(token, repo_path(full_name), absent=(301, 307, 403, 404, 451))
        return isinstance(found, dict) and found.get("id") == repository_id

    def _all(self, token: str, path: str, key: str) -> Iterator[Mapping[str, Any]]:
        for page in range(1, MOST_PAGES + 1):
            found = self._get(token, path, absent=(403, 404), page=page, per_page=PER_PAGE)
            entries = found.get(key) if isinstance(found, dict) else None
            yield from (one for one in entries or () if isinstance(one, dict) and isinstance(one.get("id"), int))
            if not entries or len(entries) < PER_PAGE:
                return

    def _get(self, token: str, path: str, absent: tuple[int, ...] = (), **params: int) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": self._settings.github.api_version,
        }
        answer = self._send("GET", self._settings.github.api_url.rstrip("/") + path, headers, params=params)
        if answer.status_code == 401:
            raise SignedOut
        if answer.status_code in absent and not _is_limit(answer):
            return None
        if answer.status_code != 200:
            raise TransientError(f"GitHub answered {answer.status_code}")
        return _json(answer)

    def _send(self, method: str, address: str, headers: Mapping[str, str], **more: Any) -> httpx.Response:
        try:
            return self._client.request(method, address, headers=dict(headers), **more)
        except httpx.HTTPError as error:
            raise TransientError(f"GitHub could not be reached: {type(error).__name__}") from error


def _is_limit(answer: httpx.Response) -> bool:
    """A 403 that speaks of limits says nothing about rights (F-R3)."""
    return "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None
