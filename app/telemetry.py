"""The log of a process: one event per line, with closed keys and without secrets."""

import logging
import sys
import time
from collections.abc import Iterable, MutableMapping
from typing import IO, Any
from urllib.parse import urlsplit

import structlog
from structlog.typing import Processor

from app.errors import UserError
from app.redact import Redactor
from app.settings import Settings

# The names under which a line says what it is about (style.md 2.9), in this order. structlog keeps `event` for the text
# of a line, so code passes the GitHub event as `github_event`; it is written as `event`.
KEYS = ("delivery", "event", "installation", "repo", "pr", "sha", "run", "turn", "attempt")

# What else a line may say; docs/operations.md tells what each means.
FACTS = (
    *("job", "id", "outcome", "wall_s", "why", "error", "kind", "key", "item", "command", "diagnosis", "proof"),
    *("queue", "tool", "user", "app", "scope", "found", "status", "reason", "path"),
)

# Written by this module, or objects that never reach the line.
_OWN = frozenset({"at", "level", "part", "_record", "_from_structlog"})
_QUIET = ("rq.worker", "httpx", "alembic", "uvicorn.error")


class Redaction:
    """A structlog processor that takes secrets out of every text of an event, tracebacks too (RD6)."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._redactor = Redactor(secrets)

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: value if key in _OWN else self._clean(value) for key, value in event.items()}

    def _clean(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        return self._redactor.text(value if isinstance(value, str) else repr(value))


def start_logging(settings: Settings, part: str, stream: IO[str] | None = None) -> None:
    """Send the events of this process, and of the libraries in it, to `stream` (stderr).

    JSON lines; to a terminal `hh:mm:ss level part text key=value` (UX-T4). `part` names the process.
    """
    target = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.format_exc_info,
        _ordered(part),
        Redaction(known_secrets(settings)),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _as_line if target.isatty() else structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def known_secrets(settings: Settings) -> tuple[str, ...]:
    """Every secret value that this process holds, for a Redactor. Empty values are left out."""
    try:
        pem = settings.pem()
    except UserError:
        pem = ""
    values = (
        pem,
        settings.webhook_secret.get_secret_value(),
        settings.secret_key.get_secret_value(),
        *(key.get_secret_value() for key in settings.models.keys),
        settings.metrics_token.get_secret_value(),
        settings.client_secret.get_secret_value(),
        *(urlsplit(url).password or "" for url in (settings.database_url, settings.redis_url)),
    )
    return tuple(value for value in values if value)


def now_ms() -> int:
    """UTC milliseconds of the wall clock: the one place that reads it for rows."""
    return time.time_ns() // 1_000_000


def _ordered(part: str) -> Processor:
    """Name the text `text` and the process `part`, and put what a person looks for first."""

    def order(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        line = {"at": event.pop("at"), "level": event.pop("level"), "part": part, "text": event.pop("event")}
        if "github_event" in event:
            event["event"] = event.pop("github_event")
        known = {key: event.pop(key) for key in KEYS if key in event}
        return {**line, **known, **event}

    return order


def _as_line(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    at, level, part, text = (str(event.pop(key)) for key in ("at", "level", "part", "text"))
    trace = event.pop("exception", "")
    facts = "".join(f" {key}={value}" for key, value in event.items())
    return f"{at[11:19]} {level:<7} {part:<8} {text}{facts}" + (f"\n{trace}" if trace else "")
