"""Start an agent's processes in its workspace: what the runners need of a sandbox, and no more (runners.md, 1.2)."""

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.errors import UserError
from app.workspace.sandbox.model import HOME, WORKSPACE, Limits, Network, Output, Proc, Result, Sandbox, Spec, Workspace

log = logging.getLogger(__name__)

PORTS: Mapping[str, int] = {"model": 8080, "proxy": 8081, "tools": 8082, "dial": 4096}
"""Loopback ports inside, where a run has them for itself; `dial` is for a server of the agent's own (RN-43)."""

Serve = Callable[[socket.socket], Coroutine[object, object, None]]
"""Serves one listening socket until it is cancelled."""

Tap = Callable[[str, bytes], None]
"""Gets the stream's name and raw bytes."""


class Ports(Protocol):
    """Loopback ports that a runner wants inside."""

    @property
    def endpoints(self) -> Sequence[str]: ...
    @property
    def dial_port(self) -> int | None: ...


@dataclass(frozen=True)
class Launcher:
    """Bound to one turn. A `frozen` workspace is read-only inside: supervisors get it so (decisions.md, row 15).

    `serve` are the app's endpoints for this turn; each process gets all of them on its own loopback. `tap` sees
    all that they write.
    """

    sandbox: Sandbox
    workspace: Workspace
    limits: Limits
    run_id: str
    serve: Mapping[str, Serve] = field(default_factory=dict)
    tap: Tap | None = None
    _free: dict[str, int] = field(default_factory=dict)

    @property
    def tier(self) -> int:
        """What the backend's probe measured: 0 none, 1 weak, 2 degraded, 3 strong."""
        return int(self.sandbox.tier)

    @property
    def cwd(self) -> str:
        """The workspace as the agent sees it."""
        return self.sandbox.seen(self.workspace, WORKSPACE)

    @property
    def home(self) -> str:
        """HOME as the agent sees it."""
        return self.sandbox.seen(self.workspace, HOME)

    def port(self, name: str) -> int:
        """The loopback port inside of an endpoint, or of `dial`; a free one where runs share the host's loopback."""
        if self.sandbox.own_loopback:
            return PORTS[name]
        return self._free.setdefault(name, _free_port())

    async def spawn(
        self, argv: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes], network: Ports
    ) -> "Process":
        """Start a command with a clean environment (PATH, HOME, LANG and `env`); `files` are inside path -> content.

        Raises SandboxUnavailable, UserError for an endpoint that this turn does not have, OSError when the sandbox
        does not come up. A program that is not there is an end of the process: `start-failed`, or status 127.
        """
        if missing := [name for name in network.endpoints if name not in self.serve]:
            raise UserError(f"The agent asks for {', '.join(missing)} inside its sandbox, and this turn has none.")
        place = replace(self.workspace, files={**self.workspace.files, **files})
        handlers = {self.port(name): handler for name, handler in self.serve.items()}
        run_id = f"{self.run_id}-{secrets.token_hex(4)}"
        inside = Network(tuple(handlers), network.dial_port)
        spec = Spec(run_id, tuple(argv), place, self.limits, env, stdin=True, stream=True, network=inside)
        proc = await self.sandbox.start(spec)
        try:
            listeners = await proc.listeners()
        except BaseException:
            await proc.kill()
            raise
        servers = [handlers[port](listener) for port, listener in listeners.items()]
        return Process(proc, servers, proc.events if self.tap is None else _tapped(proc.events, self.tap))


class Process:
    """One running agent. `events` must be read: it holds the agent back when nobody does. Its endpoints end with it."""

    def __init__(
        self, proc: Proc, servers: Sequence[Coroutine[object, object, None]], events: AsyncIterator[Output]
    ) -> None:
        self._proc = proc
        self._events = events
        self._servers = [asyncio.create_task(server) for server in servers]
        self._ended = asyncio.create_task(self._end())

    @property
    def stdin(self) -> asyncio.StreamWriter | None:
        return self._proc.stdin

    @property
    def events(self) -> AsyncIterator[Output]:
        return self._events

    async def dial(self) -> socket.socket:
        """A connection to the dial port inside; OSError when nothing answers there."""
        return await self._proc.dial()

    async def wait(self) -> Result:
        return await asyncio.shield(self._ended)

    async def kill(self, reason: str = "killed") -> None:
        await self._proc.kill(reason)
        await self.wait()

    async def _end(self) -> Result:
        result = await self._proc.wait()
        for server in self._servers:
            server.cancel()
        for ended in await asyncio.gather(*self._servers, return_exceptions=True):
            if isinstance(ended, Exception):
                log.error("an endpoint of an agent failed", exc_info=ended)
        return result


async def _tapped(events: AsyncIterator[Output], tap: Tap) -> AsyncIterator[Output]:
    async for output in events:
        tap(output.stream, output.data)
        yield output


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
