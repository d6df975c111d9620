"""Ask GitHub on behalf of one installation: tokens, retries, paging, and errors that people can act on."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import httpx

from app.errors import TransientError, UserError
from app.events.payloads.parts import Installation, to_millis
from app.github.calls import Call, Listing, Pace
from app.github.denied import granted, missing, refusal, ungranted
from app.github.errors import GitHubError, InstallationGone, IssuesDisabled, RateLimited, RepositoryGone
from app.github.paths import path
from app.github.retry import Answer, Attempt, GiveUp, Wait, judge
from app.github.session import Session
from app.github.tokens import ALL_OR_NOTHING, PERMISSIONS, Purpose, Token, token_body
from app.settings import Settings

PER_PAGE = 100
MAX_PAGES = 50
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


@dataclass
class _Shared:
    """What all views of one client have in common."""

    session: Session
    pace: Pace
    tokens: dict[tuple[Purpose, int | None], Token] = field(default_factory=dict)
    gone: InstallationGone | None = None
    remaining: int | None = None
    writes: int = 0


class Client:
    """One installation's way to the API, over one kept connection: `with Client(settings, 7) as github: ...`.

    Methods raise UserError (an owner can act), TransientError (later; `outcome` tells what a write may have done),
    RateLimited (the whole installation waits) or GitHubError (an answer that the caller did not expect). Without an
    installation only paths below `/app` can be asked. A new client reads over all repositories of the installation;
    `acting` gives a view with another scope. `at_end` is told the calls that are left, when GitHub named them.
    """

    def __init__(
        self,
        settings: Settings,
        installation_id: int | None,
        *,
        transport: httpx.BaseTransport | None = None,
        pace: Pace | None = None,
        at_end: Callable[[int], object] | None = None,
    ) -> None:
        self.settings = settings
        self.installation_id = installation_id
        self._scope: tuple[Purpose, int | None] = (Purpose.SWEEP, None)
        self._shared = _Shared(Session(settings, transport), pace or Pace())
        self._at_end = at_end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._shared.session.close()
        if self._at_end is not None and self.remaining is not None:
            self._at_end(self.remaining)

    def acting(self, purpose: Purpose, repository_id: int | None) -> "Client":
        """A view over the same connection whose token is for this purpose and repository alone (GH-20).

        Without a repository, which only `SWEEP` may do, it reads all of the installation.
        """
        view = Client.__new__(type(self))
        view.settings, view.installation_id = self.settings, self.installation_id
        view._scope, view._shared, view._at_end = (purpose, repository_id), self._shared, None
        return view

    @property
    def remaining(self) -> int | None:
        """Calls left in this hour as GitHub last said, or None when it names no limit (F-R9)."""
        return self._shared.remaining

    @property
    def writes(self) -> int:
        """How many requests that change something were sent, tokens apart (GH-11)."""
        return self._shared.writes

    @property
    def repository_id(self) -> int | None:
        """The one repository of this view, or None when it sees all of the installation."""
        return self._scope[1]

    @property
    def pace(self) -> Pace:
        return self._shared.pace

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of a read that must succeed."""
        return self._call(Call("GET", path, params, repeatable=True)).json

    def find(self, path: str, **params: Any) -> Any | None:
        """As `get`, but None for 404: not found, or no access (F-R7)."""
        try:
            return self.get(path, **params)
        except GitHubError as error:
            if error.status == 404:
                return None
            raise

    def pages(
        self, path: str, key: str | None = None, until: Callable[[Any], bool] | None = None, **params: Any
    ) -> Listing[Any]:
        """All entries along the `Link` header, at most 50 pages of 100 (GH-37).

        `key` holds them in each page; the list ends before the first entry for which `until` is true.
        """
        entries: list[Any] = []
        query: Mapping[str, Any] = {"per_page": PER_PAGE, **params}
        for _ in range(MAX_PAGES):
            answer = self._call(Call("GET", path, query, repeatable=True))
            page = answer.json.get(key) if key and isinstance(answer.json, dict) else answer.json
            for entry in page if isinstance(page, list) else []:
                if until is not None and until(entry):
                    return Listing(tuple(entries))
                entries.append(entry)
            following = _NEXT.search(answer.headers.get("link", ""))
            if not following:
                return Listing(tuple(entries))
            # Only the query is taken: our token goes to no address that an answer names.
            query = dict(httpx.URL(following.group(1)).params)
        return Listing(tuple(entries), cut=True)

    def post(self, path: str, json: object = None, *, repeatable: bool = False) -> Any:
        """Sent once; `TransientError(outcome="unknown")` when nobody knows whether it arrived (GH-5)."""
        return self._call(Call("POST", path, body=json, repeatable=repeatable)).json

    def patch(self, path: str, json: object) -> Any:
        """As `post`: the outbox looks before it repeats."""
        return self._call(Call("PATCH", path, body=json)).json

    def put(self, path: str, json: object = None) -> Any:
        """As `post`."""
        return self._call(Call("PUT", path, body=json)).json

    def delete(self, path: str) -> None:
        """As `post`; what is not there counts as deleted."""
        try:
            self._call(Call("DELETE", path))
        except GitHubError as error:
            if error.status != 404:
                raise

    def link(self, path: str) -> str:
        """The short-lived address of a download, which is for one use within its minute (F-A3)."""
        answer = self._call(Call("GET", path, repeatable=True, follow=False))
        if answer.status not in (301, 302, 303, 307, 308) or not answer.headers.get("location"):
            raise GitHubError(answer.status, "GitHub named no address to download from")
        return answer.headers["location"]

    def plain(self) -> httpx.Client:
        """A client without any credential, for the address that `link` named (GH-26)."""
        return self._shared.session.plain()

    def token(self, purpose: Purpose, repository_id: int | None) -> str:
        """An installation token for this purpose, minted now or at least 5 minutes from its end (GH-19)."""
        shared, scope = self._shared, (purpose, repository_id)
        if shared.gone is not None:
            raise shared.gone
        token = shared.tokens.get(scope)
        if token is None or not token.lives(shared.pace.now_ms()):
            token = shared.tokens[scope] = self._mint(purpose, repository_id)
        return token.value

    def _mint(self, purpose: Purpose, repository_id: int | None) -> Token:
        if self.installation_id is None:
            raise ValueError("a client without an installation has no token")
        body = token_body(purpose, repository_id)
        try:
            answer = self._ask_token(body)
        except GitHubError as error:
            if error.status == 404:
                raise self._gone() from error
            if error.status != 422:
                raise
            answer = self._ask_token(body | {"permissions": self._granted_part(purpose)})
        token = answer.json if isinstance(answer.json, dict) else {}
        if not isinstance(value := token.get("token"), str):
            raise GitHubError(answer.status, "GitHub sent no token")
        return Token(value, to_millis(token.get("expires_at")) or 0)

    def _ask_token(self, body: dict[str, object]) -> Answer:
        where = path("app", "installations", self.installation_id or 0, "access_tokens")
        return self._call(Call("POST", where, body=body, repeatable=True))

    def _granted_part(self, purpose: Purpose) -> dict[str, str]:
        """What of a purpose the owner granted, so that one missing permission stops only what needs it (W95).

        Raises PermissionMissing where nothing would be left to do, RepositoryGone where permissions are not the reason.
        """
        facts = self._installation()
        lacking = ungranted(PERMISSIONS[purpose], facts.permissions or {})
        if not lacking:
            raise RepositoryGone("GitHub gives Remedy no access to this repository: it is not in the installation.")
        part = granted(PERMISSIONS[purpose], facts.permissions or {})
        if not part or purpose in ALL_OR_NOTHING:
            raise missing(lacking, facts.html_url or "")
        return part

    def _call(self, call: Call) -> Answer:
        """The whole life of one call: authorise, send, wait in place, renew a refused token once (github.md B2)."""
        shared = self._shared
        tries, waited_s, renewed = 0, 0.0, False
        while True:
            shared.writes += call.method != "GET" and not call.by_app
            result = shared.session.send(
                call.method,
                call.path,
                headers=self._headers(call),
                params=call.params,
                body=call.body,
                # httpx would turn a redirected POST into a GET: a write goes to the new address as it is (GH-32).
                follow=call.follow and call.method == "GET",
            )
            attempt = Attempt(
                call.repeatable or call.method == "GET", tries, waited_s, shared.pace.now_ms(), shared.pace.chance()
            )
            verdict = judge(attempt, result)
            if isinstance(verdict, Wait):
                shared.pace.sleep(verdict.seconds)
                tries, waited_s = tries + 1, waited_s + verdict.seconds
            elif isinstance(verdict, GiveUp):
                raise _later(verdict)
            elif verdict.status == 401 and not renewed:
                renewed = True
                self._forget(call)
            elif (moved := self._moved(verdict)) is not None and not call.moved:
                call = replace(call, path=moved, moved=True)
            else:
                return self._checked(call, verdict)

    def _moved(self, answer: Answer) -> str | None:
        """The new path of a renamed or transferred repository; a link to a store is no move."""
        base = self.settings.github.api_url.rstrip("/")
        where = answer.headers.get("location", "")
        if answer.status not in (301, 307, 308) or not where.startswith(f"{base}/repositories/"):
            return None
        return where.removeprefix(base)

    def _headers(self, call: Call) -> dict[str, str]:
        if not call.by_app:
            return {"Authorization": f"Bearer {self.token(*self._scope)}"}
        headers = {"Authorization": f"Bearer {self._shared.session.jwt()}"}
        if call.path.endswith("/access_tokens") and self.settings.github.token_format:
            headers["X-GitHub-Stateless-S2S-Token"] = self.settings.github.token_format
        return headers

    def _forget(self, call: Call) -> None:
        if call.by_app:
            self._shared.session.forget_jwt()
        else:
            self._shared.tokens.pop(self._scope, None)

    def _checked(self, call: Call, answer: Answer) -> Answer:
        if not call.by_app and (remaining := answer.headers.get("x-ratelimit-remaining", "")).isdigit():
            self._shared.remaining = int(remaining)
        if answer.status < (300 if call.follow else 400):
            return answer
        if answer.status == 401:
            if call.by_app:
                raise UserError(
                    "GitHub refuses the app's key. Check REMEDY_APP_ID, the private key and the server's clock."
                )
            raise self._gone()
        if answer.status == 403:
            settings_url = "" if call.by_app else self._installation().html_url or ""
            error = refusal(call.method, call.path, answer, settings_url)
            if isinstance(error, InstallationGone):
                self._shared.gone = error
            raise error
        if answer.status == 410 and call.path.endswith("/issues"):
            raise IssuesDisabled("Issues are switched off in this repository, so there is none for these failures.")
        raise GitHubError(answer.status, answer.message, answer.json)

    def _gone(self) -> InstallationGone:
        gone = InstallationGone(
            f"GitHub knows no active installation {self.installation_id}: it is suspended or was removed. "
            "An owner can install Remedy again."
        )
        self._shared.gone = gone
        return gone

    def _installation(self) -> Installation:
        """What GitHub knows of the installation; nothing when it does not say, as this is an aside of an error."""
        try:
            found = self.get(path("app", "installations", self.installation_id or 0))
        except (UserError, TransientError, GitHubError):
            found = None
        return Installation.model_validate(found if found is not None else {"id": self.installation_id or 0})


def _later(verdict: GiveUp) -> TransientError:
    if verdict.limited and verdict.retry_at is not None:
        return RateLimited(verdict.cause, verdict.retry_at, verdict.told, verdict.outcome)
    return TransientError(verdict.cause, verdict.retry_at, verdict.outcome)
