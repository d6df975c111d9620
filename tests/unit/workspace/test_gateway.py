"""The model gateway: right provider, right key, nothing else reached, and no key goes inside (SX-26, RN-42)."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from app.settings import ModelSettings
from app.workspace.gateway import BODY_BYTES, Gateway

TOKEN = "token-of-the-turn"
KEYS = {"openai": "key-openai-canary", "anthropic": "key-anthropic-canary", "gemini": "key-gemini-canary"}
MODELS = ModelSettings.model_validate(
    {name: {"url": f"https://{name}.example/", "key": key} for name, key in KEYS.items()}
)
Answer = Callable[[httpx.Request], httpx.Response]


class Provider:
    """Keeps what it was asked, and answers."""

    def __init__(self, answer: Answer = lambda request: httpx.Response(200, json={"ok": True})) -> None:
        self.asked: list[httpx.Request] = []
        self._answer = answer

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self._answer(request)


def ask(
    provider: Provider, path: str, method: str = "POST", models: ModelSettings = MODELS, **more: Any
) -> httpx.Response:
    gateway = Gateway(models, TOKEN, transport=httpx.MockTransport(provider), left=more.pop("left", 10))
    more.setdefault("headers", {"Authorization": f"Bearer {TOKEN}"})

    async def scenario() -> httpx.Response:
        transport = httpx.ASGITransport(gateway)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            return await client.request(method, path, **more)

    return asyncio.run(scenario())


@pytest.mark.parametrize(
    "method, path, family, header",
    [
        ("POST", "/v1/chat/completions", "openai", "authorization"),
        ("POST", "/v1/responses", "openai", "authorization"),
        ("GET", "/v1/models", "openai", "authorization"),
        ("POST", "/v1/messages?beta=true", "anthropic", "x-api-key"),
        ("POST", "/v1/messages/count_tokens", "anthropic", "x-api-key"),
        ("POST", "/v1beta/models/gemini-2.5-pro:generateContent", "gemini", "x-goog-api-key"),
        ("POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini", "x-goog-api-key"),
    ],
)
def test_a_request_gets_the_providers_key_and_loses_the_turns_token(
    method: str, path: str, family: str, header: str
) -> None:
    """RN-42, SX-26."""
    provider = Provider()
    answer = ask(provider, path, method, headers={header: f"Bearer {TOKEN}" if family == "openai" else TOKEN})
    assert (answer.status_code, answer.json()) == (200, {"ok": True})
    (asked,) = provider.asked
    assert str(asked.url) == f"https://{family}.example{path}"
    assert asked.headers[header].endswith(KEYS[family])
    assert TOKEN not in str(asked.headers.raw)


def test_a_key_in_the_address_is_the_token_too_and_is_not_passed_on() -> None:
    provider = Provider()
    path = f"/v1beta/models/m:generateContent?alt=sse&key={TOKEN}"
    assert ask(provider, path, headers={}).status_code == 200
    assert str(provider.asked[0].url).endswith("?alt=sse")


@pytest.mark.parametrize(
    "method, path, status",
    [
        ("GET", "/v1/files", 404),
        ("DELETE", "/v1/responses", 404),
        ("POST", "/v1/chat/completions/../../files", 404),
        ("POST", "/v1beta/models/a/b:generateContent", 404),
        ("POST", "/v1/fine_tuning/jobs", 404),
        ("HEAD", "/", 200),
    ],
)
def test_only_paths_of_models_are_passed_on(method: str, path: str, status: int) -> None:
    """SB-17: another path or method at the allowed endpoint."""
    provider = Provider()
    assert ask(provider, path, method).status_code == status
    assert provider.asked == []


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer other"}, {"x-api-key": ""}])
def test_without_the_token_of_the_turn_nothing_is_passed_on(headers: dict[str, str]) -> None:
    """RN-35: also the way when no network namespace keeps others away."""
    provider = Provider()
    assert ask(provider, "/v1/responses", headers=headers).status_code == 401
    assert provider.asked == []


def test_a_turn_has_a_budget_and_a_largest_request() -> None:
    provider = Provider()
    assert ask(provider, "/v1/responses", left=0).status_code == 403
    assert ask(provider, "/v1/responses", content=b"x" * (BODY_BYTES + 1)).status_code == 413
    assert provider.asked == []


def test_a_provider_that_is_not_configured_is_named() -> None:
    answer = ask(Provider(), "/v1/messages", models=ModelSettings())
    assert answer.status_code == 404
    assert "REMEDY_MODELS__ANTHROPIC__URL" in answer.text


def test_the_key_is_in_no_answer_and_an_error_keeps_its_status_and_its_wait() -> None:
    """SB-21, A23: providers quote keys in errors."""
    key = KEYS["openai"]
    answered = httpx.Response(429, text=f"key {key} is out of quota", headers={"retry-after": "7", "x-key": key})
    answer = ask(Provider(lambda request: answered), "/v1/responses")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.text == "key [key] is out of quota"
    assert key not in str(answer.headers.raw)


def test_a_provider_that_cannot_be_reached_is_said() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("all of " + KEYS["openai"])

    answer = ask(Provider(broken), "/v1/responses")
    assert (answer.status_code, "ConnectError" in answer.text, KEYS["openai"] in answer.text) == (502, True, False)
