"""Start an agent's processes in its workspace: what the runners need of a sandbox, and no more (runners.md, 1.2)."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.errors import UserError
from app.workspace.sandbox.model import HOME, WORKSPACE, Limits, Output, Proc, Result, Sandbox, Spec, Workspace


class Ports(Protocol):
    """Loopback ports that a runner wants inside."""

    @property
    def endpoints(self) -> Sequence[str]: ...
    @property
    def dial_port(self) -> int | None: ...


@dataclass(frozen=True)
class Launcher:
    """Bound to one turn. A `frozen` workspace is read-only inside: supervisors get it so (decisions.md, row 15)."""

    sandbox: Sandbox
    workspace: Workspace
    limits: Limits
    run_id: str

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

    async def spawn(
        self, argv: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes], network: Ports
    ) -> "Process":
        """Start a command with a clean environment (PATH, HOME, LANG and `env`); `files` are inside path -> content.

        Raises SandboxUnavailable, and UserError for a network that this sandbox does not have. A program that is not
        there is an end of the process: `start-failed`, or status 127 without a sandbox.
        """
        if network.endpoints or network.dial_port is not None:
            wanted = ", ".join((*network.endpoints, *([f"port {network.dial_port}"] if network.dial_port else [])))
            raise UserError(f"The agent asks for a network inside its sandbox ({wanted}), and there is none.")
        place = replace(self.workspace, files={**self.workspace.files, **files})
        run_id = f"{self.run_id}-{secrets.token_hex(4)}"
        spec = Spec(run_id, tuple(argv), place, self.limits, env, stdin=True, stream=True)
        return Process(await self.sandbox.start(spec))


class Process:
    """One running agent. `events` must be read: it holds the agent back when nobody does."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc

    @property
    def stdin(self) -> asyncio.StreamWriter | None:
        return self._proc.stdin

    @property
    def events(self) -> AsyncIterator[Output]:
        return self._proc.events

    async def dial(self) -> socket.socket:
        """There is no port to dial: `spawn` refuses to promise one."""
        raise UserError("The agent has no network inside its sandbox, so nothing can be reached there.")

    async def wait(self) -> Result:
        return await self._proc.wait()

    async def kill(self, reason: str = "killed") -> None:
        await self._proc.kill(reason)
