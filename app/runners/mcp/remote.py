"""Sessions of a remote agent: find one by its tag, make it, look at it, speak to it, end it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.runners.codes import Code, RunnerFailure, failure
from app.runners.mcp.gateway import Access, Gateway, access_of
from app.runners.mcp.litellm_rest import LiteLLMRest
from app.runners.mcp.native import Native
from app.runners.mcp.states import Seen, State, last_message, payload_of, sessions_of, text_of_result, with_tag
from app.runners.mcp.tools import Order, Tool, create_arguments, interact_arguments, pick, search_arguments
from app.runners.mcp.trouble import unread
from app.runners.registry import RunnerSpec
from app.runners.runner import Capabilities, Readiness

GONE = ("not found", "no such session", "does not exist", "unknown session")


@dataclass(frozen=True)
class _Tools:
    create: Tool
    search: Tool
    interact: Tool


class Remote:
    """One remote agent, made new for each step of a turn. Methods that speak to it raise RunnerFailure."""

    def __init__(self, spec: RunnerSpec, gateway: Gateway | None = None) -> None:
        self._spec = spec
        access, self.settings = access_of(spec)
        self._gateway = gateway or _gateway(access, self.settings.transport, self.settings.server)
        self._tools: _Tools | None = None

    @property
    def id(self) -> str:
        return self._spec.id

    def capabilities(self) -> Capabilities:
        return Capabilities(resume=True, structured="poll", cancel=True, attached=False)

    async def ready(self) -> Readiness:
        """Whether the gateway lists the three tools and they take what we must pass; nothing is called (A19)."""
        try:
            tools = await self._picked()
            create_arguments(tools.create, Order("probe", "probe", ("probe",)))
            search_arguments(tools.search, "probe")
            interact_arguments(tools.interact, "get", "probe")
        except RunnerFailure as stopped:
            return Readiness(False, problems=(f"{stopped.error.code}: {stopped.error.message}",))
        return Readiness(True)

    async def find(self, tag: str, but: str = "") -> Seen | None:
        """The session that carries `tag`; the only safe step after anything ambiguous (G17). `but` is one that is over.

        What happens to a search changes nothing, so none of its failures is ambiguous.
        """
        tools = await self._picked()
        result = await self._asked(tools.search, search_arguments(tools.search, tag))
        return with_tag(sessions_of(payload_of(result), self.settings.id_prefix), tag, but)

    async def create(self, order: Order) -> Seen:
        """One call that makes a session, after `find` only. Raises `gateway.ambiguous` unless it is sure (G15, G17)."""
        tools = await self._picked()
        arguments = create_arguments(tools.create, replace(order, max_acu=order.max_acu or self.settings.max_acu))
        result = await self._gateway.call(tools.create, arguments)
        made = sessions_of(payload_of(result), self.settings.id_prefix)
        if len(made) != 1:
            raise unread(text_of_result(result))
        return made[0]

    async def look(self, session_id: str) -> Seen:
        """The session now; raises `runner.session_lost` where the server does not know it."""
        result = await self._interact("get", session_id)
        rows = [] if result is None else sessions_of(payload_of(result), self.settings.id_prefix)
        seen = next((row for row in rows if row.session_id == session_id), None)
        if seen is None:
            raise failure(Code.PROTOCOL, "validation: the answer about the session is not about it")
        if seen.text or seen.state is State.RUNNING:
            return seen
        return replace(seen, text=await self._last_words(session_id))

    async def _last_words(self, session_id: str) -> str:
        result = await self._interact("messages", session_id)
        return "" if result is None else last_message(payload_of(result))

    async def say(self, session_id: str, text: str) -> None:
        """One message into a session: it wakes one that sleeps. Never repeated here."""
        tools = await self._picked()
        arguments = interact_arguments(tools.interact, "message", session_id, text)
        if arguments is None:
            raise failure(Code.GATEWAY_TOOL, f"{tools.interact.name}: takes no messages")
        await self._gateway.call(tools.interact, arguments)

    async def end(self, session_id: str) -> bool:
        """End a session; False where the vendor has no such action."""
        return await self._interact("terminate", session_id) is not None

    async def _interact(self, what: str, session_id: str) -> Mapping[str, Any] | None:
        """A call that may be repeated; None where the tool has no such action."""
        tools = await self._picked()
        arguments = interact_arguments(tools.interact, what, session_id)
        return None if arguments is None else await self._asked(tools.interact, arguments)

    async def _asked(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self._gateway.call(tool, arguments)
        except RunnerFailure as stopped:
            error = stopped.error
            if error.code is Code.GATEWAY_AMBIGUOUS:
                raise RunnerFailure(replace(error, code=Code.GATEWAY_UNREACHABLE, ambiguous=False)) from stopped
            if error.code is Code.REMOTE_REFUSED and any(word in error.message.lower() for word in GONE):
                raise RunnerFailure(replace(error, code=Code.SESSION_LOST)) from stopped
            raise

    async def _picked(self) -> _Tools:
        """The three tools, chosen before anything is called (A18)."""
        if self._tools is None:
            listed, names = await self._gateway.tools(), self.settings.tools
            server, known = self.settings.server, not self.settings.shared and self.settings.transport == "native"
            wanted = (names.create, names.search, names.interact)
            self._tools = _Tools(*(pick(listed, name, server, known) for name in wanted))
        return self._tools


def _gateway(access: Access, transport: str, server: str) -> Gateway:
    return Native(access) if transport == "native" else LiteLLMRest(access, server)
