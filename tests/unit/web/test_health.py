"""What a supervisor and a load balancer are told (ST-Q1: Redis is not needed to accept)."""

from starlette.testclient import TestClient

from app.ledger import deliveries
from app.ledger.deliveries import Delivery
from app.ledger.engine import write
from app.ledger.version import newest_revision
from app.main import create_app
from app.settings import Settings
from tests.redis_server import redis_server

from .conftest import Sender

IDLE = {
    "queue": {"waiting": 0, "oldest_s": 0},
    "last_delivery_s": None,
    "post": {"failed_deliveries": 0, "unread_deliveries": 0, "refused_letters": 0},
}


def test_healthz_says_that_the_process_works(github: Sender) -> None:
    answer = github.client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_healthz_fails_when_the_writer_is_gone(github: Sender) -> None:
    github.client.app.state.web.writer.close()  # type: ignore[attr-defined]
    assert github.client.get("/healthz").status_code == 500


def test_readyz_is_ready_with_redis_away(github: Sender) -> None:
    answer = github.client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok", "redis": "away", **IDLE})


def test_readyz_shows_redis(settings: Settings, github: Sender) -> None:
    with redis_server() as server:
        app = create_app(settings.model_copy(update={"redis_url": server.url}))
        with TestClient(app) as client:
            assert client.get("/readyz").json() == {"database": "ok", "redis": "ok", **IDLE}


def test_readyz_tells_what_waits_and_when_github_was_heard_w113(github: Sender) -> None:
    now = github.client.app.state.web.clock()  # type: ignore[attr-defined]
    github.client.app.state.web.clock = lambda: now + 90_000  # type: ignore[attr-defined]
    for at, guid in ((now, "a"), (now + 60_000, "b")):
        with write(github.engine) as conn:
            deliveries.store(conn, Delivery(guid, "push", "", 1, None, None, b"{}"), at)
    body = github.client.get("/readyz").json()
    assert (body["queue"], body["last_delivery_s"]) == ({"waiting": 2, "oldest_s": 90}, 30)


def test_readyz_is_not_ready_without_a_database(settings: Settings) -> None:
    with TestClient(create_app(settings)) as client:
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, "away, or never migrated")


def test_readyz_is_not_ready_at_another_version(github: Sender) -> None:
    with write(github.engine) as conn:
        conn.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    answer = github.client.get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, f"at version 0000, not {newest_revision()}")
