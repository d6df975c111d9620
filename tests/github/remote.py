"""The verbs of a local GitHub that runs as another process."""

from collections.abc import Callable
from typing import Any

import httpx


class RemoteRefused(Exception):
    """The verb was used wrongly; the text is the other side's sentence."""


class Remote:
    """`Remote(url).push(user="ann", repo="acme/shop", ...)`: every verb by name, with named, plain arguments."""

    def __init__(self, url: str, timeout_s: float = 300) -> None:
        self._client = httpx.Client(base_url=url, timeout=timeout_s, trust_env=False, verify=False)  # plain HTTP

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            answer = self._client.post(f"/_double/{verb}", json=given)
            if answer.status_code != 200:
                raise RemoteRefused(answer.json()["error"])
            return answer.json()

        return call

    def close(self) -> None:
        self._client.close()
