"""What `remedy doctor` looks at: one function per row, each imports what it needs."""

import asyncio
import difflib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal
from urllib.parse import urlsplit

from app.errors import UserError
from app.settings import Settings

Level = Literal["passed", "failed", "warning", "not checked"]

SKEW_S = 30
SHORTEST_SECRET = 16
ASK_TIMEOUT_S = 10


@dataclass(frozen=True)
class Found:
    """One row: what was looked at, how it is, what was seen, and what to do about it."""

    level: Level
    details: str
    cure: str = ""


def app_key(settings: Settings) -> Found:
    if not settings.app_id:
        return Found("failed", "REMEDY_APP_ID is not set", "set REMEDY_APP_ID to the number of your GitHub App")
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        load_pem_private_key(settings.pem().encode(), None)
    except UserError as error:
        return Found("failed", str(error), str(error))
    except (ValueError, TypeError):
        return Found("failed", "the key is no PEM private key", "download the App's private key once more")
    return Found("passed", f"app {settings.app_id}, the key can be read")


def clock(settings: Settings) -> Found:
    """GH-34: GitHub refuses a JWT from a clock that is wrong."""
    import httpx

    verify: str | bool = str(settings.github.ca_file) if settings.github.ca_file else True
    before = time.time()
    try:
        answer = httpx.get(settings.github.api_url, timeout=ASK_TIMEOUT_S, verify=verify)
        told = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (httpx.HTTPError, OSError) as error:
        return Found("failed", f"{settings.github.api_url}: {error}", "let this machine reach GitHub's API")
    except (KeyError, ValueError):
        return Found("not checked", "GitHub's answer has no date")
    skew_s = (before + time.time()) / 2 - told
    if abs(skew_s) > SKEW_S:
        return Found("failed", f"differs by {skew_s:.0f} s", "set this machine's clock by NTP")
    return Found("passed", f"differs by {abs(skew_s):.0f} s")


def webhook_secret(settings: Settings) -> Found:
    secret = settings.webhook_secret.get_secret_value()
    cure = "set REMEDY_WEBHOOK_SECRET to a long random text, here and on the App's page"
    if not secret:
        return Found("failed", "REMEDY_WEBHOOK_SECRET is not set", cure)
    if len(secret) < SHORTEST_SECRET:
        return Found("warning", f"only {len(secret)} characters", cure)
    return Found("passed", "set")


def api_tokens(settings: Settings) -> Found:
    if not settings.secret_key.get_secret_value():
        return Found("not checked", "REMEDY_SECRET_KEY is not set: the status API answers nobody")
    return Found("passed", "`remedy token` can make them")


def database(settings: Settings) -> Found:
    from app.ledger.engine import open_engine
    from app.web.health import database_state, newest_revision

    engine = open_engine(settings.database)
    state = database_state(engine)
    engine.dispose()
    if state != "ok":
        return Found("failed", state, "run `remedy migrate`, or correct DATABASE_URL")
    return Found("passed", f"version {newest_revision()}")


def deliveries(settings: Settings) -> Found:
    """IT-4: what could not be read or handled is never dropped in silence."""
    from sqlalchemy import func, select
    from sqlalchemy.exc import SQLAlchemyError

    from app.ledger.engine import open_engine, read
    from app.ledger.schema import deliveries as table
    from app.ledger.words import DeliveryState

    engine = open_engine(settings.database)
    failed = table.c.state == DeliveryState.FAILED
    try:
        with read(engine) as conn:
            total, bad = conn.execute(select(func.count(), func.count().filter(failed)).select_from(table)).one()
            newest = select(table).where(failed).order_by(table.c.received_at.desc()).limit(1)
            row = conn.execute(newest).one_or_none()
    except SQLAlchemyError:
        return Found("not checked", "no database")
    finally:
        engine.dispose()
    if row is None:
        return Found("passed", f"{total} kept, none failed")
    details = f"{bad} of {total} failed; the newest is {row.guid} ({row.event}): {row.error[:200]}"
    return Found("warning", details, "redeliver it from the App's page when the reason is gone")


