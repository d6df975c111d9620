"""One running agent: started in its sandbox, greeted, called with a limit on every wait, and ended for good."""

import asyncio
import contextlib
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, schema
from acp.client.connection import ClientSideConnection
from pydantic import ValidationError

from app import __version__
from app.errors import UserError
from app.runners.acp import faults
from app.runners.acp.wire import Caps, Handlers, Wire
from app.runners.codes import Code, RunnerFailure, failure, text_of
from app.runners.registry import RunnerSpec
from app.runners.runner import Launcher, Ports, Process
from app.runners.versions import is_in_range

CLIENT = schema.Implementation(name="remedy", version=__version__)
NO_SERVICES = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=False, write_text_file=False), terminal=False
)
"""The agent works in its own sandbox: we lend it no file system and no terminal."""

Reply = TypeVar("Reply")


@dataclass(frozen=True)
class Waits:
    """How long each step may take, in seconds (runners.md, 3)."""

    initialize_s: float = 30
    session_s: float = 30
    idle_s: float = 600
    abort_s: float = 10
    exit_s: float = 5


class _NoClient:
    """The library's side for requests of the agent: the wire answers them all before they get here."""


@dataclass
class Link:
    """The process, its lines, and the protocol library on top of them."""

    process: Process
    wire: Wire
    conn: ClientSideConnection
    waits: Waits
    offers: schema.InitializeResponse

    async def call(self, request: Awaitable[Reply], what: str, wait_s: float | None, lost: Code) -> Reply:
        """The reply, or RunnerFailure: `lost` when the agent stays silent for `wait_s` or ends before it answers."""
        return await _call(self.process, self.wire, self.waits, request, _Step(what, wait_s, lost))

    async def stop(self) -> None:
        """Closes stdin, gives the agent `exit_s` to go, then ends every process of the turn (RN-22). Twice is fine."""
        try:
            await self.wire.close_stdin()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), self.waits.exit_s)
            await self.conn.close()
        finally:
            await self.process.kill()


async def start(
    spec: RunnerSpec, launcher: Launcher, handlers: Handlers, caps: Caps, waits: Waits, ports: Ports
) -> Link:
    """Spawns and greets the agent, and compares what it offers with what its manifest claims (RN-64, RN-70).

    Raises RunnerFailure: `runner.sandbox_unavailable`, `.start_failed`, `.protocol`, `.broken_manifest`, `.not_ready`.
    """
    try:
        process = await launcher.spawn(spec.argv, spec.env, {}, ports)
    except UserError as error:
        raise failure(Code.SANDBOX_UNAVAILABLE, text_of(error)) from error
    except OSError as error:
        raise failure(Code.START_FAILED, f"{spec.argv[0]}: {error.strerror or text_of(error)}") from error
    try:
        return await _greet(spec, process, Wire(process, handlers, caps), waits)
    except BaseException:
        await process.kill()
        raise


async def _greet(spec: RunnerSpec, process: Process, wire: Wire, waits: Waits) -> Link:
    conn = connect_to_agent(_NoClient(), wire)  # type: ignore[arg-type]  # no method of a client is ever called
    step = _Step("initialize", waits.initialize_s, Code.START_FAILED)
    hello = conn.initialize(PROTOCOL_VERSION, client_capabilities=NO_SERVICES, client_info=CLIENT)
    try:
        offers = await _call(process, wire, waits, hello, step)
        _check_claims(spec, offers)
    except BaseException:
        await conn.close()
        raise
    return Link(process, wire, conn, waits, offers)


def can_resume(offers: schema.InitializeResponse) -> bool:
    agent = offers.agent_capabilities or schema.AgentCapabilities()
    sessions = agent.session_capabilities
    return bool(agent.load_session) or (sessions is not None and sessions.resume is not None)


def _check_claims(spec: RunnerSpec, offers: schema.InitializeResponse) -> None:
    claims, wanted = spec.manifest.spec.capabilities, spec.manifest.spec.requires.version
    if offers.protocol_version != PROTOCOL_VERSION:
        text = f"{spec.id}: the manifest says acp/1, the agent speaks version {offers.protocol_version}"
        raise failure(Code.BROKEN_MANIFEST, text)
    if claims.load_session and not can_resume(offers):
        raise failure(Code.BROKEN_MANIFEST, f"{spec.id}: the manifest claims load_session, the agent does not offer it")
    version = offers.agent_info.version if offers.agent_info is not None else ""
    if not is_in_range(version, wanted):
        raise failure(Code.NOT_READY, f"{spec.id}: the agent's version is {version or 'not told'}, wanted is {wanted}")


@dataclass(frozen=True)
class _Step:
    what: str
    wait_s: float | None
    lost: Code


async def _call(process: Process, wire: Wire, waits: Waits, request: Awaitable[Reply], step: _Step) -> Reply:
    try:
        return await asyncio.wait_for(request, step.wait_s)
    except TimeoutError:
        text = f"the agent did not answer {step.what} within {step.wait_s:g} seconds"
        raise failure(step.lost, text, wire.stderr_tail) from None
    except RequestError as error:
        raise RunnerFailure(faults.of_request(error)) from error
    except ValidationError as error:
        raise failure(Code.PROTOCOL, f"the agent's answer to {step.what} does not have the protocol's form") from error
    except OSError as error:  # ConnectionError of the library, BrokenPipeError of the pipe
        raise await _why_lost(process, wire, waits, step) from error


async def _why_lost(process: Process, wire: Wire, waits: Waits, step: _Step) -> Exception:
    """RN-23: the reason that the wire saw, else how the process ended, with the end of its stderr."""
    if wire.bug is not None:
        return wire.bug
    if wire.fault is not None:
        return RunnerFailure(wire.fault)
    try:
        ended = await asyncio.wait_for(process.wait(), waits.exit_s)
    except TimeoutError:
        return failure(step.lost, f"the agent closed its output before it answered {step.what}", wire.stderr_tail)
    code = faults.ENDED_BY_LIMIT.get(ended.reason, step.lost)
    how = f"exit code {ended.rc}" if ended.reason == "exit" else ended.reason
    return failure(code, f"the agent ended ({how}) before it answered {step.what}", wire.stderr_tail)
