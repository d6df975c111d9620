"""A runner for OpenCode servers: one that we start in the sandbox of the turn, or one that an operator runs."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from app.runners.acp.link import Waits
from app.runners.acp.permission import DENIALS_ALLOWED
from app.runners.codes import Code, RunnerError, RunnerFailure, failure
from app.runners.opencode import process
from app.runners.opencode.answer import answer_of, usage_of
from app.runners.opencode.client import Access, Client
from app.runners.opencode.events import Prompted
from app.runners.opencode.probe import ACCEPTED, Model, model_of, probe
from app.runners.paths import check_workspace
from app.runners.registry import RunnerSpec
from app.runners.runner import (
    Answer,
    Ask,
    Capabilities,
    Decide,
    Launcher,
    Readiness,
    SessionRef,
    SessionSpec,
    Sink,
    Usage,
)

RECONNECT_S = 0.5
LAST_EVENTS_S = 1.0
"""An answer and the last events of its turn come on two connections; also what a turn gets to end on `close`."""
PASSWORD, ISOLATED = "OPENCODE_SERVER_PASSWORD", "OPENCODE_ISOLATED"
"""Of a server that runs already: its password, and the operator's word that it is isolated (RN-59)."""


@dataclass(frozen=True)
class Options:
    """What a test or an operator may set; `access` is for a server that runs already (B20)."""

    waits: Waits = field(default_factory=Waits)
    access: Access | None = None


@dataclass
class _Session:
    spec: SessionSpec
    usage: Usage
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    prompted: Prompted | None = None
    reply: "asyncio.Task[Mapping[str, Any]] | None" = None
    aborted: bool = False

    def is_active(self) -> bool:
        return self.reply is not None and not self.reply.done()


