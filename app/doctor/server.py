"""Settings, database, Redis, workers, queue and disk of this installation."""

import shutil
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from app.doctor.model import Found
from app.embedded_redis import find_server
from app.errors import UserError
from app.ledger.engine import open_engine, read, write
from app.ledger.ready import depth
from app.ledger.schema import deliveries as kept
from app.ledger.schema import outbox as letters
from app.ledger.version import database_state, newest_revision
from app.ledger.words import DeliveryState, OutboxState
from app.queues import count_workers, is_reachable
from app.settings import Settings, unknown_names

LATE_MS = 5 * 60 * 1000
DAY_MS = 24 * 60 * 60 * 1000
# A workspace may take 4 GiB, and an evidence file 200 MB.
ENOUGH_BYTES = 10 * 1000**3
LEAST_BYTES = 1000**3


def names(settings: Settings) -> Found:
    """A misspelt variable would be ignored in silence."""
    unknown = unknown_names()
    if not unknown:
        return Found("passed", "every REMEDY_ variable is known")
    near = [f"{name} ({like or 'nothing like it'})" for name, like in unknown.items()]
    return Found("warning", f"unknown: {', '.join(near)}", "correct or remove these variables")


def database(settings: Settings) -> Found:
    """It answers, at this program's version, and takes a write."""
    engine = open_engine(settings.database, timeout_s=3)
    try:
        state = database_state(engine)
        if state != "ok":
            return Found("failed", state, "run `remedy migrate`, or correct DATABASE_URL")
        with write(engine) as conn:
            conn.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
    except SQLAlchemyError as error:
        return Found("failed", f"cannot be written: {getattr(error, 'orig', error)}", "free its disk, end who locks it")
    finally:
        engine.dispose()
    return Found("passed", f"{engine.dialect.name}, version {newest_revision()}, writable")


def deliveries(settings: Settings) -> Found:
    """IT-4: what could not be read or handled is never dropped in silence."""
    failed = kept.c.state == DeliveryState.FAILED

    def look(conn: Connection) -> Found:
        total, bad = conn.execute(select(func.count(), func.count().filter(failed)).select_from(kept)).one()
        newest = select(kept).where(failed).order_by(kept.c.received_at.desc()).limit(1)
        row = conn.execute(newest).one_or_none()
        if row is None:
            return Found("passed", f"{total} kept, none failed")
        details = f"{bad} of {total} failed; the newest is {row.guid} ({row.event}): {row.error[:200]}"
        return Found("warning", details, f"see `remedy replay {row.guid}`; `remedy deliveries retry` when cured")

    return _read(settings, look)


def redis(settings: Settings) -> Found:
    """The doorbell; without it work waits for nobody, and deliveries are still kept."""
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


def workers(settings: Settings) -> Found:
    """Somebody answers the doorbells of each queue."""
    if not is_reachable(settings):
        return Found("not checked", "no Redis", "" if settings.redis_url else "start `remedy up`")
    found = count_workers(settings)
    told = ", ".join(f"{count} {queue}" for queue, count in found.items())
    if idle := [queue for queue, count in found.items() if not count]:
        return Found("failed", told, f"start `remedy worker {idle[0]}`, or `remedy up`")
    return Found("passed", told)


def queue(settings: Settings) -> Found:
    """How much waits, and how long: late work is the first sign of a worker that is gone."""

    def look(conn: Connection) -> Found:
        waiting = depth(conn, time.time_ns() // 1_000_000)
        count, oldest = sum(one.count for one in waiting.values()), max(one.age_ms for one in waiting.values())
        if not count:
            return Found("passed", "nothing waits")
        told = f"{count} waiting, oldest {oldest / 1000:.0f} s"
        if oldest < LATE_MS:
            return Found("passed", told)
        late = max(waiting, key=lambda job: waiting[job].age_ms)
        return Found("warning", f"{told} ({late})", "do workers and `remedy worker sweep` run? more long workers help")

    return _read(settings, look)


def outbox(settings: Settings) -> Found:
    """What Remedy wants to write to GitHub, and what GitHub refused."""

    def look(conn: Connection) -> Found:
        since = time.time_ns() // 1_000_000 - DAY_MS
        refused = (letters.c.state == OutboxState.FAILED, letters.c.finished_at >= since)
        count = conn.execute(select(func.count()).select_from(letters).where(*refused)).scalar_one()
        if not count:
            return Found("passed", "nothing refused in 24 h")
        row = conn.execute(select(letters).where(*refused).order_by(letters.c.finished_at.desc()).limit(1)).one()
        return Found(
            "warning",
            f"{count} refused in 24 h; the newest, {row.kind}: {row.error[:200]}",
            "see `remedy outbox --refused`; `remedy outbox retry` when cured",
        )

    return _read(settings, look)


def disk(settings: Settings) -> Found:
    """Room for workspaces and evidence."""
    try:
        usage = shutil.disk_usage(settings.data)
    except OSError as error:
        return Found("failed", f"{settings.data}: {error.strerror}", "make that folder, or set REMEDY_DATA")
    told = f"{usage.free / 1000**3:.0f} GB free of {usage.total / 1000**3:.0f} at {settings.data}"
    if usage.free < ENOUGH_BYTES:
        cure = "free some; `remedy prune` removes what is old"
        return Found("failed" if usage.free < LEAST_BYTES else "warning", told, cure)
    return Found("passed", told)


def api_tokens(settings: Settings) -> Found:
    """Who may ask the status API."""
    if not settings.secret_key.get_secret_value():
        return Found("not checked", "REMEDY_SECRET_KEY is not set: the status API answers nobody")
    return Found("passed", "`remedy token` can make them")


def _read(settings: Settings, look: Callable[[Connection], Found]) -> Found:
    """A row from one short look into the database."""
    engine = open_engine(settings.database, timeout_s=3)
    try:
        with read(engine) as conn:
            return look(conn)
    except SQLAlchemyError:
        return Found("not checked", "no database")
    finally:
        engine.dispose()
