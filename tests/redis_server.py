"""A real Redis for tests: `redis-server` on PATH, else the wheel's, as `remedy up` starts it (ST-S3)."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from app.embedded_redis import redis_command


class RedisServer:
    """One server in a folder of its own; it can be killed and started again on the same data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"unix://{folder / 'redis.sock'}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, within_s: float = 20) -> None:
        self._process = subprocess.Popen(
            redis_command(self.folder), stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        until = time.monotonic() + within_s
        with Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                    return
                except RedisError:
                    assert self._process.poll() is None, "the server ended"
                    assert time.monotonic() < until, "the server does not answer"
                    time.sleep(0.01)

    def kill(self) -> None:
        """SIGKILL, as a machine would that runs out of memory."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    """A running server in a short temporary folder (a Unix socket has room for 107 bytes)."""
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()
