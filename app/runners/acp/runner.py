"""A runner for every agent that speaks the Agent Client Protocol over stdio: one process, its sessions, its prompts."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from acp import schema, text_block

from app.runners.acp import permission
from app.runners.acp.link import Link, Waits, can_resume, start
from app.runners.acp.servers import servers
from app.runners.acp.turn import Prompted, usage_after
from app.runners.acp.wire import Caps, Handlers, Log, Message
from app.runners.codes import Code, RunnerError, RunnerFailure, failure
from app.runners.paths import check_workspace
from app.runners.registry import RunnerSpec
from app.runners.runner import (
    Answer,
    Ask,
    Capabilities,
    Decide,
    Launcher,
    Ports,
    Readiness,
    SessionRef,
    SessionSpec,
    Sink,
    Usage,
)


def _no_log(stream: str, data: bytes) -> None:
    """Keeps nothing."""


@dataclass(frozen=True)
class Options:
    """What the operator may set: waits, caps, the loopback ports of the sandbox, and a log for raw output."""

    waits: Waits = field(default_factory=Waits)
    caps: Caps = field(default_factory=Caps)
    ports: Ports = field(default_factory=Ports)
    log: Log = _no_log


@dataclass
class _Session:
    spec: SessionSpec
    usage: Usage
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    prompted: Prompted | None = None
    prompt: "asyncio.Task[schema.PromptResponse] | None" = None
    decide: Decide | None = None
    aborted: bool = False

    def is_active(self) -> bool:
        return self.prompt is not None and not self.prompt.done()


class AcpRunner:
    """One agent process, started when first needed and ended by `close`; made new for each turn."""

    def __init__(self, spec: RunnerSpec, launcher: Launcher, options: Options | None = None) -> None:
        self._spec = spec
        self._launcher = launcher
        self._options = options or Options()
        self._sessions: dict[str, _Session] = {}
        self._starting: asyncio.Task[Link] | None = None
        self._cancelling: set[asyncio.Task[None]] = set()

    @property
    def id(self) -> str:
        return self._spec.id

    @property
    def active(self) -> frozenset[str]:
        """Sessions in which a prompt runs at this moment (B19)."""
        return frozenset(name for name, session in self._sessions.items() if session.is_active())

    def capabilities(self) -> Capabilities:
        claims = self._spec.manifest.spec.capabilities
        return Capabilities(claims.load_session, claims.structured_output, claims.cancel)

    async def ready(self) -> Readiness:
        """Starts and greets the agent, which is kept for the sessions to come; concurrent calls share one start."""
        try:
            link = await self._link()
        except RunnerFailure as stopped:
            return Readiness(False, problems=(stopped.error.message,), said=stopped.error.detail)
        info = link.offers.agent_info
        return Readiness(True, version=info.version if info is not None else None)

    async def create_session(self, spec: SessionSpec) -> SessionRef:
        """A new session in `spec.cwd`. Raises RunnerFailure as `link.start` does, or `runner.start_failed`."""
        check_workspace(spec)
        link = await self._link()
        request = link.conn.new_session(cwd=spec.cwd, mcp_servers=servers(spec.tools, link.offers), **_meta(spec))
        made = await link.call(request, "session/new", link.waits.session_s, Code.START_FAILED)
        if not made.session_id:
            raise failure(Code.PROTOCOL, "the agent did not return a session ID")
        await self._configure(link, made.session_id, spec, made.config_options or ())
        self._sessions[made.session_id] = _Session(spec, Usage())
        return SessionRef(made.session_id)

    async def resume_session(self, spec: SessionSpec, ref: SessionRef) -> SessionRef:
        """The same session in this process; any error of it is `runner.session_lost` (RN-67).

        Updates that replay the history are not events of a prompt and are left out (RN-66).
        """
        check_workspace(spec)
        link = await self._link()
        if not self.capabilities().resume or not can_resume(link.offers):
            raise failure(Code.SESSION_LOST, f"{self.id}: sessions cannot be resumed")
        agent = link.offers.agent_capabilities
        can = agent.session_capabilities if agent is not None else None
        how = link.conn.resume_session if can is not None and can.resume is not None else link.conn.load_session
        ours = servers(spec.tools, link.offers)
        request = how(cwd=spec.cwd, session_id=ref.agent_session_id, mcp_servers=ours, **_meta(spec))
        try:
            reply = await link.call(request, "session/load", link.waits.session_s, Code.SESSION_LOST)
        except RunnerFailure as stopped:
            raise failure(Code.SESSION_LOST, stopped.error.message, stopped.error.detail) from stopped
        await self._configure(link, ref.agent_session_id, spec, reply.config_options or ())
        self._sessions[ref.agent_session_id] = _Session(spec, Usage(exact=False))
        return ref

    async def _configure(self, link: Link, session_id: str, spec: SessionSpec, offered: Iterable[object]) -> None:
        """RN-71: model and effort where the agent has such options; else they are matters of its start."""
        names = {getattr(option, "id", "") for option in offered}
        for name, value in (("model", spec.model), ("effort", spec.effort)):
            if value is None or name not in names:
                continue
            request = link.conn.set_config_option(name, session_id, value)
            try:
                await link.call(request, "session/set_config_option", link.waits.session_s, Code.START_FAILED)
            except RunnerFailure as stopped:
                raise failure(Code.NOT_READY, f"{name} {value}: {stopped.error.message}") from stopped

    async def send(self, ref: SessionRef, ask: Ask, sink: Sink, decide: Decide) -> Answer:
        """One prompt and its raw answer; a second prompt of the same session waits for the first (RN-7)."""
        session = self._sessions.get(ref.agent_session_id)
        if session is None:
            raise failure(Code.SESSION_LOST, "the session is not open in this process")
        link = await self._link()
        async with session.lock:
            if session.is_active():  # left behind by a prompt whose caller went away
                await self.abort(ref)
            session.prompted = Prompted(f"{ask.turn_id}.{ask.number}", sink, session.usage)
            session.decide, session.aborted = decide, False
            meta = {
                "remedy/turn": session.prompted.turn_key,
                **({"remedy/outputSchema": ask.schema} if ask.schema else {}),
            }
            prompt = link.conn.prompt(session_id=ref.agent_session_id, prompt=[text_block(ask.text)], **meta)
            session.prompt = asyncio.create_task(prompt)
            return await self._answer(link, session, session.prompted)

    async def _answer(self, link: Link, session: _Session, prompted: Prompted) -> Answer:
        try:
            response = await self._watch(link, session)
        except RunnerFailure as stopped:
            if not session.aborted:
                raise
            return Answer("cancelled", prompted.tail.take(), error=stopped.error)
        prompted.end_message()
        session.prompted = None
        session.usage = usage_after(prompted.usage, response.usage)
        text = prompted.tail.take()
        if error := _stop_error(response.stop_reason, session, prompted, text):
            is_ours = error.code is Code.CANCELLED
            return Answer("cancelled" if is_ours else "failed", text, error=error, stop=response.stop_reason)
        structured = (response.field_meta or {}).get("remedy/structured")
        return Answer("done", text, structured, stop=response.stop_reason, hidden_marker=prompted.tail.hides_marker)

    async def _watch(self, link: Link, session: _Session) -> schema.PromptResponse:
        """Waits for the answer as long as the agent gives a sign within `idle_s` (RN-17)."""
        prompt = session.prompt
        assert prompt is not None
        clock = asyncio.get_running_loop().time
        started = clock()
        while not prompt.done():
            left = max(started, link.wire.last_at) + link.waits.idle_s - clock()
            if left <= 0:
                raise failure(Code.TIMEOUT, f"no event for {link.waits.idle_s:g} seconds", link.wire.stderr_tail)
            await asyncio.wait({prompt}, timeout=left)
        return await link.call(prompt, "session/prompt", None, Code.CRASHED)

    async def abort(self, ref: SessionRef) -> None:
        """Ends the running prompt; safe for idle and unknown sessions. Raises RunnerFailure when it does not end."""
        session = self._sessions.get(ref.agent_session_id)
        if session is None or self._starting is None:
            return
        link = await self._link()
        session.aborted = True
        if link.wire.ended:
            return
        cancel = link.conn.cancel(session_id=ref.agent_session_id)
        await link.call(cancel, "session/cancel", link.waits.abort_s, Code.CRASHED)
        if session.prompt is not None and session.is_active():
            done, _ = await asyncio.wait({session.prompt}, timeout=link.waits.abort_s)
            if not done:
                raise failure(Code.TIMEOUT, f"the agent did not stop within {link.waits.abort_s:g} seconds")

    async def usage(self, ref: SessionRef) -> Usage:
        """The sums of the session so far, as far as the agent told them in this process."""
        session = self._sessions.get(ref.agent_session_id)
        return session.usage if session is not None else Usage(exact=False)

    async def close(self) -> None:
        """Aborts what runs (once), goes on after a failed abort, ends every process (B18). Raises the first failure."""
        if self._starting is None:
            return
        self._starting.cancel()
        await asyncio.wait({self._starting})
        if self._starting.cancelled() or self._starting.exception() is not None:
            return
        link = self._starting.result()
        aborts = [self.abort(SessionRef(name)) for name in self.active if not self._sessions[name].aborted]
        try:
            ended = await asyncio.gather(*aborts, return_exceptions=True)
        finally:
            await link.stop()
            await self._drop_prompts()
        if failed := next((one for one in ended if isinstance(one, BaseException)), None):
            raise failed

    async def _drop_prompts(self) -> None:
        prompts = [session.prompt for session in self._sessions.values() if session.prompt is not None]
        tasks = [*prompts, *self._cancelling]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _link(self) -> Link:
        if self._starting is None:
            options = self._options
            line_bytes = min(options.caps.line_bytes, self._spec.manifest.spec.limits.stdout_kib * 1024)
            caps = Caps(line_bytes, options.caps.junk_lines, options.caps.open_replies)
            handlers = Handlers(self._on_update, self._on_permission, options.log)
            starting = start(self._spec, self._launcher, handlers, caps, options.waits, options.ports)
            self._starting = asyncio.create_task(starting)
        return await asyncio.shield(self._starting)

    def _on_update(self, params: Message) -> None:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is not None and session.prompted is not None and session.is_active():
            session.prompted.update(params)

    def _on_permission(self, params: Message) -> Message:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is None or session.aborted or session.decide is None:
            return dict(permission.CANCELLED)
        reply = permission.answer(params, session.prompted, session.spec, session.decide)
        if session.prompted is not None and session.prompted.denials == permission.DENIALS_ALLOWED:
            self._stop_after_denials(str(params.get("sessionId")))
        return reply

    def _stop_after_denials(self, session_id: str) -> None:
        assert self._starting is not None
        task = asyncio.create_task(self._starting.result().conn.cancel(session_id=session_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)


def _stop_error(stop: str, session: _Session, prompted: Prompted, text: str) -> RunnerError | None:
    """RN-65. `max_tokens` and `max_turn_requests` are no errors: the result is missing and is asked for again."""
    if stop == "cancelled" and session.aborted:
        return RunnerError(Code.CANCELLED, "the turn was cancelled")
    if prompted.denials >= permission.DENIALS_ALLOWED:
        return RunnerError(Code.DENIED, f"{prompted.denials} requests were outside the grant")
    if stop == "cancelled":
        return RunnerError(Code.DENIED, "the agent stopped by itself, after a rejected request if there was one")
    if stop == "refusal":
        return RunnerError(Code.PROVIDER_FAILED, f"the model refused: {text.strip()[:300]}")
    return None


def _meta(spec: SessionSpec) -> dict[str, Any]:
    return {"remedy/config": dict(spec.config)} if spec.config else {}
