"""An OpenCode server of our own, inside the sandbox of a turn: its environment, its start, the way in."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpcore
import httpx

from app.errors import UserError
from app.runners.codes import DETAIL_CHARS, Code, RunnerFailure, failure, text_of
from app.runners.opencode.client import Access, Client
from app.runners.registry import RunnerSpec
from app.runners.runner import Exit, HostTools, Launcher, Ports, Process

TRY_S, EXIT_S = 1.0, 5.0
CONFIG = "OPENCODE_CONFIG_CONTENT"

SWITCHES: Mapping[str, str] = {
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
    "OPENCODE_DISABLE_EMBEDDED_WEB_UI": "1",
    # Else the server tries to install a package of 64 MB.
    "NPM_CONFIG_REGISTRY": "http://127.0.0.1:9/",
}
"""The repository under repair does not configure the agent, and the server looks for nothing outside (RN-48)."""

PERMISSION: Mapping[str, str] = {
    "edit": "ask",
    "bash": "ask",
    "webfetch": "ask",
    "websearch": "ask",
    "external_directory": "ask",
    "doom_loop": "deny",
    "question": "deny",
    "task": "deny",
}
"""What is asked is ruled by the grant of the turn, so a resumed session keeps nothing of an older grant."""


@dataclass
class Server:
    """A started process and what it says; `ended` is done when no process of it is left."""

    process: Process
    access: Access
    _stderr: bytearray = field(default_factory=bytearray)
    _reading: asyncio.Task[Exit] | None = None

    def watch(self) -> None:
        """Reads all output from now on (RN-45)."""
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> Exit:
        async for output in self.process.events:
            self._stderr += output.data
            del self._stderr[: -4 * DETAIL_CHARS]
        return await self.process.wait()

    @property
    def tail(self) -> str:
        return self._stderr.decode("utf-8", "replace")[-DETAIL_CHARS:]

    def has_ended(self) -> bool:
        return self._reading is not None and self._reading.done()

    async def how_it_ended(self) -> str | None:
        """Words for an end that explains a lost connection, or None when the server still runs."""
        assert self._reading is not None
        try:
            ended = await asyncio.wait_for(asyncio.shield(self._reading), EXIT_S)
        except TimeoutError:
            return None
        return f"exit code {ended.rc}" if ended.reason == "exit" else ended.reason

    async def stop(self) -> None:
        """Ends every process of the turn (RN-22)."""
        await self.process.kill()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)


def configured(spec: RunnerSpec, tools: HostTools | None) -> str:
    """The manifest's inline configuration with our rules on top; it wins over every file (RN-48). Raises RunnerFailure.

    Our tools are one more MCP server, named so that their names begin with `remedy_` (runners.md, 6).
    """
    try:
        config = json.loads(spec.env.get(CONFIG, "{}"))
    except ValueError:
        config = None
    if not isinstance(config, dict):
        raise failure(Code.BROKEN_MANIFEST, f"{spec.id}: env_fixed.{CONFIG} is no JSON object")
    config |= {"permission": PERMISSION, "share": "disabled", "autoupdate": False}
    if tools is not None:
        headers = {"Authorization": f"Bearer {tools.token}"}
        config["mcp"] = {"remedy": {"type": "remote", "url": tools.url, "headers": headers, "enabled": True}}
    return json.dumps(config)


async def start(spec: RunnerSpec, launcher: Launcher, tools: HostTools | None = None) -> Server:
    """Spawns the server with a password of its own. Raises RunnerFailure."""
    port, password = launcher.port("dial"), secrets.token_urlsafe(24)
    env = {
        **SWITCHES,
        **spec.env,
        CONFIG: configured(spec, tools),
        "OPENCODE_SERVER_USERNAME": "opencode",
        "OPENCODE_SERVER_PASSWORD": password,
    }
    argv = (*spec.argv, "--hostname", "127.0.0.1", "--port", str(port))
    try:
        process = await launcher.spawn(argv, env, {}, Ports(dial_port=port))
    except UserError as error:
        raise failure(Code.SANDBOX_UNAVAILABLE, text_of(error)) from error
    except OSError as error:
        raise failure(Code.START_FAILED, f"{spec.argv[0]}: {error.strerror or text_of(error)}") from error
    server = Server(process, Access("http://127.0.0.1", password, transport=Dialled(process)))
    server.watch()
    return server


async def until_up(server: Server, client: Client, total_s: float) -> None:
    """Asks until the server answers (RN-52).

    Its port accepts before its HTTP layer answers, and a request of that time is never answered: every try has a new
    connection and little time. Raises RunnerFailure `runner.start_failed`.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + total_s
    while clock() < until and not server.has_ended():
        try:
            await client.health(TRY_S)
        except RunnerFailure as stopped:
            if stopped.error.code not in (Code.TIMEOUT, Code.CRASHED):
                return  # it answers, and what it answers is judged by the probe
            await asyncio.sleep(TRY_S / 10)
        else:
            return
    ended = await server.how_it_ended() if server.has_ended() else None
    why = f"the server ended ({ended})" if ended else f"the server did not answer within {total_s:g} seconds"
    raise failure(Code.START_FAILED, why, server.tail)


class Dialled(httpx.AsyncHTTPTransport):
    """HTTP over connections that are opened inside a sandbox; one request each, so none can be stuck (RN-52)."""

    def __init__(self, process: Process) -> None:
        self._pool = httpcore.AsyncConnectionPool(network_backend=_Inside(process), max_keepalive_connections=0)


class _Inside(httpcore.AsyncNetworkBackend):
    def __init__(self, process: Process) -> None:
        self._process = process

    async def connect_tcp(self, host: str, port: int, *rest: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        """Host and port say nothing: there is one port to dial."""
        try:
            found = await self._process.dial()
            return _Stream(*await asyncio.open_connection(sock=found))
        except OSError as error:
            raise httpcore.ConnectError(text_of(error)) from error


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return await asyncio.wait_for(self._reader.read(max_bytes), timeout)
        except TimeoutError:
            raise httpcore.ReadTimeout("no answer") from None
        except OSError as error:
            raise httpcore.ReadError(text_of(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._writer.write(buffer)
        try:
            await asyncio.wait_for(self._writer.drain(), timeout)
        except TimeoutError:
            raise httpcore.WriteTimeout("nothing is read") from None
        except OSError as error:
            raise httpcore.WriteError(text_of(error)) from error

    async def aclose(self) -> None:
        self._writer.close()

    def get_extra_info(self, info: str) -> Any:
        return None