class OpenCodeRunner:
    """One server and its sessions for one turn; started when first needed and ended by `close`."""

    def __init__(self, spec: RunnerSpec, launcher: Launcher, options: Options | None = None) -> None:
        self._spec = spec
        self._launcher = launcher
        self._options = options or Options()
        self._waits = self._options.waits
        self._access = self._options.access or _access(spec)
        self._model = _model(spec.config)
        self._sessions: dict[str, _Session] = {}
        self._server: process.Server | None = None
        self._client: Client | None = None
        self._starting: asyncio.Task[Client] | None = None
        self._probing: asyncio.Task[Readiness] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._connected = asyncio.Event()
        self._last_at = 0.0

    @property
    def id(self) -> str:
        return self._spec.id

    @property
    def active(self) -> frozenset[str]:
        """Sessions in which a turn runs at this moment (B19)."""
        return frozenset(name for name, session in self._sessions.items() if session.is_active())

    def capabilities(self) -> Capabilities:
        return Capabilities(resume=True, structured="native", cancel=True)

    async def ready(self) -> Readiness:
        """Health, API surface, models, in this order; concurrent calls share one probe (B1, B6)."""
        if self._probing is None or (self._probing.done() and not self._probing.result().ok):
            self._probing = asyncio.create_task(self._probe())
        return await asyncio.shield(self._probing)

    async def _probe(self) -> Readiness:
        try:
            client = await self._up()
        except RunnerFailure as stopped:
            return Readiness(False, problems=(stopped.error.message,))
        return await probe(client, self._model, self._spec.manifest.spec.requires.version or ACCEPTED)

    async def create_session(self, spec: SessionSpec) -> SessionRef:
        """A new session in the workspace. Raises RunnerFailure, `runner.not_ready` with the probe's words."""
        client = await self._usable(spec)
        session_id = await client.create("Remedy")
        self._sessions[session_id] = _Session(spec, Usage())
        return SessionRef(session_id)

    async def resume_session(self, spec: SessionSpec, ref: SessionRef) -> SessionRef:
        """The same session, read from the server's own data; any error of it is `runner.session_lost`."""
        client = await self._usable(spec)
        try:
            found = await client.session(ref.agent_session_id)
        except RunnerFailure as stopped:
            raise failure(Code.SESSION_LOST, stopped.error.message, stopped.error.detail) from stopped
        if found.get("directory") != self._directory(spec):
            raise failure(Code.SESSION_LOST, "the session belongs to another folder")
        self._sessions[ref.agent_session_id] = _Session(spec, usage_of(found))
        return ref

    async def _usable(self, spec: SessionSpec) -> Client:
        """The client of a server that is ready; why it is not is said with the code of its start where it has one."""
        check_workspace(spec)
        await self._up(spec)
        found = await self.ready()
        if not found.ok:
            raise failure(Code.NOT_READY, "; ".join(found.problems))
        return await self._up(spec)

    async def send(self, ref: SessionRef, ask: Ask, sink: Sink, decide: Decide) -> Answer:
        """One prompt and its raw answer; a second prompt of the same session waits for the first (RN-7)."""
        session = self._sessions.get(ref.agent_session_id)
        if session is None:
            raise failure(Code.SESSION_LOST, "the session is not open in this process")
        client = await self._up()
        async with session.lock:
            if session.is_active():  # left behind by a prompt whose caller went away
                await self.abort(ref)
            session.prompted = Prompted(ref.agent_session_id, session.spec, sink, decide)
            session.aborted = False
            await self._listen(client)
            body = _body(ask, _model_of_session(session.spec) or self._model)
            session.reply = asyncio.create_task(client.prompt(ref.agent_session_id, body))
            try:
                return await self._answer(session)
            finally:
                session.prompted = None

    async def _answer(self, session: _Session) -> Answer:
        assert session.prompted is not None
        try:
            reply = await self._watch(session)
        except RunnerFailure as stopped:
            error = await self._why(stopped.error)
            if not session.aborted:
                raise RunnerFailure(error) from stopped
            return Answer("cancelled", error=error)
        answer = answer_of(reply)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(session.prompted.idle.wait(), LAST_EVENTS_S)
        session.prompted.end(answer.text)
        if session.prompted.denials >= DENIALS_ALLOWED:
            denied = RunnerError(Code.DENIED, f"{session.prompted.denials} requests were outside the grant")
            return replace(answer, state="failed", error=denied)
        return answer

    async def _watch(self, session: _Session) -> Mapping[str, Any]:
        """Waits as long as the server gives a sign within `idle_s`; a retry of the provider is none (RN-17, RN-18)."""
        reply = session.reply
        assert reply is not None
        clock = asyncio.get_running_loop().time
        self._last_at = clock()
        while not reply.done():
            left = self._last_at + self._waits.idle_s - clock()
            if left <= 0:
                raise failure(Code.TIMEOUT, f"no event for {self._waits.idle_s:g} seconds")
            await asyncio.wait({reply}, timeout=left)
        return reply.result()

    async def _why(self, error: RunnerError) -> RunnerError:
        """A lost connection in words of the process, where the server is ours and has ended (RN-23)."""
        if self._server is None or error.code is not Code.CRASHED:
            return error
        how = await self._server.how_it_ended()
        return RunnerError(Code.CRASHED, f"the server ended ({how})" if how else error.message, self._server.tail)

    async def abort(self, ref: SessionRef) -> None:
        """Ends the running turn; safe for idle and unknown sessions. Raises RunnerFailure when it does not end."""
        session = self._sessions.get(ref.agent_session_id)
        if session is None or self._client is None:
            return
        session.aborted = True
        if self._server is not None and self._server.has_ended():
            return
        await self._client.abort(ref.agent_session_id)
        if session.reply is not None and session.is_active():
            done, _ = await asyncio.wait({session.reply}, timeout=self._waits.abort_s)
            if not done:
                raise failure(Code.TIMEOUT, f"the server did not stop the turn within {self._waits.abort_s:g} seconds")

    async def usage(self, ref: SessionRef) -> Usage:
        """The sums of the session so far; the last known ones when the server does not tell them any more."""
        session = self._sessions.get(ref.agent_session_id)
        if session is None or self._client is None:
            return Usage(exact=False)
        try:
            session.usage = usage_of(await self._client.session(ref.agent_session_id))
        except RunnerFailure:
            return replace(session.usage, exact=False)
        return session.usage

    async def close(self) -> None:
        """Aborts what runs (once), goes on after a failed abort, ends every process (B18). Raises the first failure."""
        aborts = [self.abort(SessionRef(name)) for name in self.active if not self._sessions[name].aborted]
        try:
            ended = await asyncio.gather(*aborts, return_exceptions=True)
            await self._last_words()
        finally:
            await self._drop()
        if failed := next((one for one in ended if isinstance(one, BaseException)), None):
            raise failed

    async def _last_words(self) -> None:
        """A turn in flight that was aborted may still hand in its result."""
        if left := [session.reply for session in self._sessions.values() if session.reply and session.is_active()]:
            await asyncio.wait(left, timeout=LAST_EVENTS_S)

    async def _drop(self) -> None:
        replies = [session.reply for session in self._sessions.values() if session.reply is not None]
        tasks = [one for one in (*replies, self._listening, self._probing, self._starting) if one is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.close()
        if self._server is not None:
            await self._server.stop()

    def _directory(self, spec: SessionSpec | None) -> str:
        """A server of the operator's sees the workspace under the host's path, ours under the sandbox's (8.8)."""
        if self._access is not None and spec is not None:
            return str(spec.workspace)
        return spec.cwd if spec is not None else self._launcher.cwd

    async def _up(self, spec: SessionSpec | None = None) -> Client:
        if self._starting is None or (self._starting.done() and self._starting.exception() is not None):
            self._starting = asyncio.create_task(self._start(self._directory(spec), spec))
        return await asyncio.shield(self._starting)

    async def _start(self, directory: str, spec: SessionSpec | None) -> Client:
        if self._access is not None:
            if self._spec.url is not None and not self._spec.env.get(ISOLATED):
                text = f"{self.id}: the server at its url is not under our sandbox; set {ISOLATED} if it has its own"
                raise failure(Code.SANDBOX_UNAVAILABLE, text)
            self._client = Client(self._access, directory)
            return self._client
        self._server = server = await process.start(
            self._spec, self._launcher, spec.tools if spec is not None else None
        )
        self._client = client = Client(server.access, directory)
        try:
            await process.until_up(server, client, self._waits.initialize_s)
        except BaseException:
            await client.close()
            await server.stop()
            raise
        return client

    async def _listen(self, client: Client) -> None:
        """Events flow before the prompt is sent; without them a request for permission would hang the turn (RN-34)."""
        if self._listening is None:
            self._listening = asyncio.create_task(self._events(client))
        try:
            await asyncio.wait_for(self._connected.wait(), self._waits.session_s)
        except TimeoutError:
            raise failure(Code.PROTOCOL, "the server does not tell its events") from None

    async def _events(self, client: Client) -> None:
        """A stream that breaks is opened again: there is no replay, so a session is never judged by it (8.7)."""
        while True:
            with contextlib.suppress(httpx.HTTPError):
                async for event in client.events():
                    self._connected.set()
                    await self._take(client, event["type"], event["properties"])
            await asyncio.sleep(RECONNECT_S)

    async def _take(self, client: Client, kind: str, properties: Mapping[str, Any]) -> None:
        session = self._sessions.get(str(properties.get("sessionID") or _session_of(properties)))
        if session is None or session.prompted is None:
            return
        if session.prompted.take(kind, properties):
            self._last_at = asyncio.get_running_loop().time()
        with contextlib.suppress(RunnerFailure):  # answered elsewhere, or the turn is over
            if kind == "permission.asked":
                ruling = session.prompted.rule(properties)
                await client.permit(str(properties.get("id")), ruling.allow, f"not allowed: {ruling.rule}")
                if session.prompted.denials == DENIALS_ALLOWED:
                    await client.abort(session.prompted.session_id)
            elif kind == "question.asked":
                await client.refuse_question(str(properties.get("id")))


def _session_of(properties: Mapping[str, Any]) -> str:
    for name in ("part", "info"):
        found = properties.get(name)
        if isinstance(found, dict) and found.get("sessionID"):
            return str(found["sessionID"])
    return ""


def _access(spec: RunnerSpec) -> Access | None:
    return None if spec.url is None else Access(spec.url, spec.env.get(PASSWORD, ""))


def _model(config: Mapping[str, object]) -> Model | None:
    """From the runner's configuration: `model`, with `provider` in front where it is set, and `variant`."""
    model, variant = config.get("model"), config.get("variant")
    if not model:
        return None
    name = f"{config['provider']}/{model}" if config.get("provider") else str(model)
    return model_of(name, str(variant) if variant else None)


def _model_of_session(spec: SessionSpec) -> Model | None:
    return model_of(spec.model, spec.effort) if spec.model else None


def _body(ask: Ask, model: Model | None) -> dict[str, Any]:
    """B11. The server refuses unknown fields; questions and sub-agents would block a turn for ever (RN-58)."""
    body: dict[str, Any] = {
        "agent": "build",
        "tools": {"question": False, "task": False},
        "parts": [{"type": "text", "text": ask.text}],
    }
    if model is not None:
        body["model"] = {"providerID": model.provider, "modelID": model.name}
        if model.variant is not None:
            body["variant"] = model.variant
    if ask.schema is not None:
        body["format"] = {"type": "json_schema", "schema": dict(ask.schema)}
    return body
