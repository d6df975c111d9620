"""The model gateway: an agent speaks to its provider through us and never holds the key (RN-42, SX-26)."""

import hmac
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.settings import ModelSettings, Upstream
from app.tls import authorities

BODY_BYTES = 32 * 1024 * 1024
ERROR_BYTES = 1024 * 1024
REQUESTS = 2000
TIMEOUT = httpx.Timeout(10, read=600)
HTTP_OK = 200

ROUTES: tuple[tuple[str, str, str], ...] = (
    ("POST", r"/v1/(chat/completions|responses)", "openai"),
    ("GET", r"/v1/models", "openai"),
    ("POST", r"/v1/messages(/count_tokens)?", "anthropic"),
    ("POST", r"/v1beta/models/[\w.-]+:(generateContent|streamGenerateContent|countTokens)", "gemini"),
)
KEY_HEADERS: Mapping[str, str] = {"openai": "authorization", "anthropic": "x-api-key", "gemini": "x-goog-api-key"}
ASKED = ("content-type", "accept", "anthropic-version", "anthropic-beta")
ANSWERED = ("content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id")


@dataclass
class Gateway:
    """One turn's way to the models: `token` is what its agent has instead of a key, `left` its budget of requests."""

    models: ModelSettings
    token: str
    left: int = REQUESTS
    transport: httpx.AsyncBaseTransport | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as an ASGI application."""
        if scope["type"] == "http":
            await (await self._answer(Request(scope, receive)))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path == "/":
            return Response()
        family = _family(request.method, request.url.path)
        if family is None:
            return _refused(404, "not_found_error", "this path is not one of a model")
        if not self._knows(request):
            return _refused(401, "authentication_error", "this is not the token of the turn")
        upstream: Upstream = getattr(self.models, family)
        if not upstream.url:
            name = f"REMEDY_MODELS__{family.upper()}__URL"
            return _refused(404, "not_found_error", f"no provider is configured here: set {name}")
        self.left -= 1
        if self.left < 0:
            return _refused(403, "permission_error", "the turn has used all its model requests")
        body = await _body(request)
        if body is None:
            return _refused(413, "request_too_large", f"a request may have {BODY_BYTES} bytes")
        return await self._forward(request, family, upstream, body)

    def _knows(self, request: Request) -> bool:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        given = [bearer, *(request.headers.get(name, "") for name in ("x-api-key", "x-goog-api-key"))]
        given.append(request.query_params.get("key", ""))
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in given)

    async def _forward(self, request: Request, family: str, upstream: Upstream, body: bytes) -> Response:
        key = upstream.key.get_secret_value()
        headers = {name: request.headers[name] for name in ASKED if name in request.headers}
        if key:
            headers[KEY_HEADERS[family]] = f"Bearer {key}" if family == "openai" else key
        query = httpx.QueryParams(str(request.query_params)).remove("key")
        client = httpx.AsyncClient(timeout=TIMEOUT, verify=authorities(), transport=self.transport, trust_env=False)
        url = f"{upstream.url.rstrip('/')}{request.url.path}"
        asked = client.build_request(request.method, url, params=query, headers=headers, content=body)
        try:
            answer = await client.send(asked, stream=True)
        except httpx.HTTPError as error:
            await client.aclose()
            return _refused(502, "api_error", f"the provider was not reached: {type(error).__name__}")
        told = {name: answer.headers[name] for name in ANSWERED if name in answer.headers}
        if answer.status_code != HTTP_OK:
            return Response(await _error(client, answer, key), answer.status_code, told)
        return StreamingResponse(_relay(client, answer), answer.status_code, told)


def _family(method: str, path: str) -> str | None:
    return next((family for verb, form, family in ROUTES if method == verb and re.fullmatch(form, path)), None)


async def _body(request: Request) -> bytes | None:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES:
            return None
    return bytes(body)


async def _relay(client: httpx.AsyncClient, answer: httpx.Response) -> AsyncIterator[bytes]:
    """The body as it comes; a provider that breaks off breaks off for the agent too."""
    try:
        async for chunk in answer.aiter_bytes():
            yield chunk
    finally:
        await answer.aclose()
        await client.aclose()


async def _error(client: httpx.AsyncClient, answer: httpx.Response, key: str) -> bytes:
    """An error's text, without the key, which some providers quote."""
    body = bytearray()
    try:
        async for chunk in answer.aiter_bytes():
            body += chunk
            if len(body) > ERROR_BYTES:
                break
    except httpx.HTTPError:
        body += b"(the rest was lost)"
    await answer.aclose()
    await client.aclose()
    return bytes(body).replace(key.encode(), b"[key]") if key else bytes(body)


def _refused(status: int, kind: str, message: str) -> Response:
    """An error in the one form that all families of clients read."""
    return JSONResponse({"type": "error", "error": {"type": kind, "message": message, "code": status}}, status)
