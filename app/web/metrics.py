"""GET /metrics: figures for Prometheus, from rows, so that every web process of an installation tells the same."""

import asyncio
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.ledger import figures, ready
from app.ledger.engine import read
from app.web.state import Web, web_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


async def metrics(request: Request) -> Response:
    """404 without `REMEDY_METRICS_TOKEN`, 401 without it in the request; else the text format of Prometheus."""
    web = web_of(request)
    wanted = web.settings.metrics_token.get_secret_value()
    if not wanted:
        raise HTTPException(404, "not found")
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), wanted.encode()):
        raise HTTPException(401, "REMEDY_METRICS_TOKEN is needed", {"www-authenticate": "Bearer"})
    from prometheus_client import CONTENT_TYPE_LATEST  # not of every web process (PN-1)

    text = await asyncio.to_thread(_text, web)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"})


def _text(web: Web) -> bytes:
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    with read(web.engine) as conn:
        found = [*_queue(conn, web.clock()), *_work(conn), *_github(conn)]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Told(found))
    return generate_latest(registry)


class _Told:
    """A collector of figures that were already counted."""

    def __init__(self, found: "Sequence[Metric]") -> None:
        self._found = found

    def collect(self) -> "Iterable[Metric]":
        return self._found


def _queue(conn: Connection, now: int) -> "Iterator[Metric]":
    waiting = ready.depth(conn, now)
    yield _gauge("waiting", "Rows that some worker should take.", ("job",), {(j,): w.count for j, w in waiting.items()})
    ages: dict[tuple[str, ...], float] = {(job,): found.age_ms / 1000 for job, found in waiting.items()}
    yield _gauge("waiting_oldest_seconds", "For how long the oldest of them waits.", ("job",), ages)


def _work(conn: Connection) -> "Iterator[Metric]":
    yield _gauge(
        "runs", "Runs by what they do or how they ended.", ("status", "stage", "why"), figures.count_runs(conn)
    )
    told = figures.count_diagnoses(conn)
    yield _gauge("diagnoses", "Diagnoses by outcome.", ("state", "outcome"), told)
    yield _gauge("failure_groups", "Groups of failures by whose fault.", ("cause",), figures.count_causes(conn))
    spent = figures.sum_spend(conn)
    yield _gauge(
        "spend_usd", "Money of turns, as agents told it.", ("state",), {k: usd for k, (usd, _) in spent.items()}
    )
    yield _gauge(
        "spend_tokens", "Tokens of turns, as agents told them.", ("state",), {k: n for k, (_, n) in spent.items()}
    )
    yield _times("turn_seconds", "Turns of agents and supervisors that ended.", "role", figures.time_turns(conn))
    yield _times("proof_seconds", "Proofs that ended.", "kind", figures.time_proofs(conn))


def _github(conn: Connection) -> "Iterator[Metric]":
    kept = figures.count_deliveries(conn)
    yield _gauge("deliveries", "Deliveries that were kept.", ("event", "state"), kept)
    newest = figures.last_delivery_at(conn)
    when: dict[tuple[str, ...], float] = {} if newest is None else {(): newest / 1000}
    yield _gauge("last_delivery_timestamp_seconds", "When the newest delivery was accepted.", (), when)
    yield _gauge("outbox", "Writes to GitHub by kind and state.", ("kind", "state"), figures.count_letters(conn))
    left = figures.calls_left(conn)
    yield _gauge("github_calls_left", "Calls of this hour as GitHub last said.", ("installation",), left)


def _gauge(name: str, help_: str, labels: Sequence[str], values: Mapping[tuple[str, ...], float]) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"remedy_{name}", help_, labels=labels)
    for words, value in sorted(values.items()):
        family.add_metric(words, value)
    return family


def _times(name: str, help_: str, label: str, values: Mapping[tuple[str, ...], figures.Times]) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(f"remedy_{name}", help_, labels=(label,))
    for words, times in sorted(values.items()):
        bounds = zip(map(str, figures.BOUNDS_S), times.within, strict=True)
        family.add_metric(words, [*bounds, ("+Inf", times.count)], times.seconds)
    return family
