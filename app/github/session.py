"""One open connection to GitHub's API: sends a request and says what came of it, without any opinion (GH-1, GH-2)."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import httpx

from app import __version__
from app.errors import UserError
from app.github.retry import Answer, Lost
from app.settings import Settings
from app.tls import trust

if TYPE_CHECKING:
    from githubkit import GitHub

TIMEOUT = httpx.Timeout(15, connect=5)
USER_AGENT = f"remedy/{__version__}"
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


class Session:
    """Entered githubkit clients of one process; `transport` replaces the network in tests.

    Authorization is the caller's: a header per request, because one connection serves several scopes.
    """

    def __init__(self, settings: Settings, transport: httpx.BaseTransport | None = None) -> None:
        self._settings = settings
        self._transport = transport
        self._open = ExitStack()
        self._clients: dict[bool, GitHub[Any]] = {}
        # Never entered: it only lends its cache to the signing of JWTs.
        self._signer: GitHub[Any] | None = None
        self._seen: httpx.Response | None = None

    def close(self) -> None:
        """Give the connections back."""
        self._clients.clear()
        self._open.close()

    def jwt(self) -> str:
        """The app's signed token: `iat` 60 s ago, `exp` in 9 min, cached 8 min (F-T1); UserError without a key."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from githubkit.auth.app import AppAuth
        from jwt import PyJWTError

        if self._signer is None:
            self._signer = self._build(follow=True)
        issuer = self._settings.github.client_id or str(self._settings.app_id)
        try:
            return AppAuth(self._signer, issuer, _key(self._settings.pem())).get_jwt()
        except (ValueError, TypeError, UnsupportedAlgorithm, PyJWTError) as error:
            raise UserError("The app's private key cannot be read: it is not an RSA key in PEM form.") from error

    def forget_jwt(self) -> None:
        """The next `jwt` is signed anew."""
        self._signer = None

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        params: Mapping[str, Any],
        body: object,
        follow: bool,
    ) -> Answer | Lost:
        """One request; with `follow`, a repository that moved is found where it is now (301, 307)."""
        from githubkit.exception import GitHubException

        sent = {"X-GitHub-Api-Version": self._settings.github.api_version, **headers}
        self._seen = None
        try:
            client = self._client(follow)
            response = client.request(method, url, params=dict(params), json=body, headers=sent).raw_response
        except GitHubException as error:
            return _failed(error)
        except ValueError:
            # githubkit reads Retry-After as a number and stumbles over anything else; the answer itself is whole.
            if self._seen is None:
                raise
            return _answer(self._seen)
        if response.request.method != method:
            # A redirect that turns a POST into a GET would read as success.
            response = response.history[0]
        return _answer(response)

    def plain(self) -> httpx.Client:
        """A client of its own without credentials that follows nothing."""
        return httpx.Client(
            timeout=TIMEOUT,
            verify=trust(self._settings),
            headers={"User-Agent": USER_AGENT},
            follow_redirects=False,
            transport=self._transport,
        )

    def _client(self, follow: bool) -> "GitHub[Any]":
        if follow not in self._clients:
            self._clients[follow] = self._open.enter_context(self._build(follow))
        return self._clients[follow]

    def _see(self, response: httpx.Response) -> None:
        self._seen = response

    def _build(self, follow: bool) -> "GitHub[Any]":
        from githubkit import GitHub
        from githubkit.cache import MemCacheStrategy

        return GitHub(
            base_url=self._settings.github.api_url,
            user_agent=USER_AGENT,
            follow_redirects=follow,
            timeout=TIMEOUT,
            ssl_verify=trust(self._settings),
            transport=self._transport,
            # The library's own cache is one for the whole process and knows keys by app id only.
            cache_strategy=MemCacheStrategy(),
            http_cache=False,
            auto_retry=False,
            event_hooks={"response": [self._see]},
        )


@lru_cache(maxsize=2)
def _key(pem: str) -> Any:
    """The parsed key, checked once per process: OpenSSL takes 25 ms to check one, and every job asks for a token.

    githubkit hands to PyJWT what it is given, and PyJWT takes a parsed key as well as a text.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(pem.encode(), password=None)


def _failed(error: Exception) -> Answer | Lost:
    """What a githubkit error holds; the true error sits in `.exc`, sometimes twice deep (GH-38)."""
    from githubkit.exception import RequestError, RequestFailed

    while isinstance(error, RequestError):
        if isinstance(error, RequestFailed):
            return _answer(error.response.raw_response)
        error = error.exc
    cause = f"GitHub could not be reached: {type(error).__name__}"
    if isinstance(error, _NOT_SENT):
        return Lost("not_connected", cause)
    if isinstance(error, httpx.HTTPError):
        return Lost("no_answer", f"GitHub did not answer: {type(error).__name__}")
    raise error


def _answer(response: httpx.Response) -> Answer | Lost:
    headers = {name.lower(): value for name, value in response.headers.items()}
    if not response.content:
        return Answer(response.status_code, headers)
    kind = headers.get("content-type", "")
    if "json" in kind:
        try:
            return Answer(response.status_code, headers, json.loads(response.content), response.text[:1000])
        except ValueError:
            if response.is_success:
                return Lost("no_answer", "GitHub's answer was cut")
    return Answer(response.status_code, headers, None, response.text[:1000])
