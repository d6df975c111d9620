"""The HTTP calls of an OpenCode server: one request, one reply or one RunnerFailure that says what went wrong."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.runners.codes import Code, failure, text_of
from app.runners.runner import EVENT_BYTES
from app.tls import authorities

DETAIL = 500
CODES: Mapping[int, Code] = {
    401: Code.AUTH_REQUIRED,
    403: Code.AUTH_REQUIRED,
    404: Code.SESSION_LOST,
    429: Code.RATE_LIMITED,
}
"""Every other status is `runner.protocol`: the reason stands in the server's log only."""

DIRECTORY = "x-opencode-directory"


@dataclass(frozen=True)
class Access:
    """Where a server is and how it is reached; `transport` is handed in by tests and by a server in a sandbox (B20)."""

    url: str
    password: str = field(repr=False, default="")
    username: str = "opencode"
    timeout_s: float = 30
    transport: httpx.AsyncBaseTransport | None = None


class Client:
    """Basic auth on every call; `directory`, the workspace as the server sees it, on all but health and doc (B7)."""

    def __init__(self, access: Access, directory: str) -> None:
        if not directory.startswith("/") or not directory.isascii():
            raise ValueError(f"not a workspace: {directory}")
        self._access = access
        self._directory = {DIRECTORY: directory}
        self._http = httpx.AsyncClient(
            base_url=access.url,
            auth=(access.username, access.password),
            timeout=access.timeout_s,
            verify=authorities(),
            transport=access.transport,
            trust_env=False,
        )

    async def health(self, wait_s: float | None = None) -> Any:
        """GET /global/health. On a connection of its own: one that the server never answers must not be used again."""
        headers = {"connection": "close"}
        return await self._call("GET", "/global/health", headers=headers, timeout=wait_s or self._access.timeout_s)

    async def doc(self) -> Any:
        """GET /doc, the OpenAPI document."""
        return await self._call("GET", "/doc")

    async def providers(self) -> Any:
        """GET /provider; holds the provider's key, so it is never logged or quoted (RN-54)."""
        return await self._call("GET", "/provider", headers=self._directory)

    async def create(self, title: str) -> str:
        """POST /session; the id of the new session."""
        made = await self._object("POST", "/session", json={"title": title})
        session_id = made.get("id")
        if not isinstance(session_id, str) or not session_id:
            raise failure(Code.PROTOCOL, "the server did not return a session ID")
        return session_id

    async def session(self, session_id: str) -> Mapping[str, Any]:
        """GET /session/{id}: its folder and the sums of its cost and tokens."""
        return await self._object("GET", f"/session/{session_id}")

    async def prompt(self, session_id: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """POST /session/{id}/message: the last assistant message of the turn; takes as long as the turn (B11)."""
        return await self._object("POST", f"/session/{session_id}/message", json=body, timeout=None)

    async def abort(self, session_id: str) -> None:
        """POST /session/{id}/abort; `true` for idle and unknown sessions too, so it proves nothing."""
        await self._call("POST", f"/session/{session_id}/abort", headers=self._directory)

    async def permit(self, permission_id: str, allow: bool, why: str) -> None:
        """POST /permission/{id}/reply; a reject with a message lets the turn go on."""
        body = {"reply": "once"} if allow else {"reply": "reject", "message": why}
        await self._call("POST", f"/permission/{permission_id}/reply", headers=self._directory, json=body)

    async def refuse_question(self, question_id: str) -> None:
        """POST /question/{id}/reject: nobody answers while an agent works (RN-58)."""
        await self._call("POST", f"/question/{question_id}/reject", headers=self._directory)

    async def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """GET /event: the events of this workspace until the connection ends; raises httpx.HTTPError."""
        timeout = httpx.Timeout(self._access.timeout_s, read=None)
        async with self._http.stream("GET", "/event", headers=self._directory, timeout=timeout) as response:
            response.raise_for_status()
            async for line in lines(response.aiter_bytes()):
                if line.startswith(b"data:") and (event := _event(line[5:])):
                    yield event

    async def close(self) -> None:
        await self._http.aclose()

    async def _object(self, method: str, path: str, **more: Any) -> Mapping[str, Any]:
        reply = await self._call(method, path, headers=self._directory, **more)
        if not isinstance(reply, dict):
            raise failure(Code.PROTOCOL, f"the server returned an invalid response for {method} {path}")
        return reply

    async def _call(self, method: str, path: str, **more: Any) -> Any:
        """The parsed reply; texts of errors are those of B9."""
        what = f"request failed: {method} {path}"
        try:
            response = await self._http.request(method, path, **more)
        except httpx.TimeoutException as error:
            raise failure(Code.TIMEOUT, f"{method} {path} exceeded {self._access.timeout_s:g} seconds") from error
        except httpx.HTTPError as error:
            raise failure(Code.CRASHED, f"{what}: {text_of(error)}") from error
        if response.is_error:
            detail = "" if path == "/provider" else response.text[:DETAIL]
            raise failure(CODES.get(response.status_code, Code.PROTOCOL), f"{what}: {detail}", detail)
        try:
            return response.json()
        except ValueError as error:
            raise failure(Code.PROTOCOL, what) from error


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines of a stream; one above the cap of an event is left out, whatever its size (RN-12)."""
    partial, skipping = bytearray(), False
    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        partial += first
        for piece in rest:
            if not skipping:
                yield bytes(partial)
            partial, skipping = bytearray(piece), False
        if len(partial) > EVENT_BYTES:
            partial, skipping = bytearray(), True


def _event(data: bytes) -> Mapping[str, Any] | None:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return None
    known = isinstance(event, dict) and isinstance(event.get("type"), str)
    return event if known and isinstance(event.get("properties"), dict) else None
