"""A client whose network is a scripted list of answers, on a stepped clock."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.github.calls import Pace
from app.github.client import Client
from app.settings import Settings

TOKEN = "ghs_" + "x" * 40
EXPIRES = "2026-01-01T01:00:00Z"
START_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""


@functools.cache
def app_key(_name: str = "") -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


Step = httpx.Response | Exception | type[Exception] | Callable[[httpx.Request], httpx.Response]


@dataclass
class Script:
    """The network: answers each request with the next step, except those that mint tokens."""

    steps: list[Step] = field(default_factory=list)
    mint: list[Step] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    mints: list[httpx.Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    now_ms: int = START_MS

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._handle)

    def pace(self) -> Pace:
        return Pace(now_ms=lambda: self.now_ms, sleep=self._sleep, chance=lambda: 0.5)

    def body(self, index: int) -> Any:
        return json.loads(self.requests[index].content)

    def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now_ms += int(seconds * 1000)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/access_tokens"):
            self.mints.append(request)
            step: Step = self.mint.pop(0) if self.mint else minted()
        else:
            self.requests.append(request)
            assert self.steps, f"nobody expected {request.method} {request.url}"
            step = self.steps.pop(0)
        if isinstance(step, type):
            raise step("broken", request=request)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, httpx.Response) else step(request)


def minted(token: str = TOKEN, expires_at: str = EXPIRES) -> httpx.Response:
    return httpx.Response(201, json={"token": token, "expires_at": expires_at})


def answer(body: object = None, status: int = 200, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(data=tmp_path, app_id=7, private_key=app_key(), webhook_secret="a secret")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def github(settings, script):
    with Client(settings, 42, transport=script.transport(), pace=script.pace()) as client:
        yield client
    assert script.steps == []
