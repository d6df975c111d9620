"""A web process of our own with a real database in a fresh folder; Redis is away unless a test gives one."""

import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import structlog
from sqlalchemy import Engine, select
from starlette.testclient import TestClient

from app.ledger.engine import read
from app.ledger.rows import Row
from app.ledger.schema import deliveries
from app.main import create_app
from app.settings import Settings
from tests.databases import a_ledger

SECRET = "a-webhook-secret-for-tests"
NOW = 1_790_000_000_000


def check_run(**changes: Any) -> dict[str, Any]:
    """A failed check run as GitHub tells of it, with only what our model reads."""
    check = {
        "id": 991,
        "name": "unit",
        "head_sha": "a" * 40,
        "status": "completed",
        "conclusion": "failure",
        "completed_at": "2026-11-30T09:10:46Z",
        "app": {"id": 15368, "slug": "github-actions"},
        **changes,
    }
    return {
        "action": "completed",
        "check_run": check,
        "repository": {"id": 77, "full_name": "acme/shop", "default_branch": "main"},
        "installation": {"id": 4711},
        "sender": {"id": 1, "login": "octo", "type": "User"},
    }


@dataclass
class Sender:
    """GitHub, as far as a receiver can see it."""

    client: TestClient
    engine: Engine
    clock: list[int] = field(default_factory=lambda: [NOW])

    def send(self, payload: Any, event: str = "check_run", guid: str = "g-1", **headers: str | bytes) -> Any:
        """POST a signed delivery; `payload` may be raw bytes. Headers replace the right ones (`_` for `-`)."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        right: dict[str, str | bytes] = {
            "content-type": "application/json",
            "x-github-event": event,
            "x-github-delivery": guid,
            "x-hub-signature-256": sign(body),
        }
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post("/webhook", content=body, headers=right | given)

    def rows(self) -> list[Row]:
        with read(self.engine) as conn:
            return list(conn.execute(select(deliveries).order_by(deliveries.c.received_at, deliveries.c.guid)))


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()


@pytest.fixture(scope="session", autouse=True)
def quiet() -> Iterator[None]:
    """Redis is away on purpose; its doorbells would say so between the tests."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    yield
    structlog.reset_defaults()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {"data": tmp_path, "webhook_secret": SECRET, "secret_key": "a-secret-key-for-tests", "app_id": 1}
    )


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    engine = a_ledger(settings.database)
    yield engine
    engine.dispose()


@pytest.fixture
def github(settings: Settings, engine: Engine) -> Iterator[Sender]:
    clock = [NOW]
    with TestClient(create_app(settings, lambda: clock[0])) as client:
        yield Sender(client, engine, clock)
