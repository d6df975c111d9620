"""A small stage for tests: a shop with a test, a workflow that runs it, and an API client of the app."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from tests.github.auth import sign_jwt
from tests.github.core.state import Pull, Repository
from tests.github.local import LocalGitHub

WORKFLOW = """\
name: CI
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: python -m pytest -q
"""
SHOP: Mapping[str, str] = {
    ".github/workflows/ci.yml": WORKFLOW.replace("[push, pull_request]", "pull_request"),
    "cart.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "conftest.py": "",
}
BREAKS = {"cart.py": "def total(prices):\n    return 0\n"}


def shop(github: LocalGitHub, name: str = "acme/shop", **settings: Any) -> Repository:
    """A repository whose CI is green; ann may write."""
    repository = github.create_repo(name, SHOP, **settings)
    github.collaborator(repository, "ann", "write")
    return repository


def broken_pull(github: LocalGitHub, repository: Repository, branch: str = "feature") -> Pull:
    """ann's pull request that breaks the one test; its CI is queued."""
    github.push("ann", repository, branch, BREAKS, "Break the total")
    return github.open_pull("ann", repository, branch, title="Faster totals")


class Api:
    """httpx with the App's credentials: `app` speaks as the App, `of(repository)` as its installation."""

    def __init__(self, github: LocalGitHub) -> None:
        self.github = github
        self._clients: list[httpx.Client] = []

    def __enter__(self) -> "Api":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients:
            client.close()

    @property
    def app(self) -> httpx.Client:
        return self.client(self.jwt())

    def jwt(self, **claims: object) -> str:
        now = int(time.time())
        given = {"iat": now - 60, "exp": now + 540, "iss": str(self.github.app.id), **claims}
        return sign_jwt(self.github.app.pem, given)

    def token(self, repository: Repository, **permissions: str) -> str:
        """A token minted over the API, for this repository and these permissions (none: all that are granted)."""
        (installation,) = self.github.world.state.installations_of(repository)
        body: dict[str, Any] = {"repository_ids": [repository.id]}
        if permissions:
            body["permissions"] = permissions
        answer = self.app.post(f"/app/installations/{installation.id}/access_tokens", json=body)
        answer.raise_for_status()
        token: str = answer.json()["token"]
        return token

    def of(self, repository: Repository, **permissions: str) -> httpx.Client:
        """A client as the installation; paths are relative to the repository."""
        client = self.client(self.token(repository, **permissions))
        client.base_url = httpx.URL(f"{self.github.api_url}/repos/{repository.full_name}/")
        return client

    def client(self, credential: str | None) -> httpx.Client:
        headers = {"User-Agent": "stage/1", "X-GitHub-Api-Version": "2022-11-28"}
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        client = httpx.Client(base_url=self.github.api_url, headers=headers, trust_env=False, verify=False, timeout=30)
        self._clients.append(client)
        return client
