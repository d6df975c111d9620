"""GET /metrics: for who holds its token, in a form that Prometheus reads."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from app.telemetry import known_secrets

from .conftest import NOW, Sender, check_run

TOKEN = "metrics-token-for-tests"


@pytest.fixture
def scraped(settings: Settings, github: Sender) -> Iterator[TestClient]:
    """A second web process beside the one that takes deliveries."""
    app = create_app(settings.model_copy(update={"metrics_token": type(settings.secret_key)(TOKEN)}), lambda: NOW)
    with TestClient(app) as client:
        yield client


def test_without_a_token_there_is_no_such_page(github: Sender) -> None:
    assert github.client.get("/metrics").status_code == 404
    assert github.client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", "Bearer m\u00e9trics".encode()])
def test_only_the_token_opens_it(scraped: TestClient, given: str | bytes) -> None:
    answer = scraped.get("/metrics", headers={"authorization": given})
    assert (answer.status_code, TOKEN in answer.text) == (401, False)


def test_prometheus_reads_it(scraped: TestClient, github: Sender) -> None:
    assert github.send(check_run()).status_code == 202
    answer = scraped.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    found = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert {"remedy_waiting", "remedy_waiting_oldest_seconds", "remedy_runs", "remedy_diagnoses"} <= found.keys()
    assert {"remedy_turn_seconds", "remedy_outbox", "remedy_github_calls_left"} <= found.keys()
    waiting = {sample.labels["job"]: sample.value for sample in found["remedy_waiting"].samples}
    assert (waiting["intake"], waiting["turn"]) == (1, 0)
    (kept,) = found["remedy_deliveries"].samples
    assert (kept.labels, kept.value) == ({"event": "check_run", "state": "RECEIVED"}, 1)
    assert found["process_resident_memory_bytes"].samples[0].value > 0


def test_every_figure_is_documented(scraped: TestClient) -> None:
    text = scraped.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
    given = {family.name for family in text_string_to_metric_families(text) if family.name.startswith("remedy_")}
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `remedy_")]
    assert given == {name for row in rows for name in re.findall(r"`(remedy_\w+)`", row)}


def test_rd6_no_name_of_a_repository_is_a_label(scraped: TestClient, github: Sender) -> None:
    github.send(check_run())
    text = scraped.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
    assert "acme" not in text and "octo" not in text


def test_its_token_is_a_secret_like_the_others() -> None:
    assert TOKEN in known_secrets(Settings.model_validate({"metrics_token": TOKEN}))