def redis(settings: Settings) -> Found:
    from app.cli.embedded_redis import find_server
    from app.queues import is_reachable

    if not settings.redis_url:
        try:
            server = find_server()
        except UserError as error:
            return Found("failed", "none", str(error))
        state = "answers" if is_reachable(settings) else "not running"
        return Found("passed", f"{server}, started by `remedy up`; {state}")
    if not is_reachable(settings):
        return Found("failed", "REDIS_URL does not answer", "start that Redis; deliveries are kept until then")
    url = urlsplit(settings.redis_url)
    is_near = url.scheme == "unix" or url.hostname in {"localhost", "127.0.0.1", "::1"}
    if not is_near and not url.password:
        return Found("warning", "no password, and not on this machine", "give that Redis a password (S41)")
    return Found("passed", "answers")


def sandbox(settings: Settings) -> Found:
    """SX-7: what was measured on this machine, and whether it is enough."""
    from app.workspace.sandbox.choose import measure
    from app.workspace.sandbox.model import Tier
    from app.workspace.sandbox.probe import Report

    async def reports() -> list[Report]:
        return [report async for _, report in measure(settings)]

    minimum = Tier[settings.sandbox.minimum]
    measured = asyncio.run(reports())
    best = max(measured, key=lambda report: report.tier or Tier.NONE)
    if best.tier is not None and best.tier >= minimum:
        return Found("passed", f"{best.backend} ({best.program}), tier {best.tier.name}, minimum {minimum.name}")
    told = "; ".join(f"{r.backend}: {r.problem or (r.tier or Tier.NONE).name}" for r in measured)
    excepted = ", ".join(settings.sandbox.i_accept_no_isolation)
    if excepted:
        return Found("warning", f"{told}; without isolation: {excepted}", "install bubblewrap, then drop the exception")
    return Found("failed", f"{told}; nothing will be run", "install bubblewrap (Debian: apt install bubblewrap)")


def agent(settings: Settings) -> Found:
    return _runner(settings, "agent")


def supervisor(settings: Settings) -> Found:
    return _runner(settings, "supervisor")


def names(settings: Settings) -> Found:
    """A misspelt variable would be ignored in silence."""
    known = {f"REMEDY_{name.upper()}" for name in type(settings).model_fields}
    unknown = sorted(n for n in os.environ if n.startswith("REMEDY_") and n.split("__")[0] not in known)
    if not unknown:
        return Found("passed", "every REMEDY_ variable is known")
    near = [f"{name} ({', '.join(difflib.get_close_matches(name, known, 1)) or 'nothing like it'})" for name in unknown]
    return Found("warning", f"unknown: {', '.join(near)}", "correct or remove these variables")


def _runner(settings: Settings, role: Literal["agent", "supervisor"]) -> Found:
    from app.runners.codes import RunnerError
    from app.runners.registry import Registry

    wanted = settings.agent if role == "agent" else settings.supervisor
    variable = f"REMEDY_{role.upper()}"
    if not wanted:
        return Found("failed", f"{variable} is not set", f"set {variable} to the id of a runner in RUNNERS_DIR")
    found = Registry(settings.runners_dir, settings.data).find(wanted, role)
    if isinstance(found, RunnerError):
        return Found(
            "failed", found.message, f"put a folder with a runner.yaml into RUNNERS_DIR, or correct {variable}"
        )
    return Found("passed", f"{found.id} {found.manifest.metadata.version}")


Check = Callable[[Settings], Found]

CHECKS: Mapping[str, Mapping[str, Check]] = {
    "GitHub": {"App key": app_key, "Webhook secret": webhook_secret, "Clock": clock, "Deliveries": deliveries},
    "Server": {"Settings": names, "Database": database, "Queue": redis, "API tokens": api_tokens},
    "Runners": {"Sandbox": sandbox, "Agent": agent, "Supervisor": supervisor},
}
