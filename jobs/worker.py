"""The worker process: `python -m jobs.worker quick|long|sweep`."""

import sys
from importlib import import_module

import structlog
from redis.exceptions import RedisError

from app.errors import UserError
from app.ledger import vault
from app.queues import JOBS, work
from app.settings import Settings
from app.telemetry import start_logging
from app.tls import trust
from app.workspace.warm import warm

# Imported once in the parent; a forked job would pay for it each time (ST-Q13).
_HEAVY = {"quick": ("githubkit",), "long": ("githubkit", "acp")}

log = structlog.get_logger("worker")


def main(part: str) -> int:
    """Answer the doorbells of one queue, or sweep, until SIGTERM; the exit status.

    The parent opens no database and no GitHub client: what it opened before the fork would be shared by its jobs.
    """
    settings = vault.settings_with_app(Settings())
    start_logging(settings, part)
    if part == "sweep":
        import_module("jobs.sweep").loop(settings)
        return 0
    for name in (*_HEAVY[part], *(f"jobs.{job}" for job, queue in JOBS.items() if queue == part)):
        import_module(name)
    trust(settings)
    if part == "long":
        log.info("warm", found=warm(settings))
    try:
        work(settings, part)
    except RedisError as error:
        log.error("Redis went away", error=str(error))
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except UserError as error:
        sys.exit(f"remedy worker: {error}")
