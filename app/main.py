"""The Starlette application: its routes, start-up and shutdown."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from app.ledger.engine import open_engine
from app.queues import ring
from app.redact import Redactor
from app.settings import Settings
from app.telemetry import known_secrets, now_ms
from app.web.api import status
from app.web.body import BodyReader, webhook_secret
from app.web.health import healthz, readyz
from app.web.metrics import metrics
from app.web.pages import PAGES
from app.web.people import NotSignedIn
from app.web.refusals import broken, not_signed_in, refused
from app.web.schema import schema
from app.web.state import Web
from app.web.webhook import webhook
from app.web.writer import Writer

ROUTES = (
    *PAGES,
    Route("/webhook", webhook, methods=["POST"]),
    Route("/healthz", healthz),
    Route("/readyz", readyz),
    Route("/metrics", metrics),
    Route("/api/repos/{owner}/{repo}/status", status),
    Route("/remedy.schema.json", schema),
)

log = structlog.get_logger("web")


def create_app(
    settings: Settings,
    clock: Callable[[], int] = now_ms,
    adopted: Callable[[Settings], object] = lambda settings: None,
) -> Starlette:
    """The web process for these settings; raises UserError for an App without a webhook secret (F-W10).

    `adopted` hears of the App that the set-up made, so that the log knows its secrets.
    """
    bodies = BodyReader(webhook_secret(settings), settings.limits.payload_bytes)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        engine = open_engine(settings.database)
        redactor = Redactor(known_secrets(settings))
        writer = Writer(engine, redactor, clock, lambda guid: ring(settings, "intake", guid))
        app.state.web = web = Web(
            settings, engine, clock, bodies, writer, ring=lambda job, item: ring(settings, job, item), adopted=adopted
        )
        web.look_for_app()
        writer.start()
        log.info("web started")
        yield
        writer.close()
        web.close()
        engine.dispose()

    return Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        exception_handlers={HTTPException: refused, NotSignedIn: not_signed_in, Exception: broken},
    )
