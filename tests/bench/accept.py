"""How fast a delivery is durably accepted, against a bare Starlette in the same run (ST-W5, ST-W7, ST-W8)."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.bench.goal import Goal
from tests.redis_server import redis_server
from tests.unit.web.conftest import SECRET, check_run, sign

ROOT = Path(__file__).parents[2]
REQUESTS = 2000
PER_SECOND = 200
ALL_AT_ONCE = float("inf")
LINES_AT_ONCE = 16

BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def accept(request):
    return Response(status_code=202)
app = Starlette(routes=[Route("/webhook", accept, methods=["POST"]), Route("/healthz", accept)])
uvicorn.run(app, port=int(sys.argv[1]), http="httptools", access_log=False, log_config=None)
"""
# A task that should run every 5 ms notes how late it was: the longest stall of the event loop.
STALLS = """
import asyncio, os, time, uvicorn
from app.ledger.engine import migrate, open_engine
from app.main import create_app
from app.settings import Settings
from app.telemetry import start_logging
settings = Settings()
start_logging(settings, "web", open(os.devnull, "w"))
migrate(open_engine(settings.database))
async def main():
    options = {"port": settings.port, "http": "httptools", "access_log": False, "log_config": None}
    server = uvicorn.Server(uvicorn.Config(create_app(settings), **options))
    async def watch():
        worst = 0.0
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            late = time.perf_counter() - before - 0.005
            if server.started and late > worst:
                worst = late
                (settings.data / "stall").write_text(str(worst))
    watching = asyncio.create_task(watch())
    await server.serve()
import uvloop
uvloop.run(main())
"""


def measure() -> list[Goal]:
    red = [request(f"g-{n}", body(n, "failure")) for n in range(REQUESTS)]
    green = [request(f"s-{n}", body(n, "success")) for n in range(REQUESTS)]
    with tempfile.TemporaryDirectory() as folder, redis_server() as redis:
        data = Path(folder)
        own = {"REMEDY_DATA": folder, "REMEDY_WEBHOOK_SECRET": SECRET, "REMEDY_PORT": "8471", "REDIS_URL": redis.url}
        env = {**os.environ, **own}
        with serving([sys.executable, "-c", STALLS], env, 8471) as pid:
            paced = asyncio.run(send(8471, red, PER_SECOND))
            stall_ms = float((data / "stall").read_text()) * 1000
            filtered_us = cpu_us(pid, lambda: asyncio.run(send(8471, green, ALL_AT_ONCE)))
    with serving([sys.executable, "-c", BARE, "8472"], dict(os.environ), 8472) as pid:
        bare_us = cpu_us(pid, lambda: asyncio.run(send(8472, green, ALL_AT_ONCE)))
    p99_ms = sorted(paced)[int(len(paced) * 0.99)] * 1000
    ratio = filtered_us / bare_us
    return [
        Goal(f"ST-W5 durable accept, p99 at {PER_SECOND}/s", f"{p99_ms:.1f} ms", "< 25 ms", p99_ms < 25),
        Goal("ST-W7 CPU of a filtered success, against bare Starlette", f"{ratio:.2f}x", "<= 2.5x", ratio <= 2.5),
        Goal("ST-W8 longest stall of the event loop", f"{stall_ms:.1f} ms", "<= 50 ms", stall_ms <= 50),
    ]


def body(n: int, conclusion: str) -> bytes:
    """A check run of the size that GitHub sends, some 25 KB."""
    rest = {f"{key}_url": f"https://api.github.com/repos/acme/shop/{key}/{n}" for key in map(str, range(350))}
    return json.dumps({**check_run(id=n, conclusion=conclusion), "rest": rest}).encode()


def request(guid: str, content: bytes) -> bytes:
    """The bytes on the line: a client library would cost more than the server that is measured."""
    head = (
        "POST /webhook HTTP/1.1\r\nHost: remedy\r\nContent-Type: application/json\r\nX-GitHub-Event: check_run\r\n"
        f"X-GitHub-Delivery: {guid}\r\nX-Hub-Signature-256: {sign(content)}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def send(port: int, requests: list[bytes], per_second: float) -> list[float]:
    """Seconds from the moment that each was due until its answer, over `LINES_AT_ONCE` connections."""
    took: list[float] = []
    start = time.perf_counter() + 0.1
    waiting = iter([(start + n / per_second, one) for n, one in enumerate(requests)])

    async def line() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for due, one in waiting:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 202"), head
            await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))
            took.append(time.perf_counter() - due)
        writer.close()

    await asyncio.gather(*(line() for _ in range(LINES_AT_ONCE)))
    return took


@contextmanager
def serving(argv: list[str], env: dict[str, str], port: int) -> Iterator[int]:
    process = subprocess.Popen(argv, env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/healthz")
                break
            except httpx.TransportError:
                assert process.poll() is None
                time.sleep(0.02)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def cpu_us(pid: int, act: Callable[[], object]) -> float:
    """CPU microseconds per request that the process spent while `act` ran."""
    before = _cpu_s(pid)
    act()
    return (_cpu_s(pid) - before) * 1e6 / REQUESTS


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
