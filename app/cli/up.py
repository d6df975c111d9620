"""`remedy up`: web, workers, sweep and an own Redis as one supervised tree that dies together."""

import asyncio
import fcntl
import os
import signal
import socket
from collections.abc import Coroutine
from pathlib import Path

from app.cli.environment import (
    child_environment,
    prepare_data_folder,
    python,
    read_settings,
    refuse_unreachable_folder,
    remedy_version,
    with_app,
)
from app.cli.say import dot, say, say_head, say_turn
from app.cli.supervise import Child, Tree
from app.embedded_redis import redis_command
from app.errors import UserError
from app.settings import Settings

GRACE_S = 10.0
READY_WITHIN_S = 30.0
POLL_S = 0.05
LOOK_S = 1.0


def up() -> None:
    """Run everything on this machine.

    Web, workers, the sweep and, without REDIS_URL, a Redis: one tree of processes that dies together.
    """
    from app.web.body import webhook_secret

    settings = read_settings()
    webhook_secret(settings)
    prepare_data_folder(settings)
    refuse_unreachable_folder(settings)
    lock = _lock(settings.data / "up.lock")
    _refuse_a_taken_port(settings)
    try:
        asyncio.run(_up(settings))
    finally:
        os.close(lock)


async def _up(settings: Settings) -> None:
    tree = Tree(GRACE_S)
    asked = asyncio.Event()
    _on_signals(tree, asked)
    say_head(f"remedy up  {remedy_version()} {dot()} {settings.url}")
    try:
        await _until(asked, _start(tree, settings))
        await asked.wait()
    finally:
        say("wait", "up", "ending")
        await tree.end()
    say("ok", "up", "ended")


async def _start(tree: Tree, settings: Settings) -> None:
    """Start the tree in the order of need; raises UserError when a part of it cannot run here."""
    env = child_environment()
    await _start_redis(tree, settings, env)
    if await tree.run(Child("database", python("app.cli", "migrate"), env)):
        raise UserError("The database could not be brought up to date; the line above says why.")
    web = Child("web", python("app.cli", "web"), env)
    await tree.start(web)
    await _wait_for_web(tree, web, settings)
    say("ok", "web", f"listens on {settings.host}:{settings.port}")
    if not with_app(settings).app_id:
        await _wait_for_app(settings)
    workers = ["quick", *["long"] * settings.long_workers, "sweep"]
    for worker in workers:
        await tree.start(Child(worker, python("jobs.worker", worker), env))
    say("ok", "worker", f"{len(workers) - 1} started, and the sweep")


async def _wait_for_app(settings: Settings) -> None:
    """Print the one-time link of the set-up (UX-P8), and wait until somebody has gone through it."""
    from app.ledger import setting_up
    from app.ledger.engine import open_engine, write
    from app.telemetry import now_ms

    engine = open_engine(settings.database)
    with write(engine) as conn:
        link = setting_up.new_link(conn, settings, now_ms())
    engine.dispose()
    say_turn("open this link once, within 1 hour, to set up", f"{settings.url}/setup?link={link}")
    while not (await asyncio.to_thread(with_app, settings)).app_id:
        await asyncio.sleep(LOOK_S)
    say("ok", "set-up", "the App is registered")


async def _start_redis(tree: Tree, settings: Settings, env: dict[str, str]) -> None:
    from app.queues import is_reachable

    if not settings.redis_url:
        redis = Child("queue", redis_command(settings.data.absolute() / "redis"), env, last=True)
        await tree.start(redis)
    elif not is_reachable(settings):
        say("hold", "queue", "REDIS_URL does not answer; deliveries are kept until it does")
        return
    deadline = asyncio.get_running_loop().time() + READY_WITHIN_S
    while not is_reachable(settings):
        if asyncio.get_running_loop().time() > deadline:
            raise UserError(f"Redis does not start. See {settings.data / 'redis' / 'redis.log'}")
        await asyncio.sleep(POLL_S)
    say("ok", "queue", "reached" if settings.redis_url else "started")


async def _wait_for_web(tree: Tree, web: Child, settings: Settings) -> None:
    """Until the port answers; raises UserError when the process ends before that."""
    host = "127.0.0.1" if settings.host in {"0.0.0.0", ""} else "::1" if settings.host == "::" else settings.host
    loop = asyncio.get_running_loop()
    deadline = loop.time() + READY_WITHIN_S
    while True:
        try:
            _, writer = await asyncio.open_connection(host, settings.port)
        except OSError as error:
            if not tree.is_running(web) or loop.time() > deadline:
                raise UserError("The web process does not start; the lines above say why.") from error
            await asyncio.sleep(POLL_S)
        else:
            writer.close()
            return


async def _until(asked: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    """The work, or as much of it as was done when the end was asked for."""
    starting = asyncio.create_task(work)
    waiting = asyncio.create_task(asked.wait())
    await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if starting.done():
        starting.result()
    starting.cancel()


def _on_signals(tree: Tree, asked: asyncio.Event) -> None:
    """The first signal asks for the end, the second does not wait for it."""

    def end() -> None:
        if asked.is_set():
            tree.kill()
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            asyncio.get_running_loop().add_signal_handler(number, end)


def _refuse_a_taken_port(settings: Settings) -> None:
    """Raises UserError; the web process would only fail and be started again."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise UserError(f"Nothing can listen on {where}: {error.strerror}. Set REMEDY_PORT.") from error


def _lock(path: Path) -> int:
    """A lock on the data folder for as long as this process lives; raises UserError when another one has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise UserError(f"Another `remedy up` runs on the data folder {path.parent}.") from error
    return descriptor
