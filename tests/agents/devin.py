"""A vendor of remote agents as an MCP server over real HTTP: Devin's tools in both shapes, without a model.

Sessions live in memory and walk through a script, one state per look. Faults are scripted; `calls` counts what really
ran, so that "exactly one session" is a number. `on_work` is where a journey pushes the agent's branch.
"""

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from tests.agents.serving import served

TOOLS = {"create": "devin_session_create", "search": "devin_session_search", "interact": "devin_session_interact"}
RESULT = {"summary_markdown": "Count a full last page once\nCause: the division.", "tests": []}
NEW, WORKING = {"status": "new"}, {"status": "running", "status_detail": "working"}
FINISHED = {"status": "running", "status_detail": "finished", "structured_output": RESULT, "acus_consumed": 1.5}

_TEXT, _TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_SESSION = {"prompt": _TEXT, "title": _TEXT, "tags": _TEXTS, "max_acu_limit": {"type": "integer"}, "repos": _TEXTS}
_FLAT = {**_SESSION, "structured_output_schema": {"type": "object"}}
SHAPES: Mapping[str, dict[str, Any]] = {
    "flat": {"type": "object", "properties": _FLAT, "required": ["prompt"]},
    "sessions": {
        "type": "object",
        "$defs": {"One": {"type": "object", "properties": _SESSION, "required": ["prompt"]}},
        "properties": {
            "sessions": {"type": "array", "items": {"$ref": "#/$defs/One"}},
            "structured_output_schema": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        },
        "required": ["sessions"],
    },
    "no_tags": {"type": "object", "properties": {"prompt": _TEXT, "title": _TEXT}, "required": ["prompt"]},
}
SEARCH = {"type": "object", "properties": {"tags": _TEXTS, "limit": {"type": "integer"}}}
ACTIONS = ("get", "message", "terminate", "archive", "get_messages")


@dataclass
class Session:
    """One remote session; `told` is every prompt and message that it got."""

    id: str
    prompt: str
    title: str
    tags: list[str]
    arguments: dict[str, Any]
    script: list[dict[str, Any]]
    told: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ended: bool = False

    def now(self) -> dict[str, Any]:
        """The state of this look; the last one of the script stays."""
        if self.ended:
            return {"status": "exit"}
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@dataclass
class Fault:
    """What goes wrong at the next `times` calls of `create`, `search` or an action, or of `list` and `connect`.

    Kinds: `error` (isError with `text`), `slow` (does it, then waits `seconds`), `crash`, `plain` (does it, `text` is
    the whole answer), `empty` (likewise), `cut` (does it, then the connection ends) and `http` (`status`, `text` and
    `headers`; nothing is done).
    """

    tool: str
    kind: str
    text: str = ""
    seconds: float = 0
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1


class Devin:
    """`with Devin(...) as devin:` serves MCP at `devin.url`; `key` None asks for none."""

    def __init__(self, shape: str = "flat", *, key: str | None = "dv-canary-key", port: int = 0) -> None:
        self.shape, self.key = shape, key
        self.script: list[dict[str, Any]] = [NEW, WORKING, FINISHED]
        self.after_message: list[dict[str, Any]] = [WORKING, FINISHED]
        self.actions: Sequence[str] = ACTIONS
        self.names: list[tuple[str, str]] = [(name, kind) for kind, name in TOOLS.items()]
        self.bare_ids = False
        self.sessions: list[Session] = []
        self.faults: list[Fault] = []
        self.calls: list[str] = []
        self.requests = 0
        self.on_work: Callable[[Session, str], None] = lambda session, text: None
        self._serving = served(self._app, port, lifespan="on")
        self.url = ""
        self._mcp = self._server().streamable_http_app(json_response=True, stateless_http=True)

    def __enter__(self) -> "Devin":
        self.url = f"{self._serving.__enter__()}/mcp"
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.__exit__(None, None, None)

    def count(self, kind: str) -> int:
        """How often a tool really ran: `create`, `search`, or an action of interact."""
        return self.calls.count(kind)

    def _server(self) -> Server[Any]:
        async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[self._tool(name, kind) for name, kind in self.names])

        async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            return await self._call(params.name, params.arguments or {})

        return Server("devin", on_list_tools=list_tools, on_call_tool=call_tool)

    def schema_of(self, kind: str) -> dict[str, Any]:
        if kind == "create":
            return SHAPES[self.shape]
        if kind == "search":
            return SEARCH
        words = {"type": "string", "enum": list(self.actions)}
        properties = {"session_id": _TEXT, "action": words, "message": _TEXT}
        return {"type": "object", "properties": properties, "required": ["session_id", "action"]}

    def _tool(self, name: str, kind: str) -> types.Tool:
        return types.Tool(name=name, input_schema=self.schema_of(kind))

    async def _call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        kind = dict(self.names).get(name)
        if kind is None:
            return _error(f"Unknown tool: {name}")
        fault = self._next(_what(kind, arguments), "error", "crash", "slow", "plain", "empty")
        if fault is not None and fault.kind == "error":
            return _error(fault.text)
        if fault is not None and fault.kind == "crash":
            raise RuntimeError("hidden by the SDK")
        data = self.do(kind, arguments)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.kind in ("plain", "empty"):
            return types.CallToolResult(content=[types.TextContent(text=fault.text)] if fault.text else [])
        if isinstance(data, str):
            return _error(data)
        return types.CallToolResult(content=[types.TextContent(text=json.dumps(data))])

    def do(self, kind: str, arguments: dict[str, Any]) -> Any:
        """What the vendor does; a string is what it refuses with."""
        if kind == "create":
            self.calls.append("create")
            wanted = arguments.get("sessions", [arguments])
            made = [self._make(one, arguments) for one in wanted]
            shown = [{"session_id": self._shown(one), "url": f"https://app.devin.example/{one.id}"} for one in made]
            return shown[0] if self.shape == "flat" else {"sessions": shown}
        if kind == "search":
            self.calls.append("search")
            tags = set(arguments.get("tags", ()))
            found = [one for one in self.sessions if tags <= set(one.tags)]
            return {
                "sessions": [{"session_id": self._shown(one), "tags": one.tags, "status": "running"} for one in found]
            }
        return self._interact(arguments)

    def _make(self, given: dict[str, Any], arguments: dict[str, Any]) -> Session:
        name = f"devin-{secrets.token_hex(8)}"
        known = {**arguments, **given}
        session = Session(
            name, given["prompt"], given.get("title", ""), list(given.get("tags", ())), known, [*self.script]
        )
        session.told.append(session.prompt)
        self.sessions.append(session)
        self.on_work(session, session.prompt)
        return session

    def _interact(self, arguments: dict[str, Any]) -> Any:
        action = arguments["action"]
        self.calls.append(action)
        session = next((one for one in self.sessions if one.id == arguments["session_id"]), None)
        if session is None:
            return f"Session {arguments['session_id']} not found"
        if action == "message":
            session.told.append(arguments["message"])
            session.script = [*self.after_message]
            self.on_work(session, arguments["message"])
        if action == "terminate":
            session.ended = True
        if action == "get_messages":
            return {"messages": [{"source": "devin", "message": text} for text in session.said]}
        shown = {"session_id": session.id, "tags": session.tags, "url": f"https://app.devin.example/{session.id}"}
        return {**shown, **(session.now() if action == "get" else {})}

    def _shown(self, session: Session) -> str:
        return session.id.removeprefix("devin-") if self.bare_ids else session.id

    def _next(self, tool: str, *kinds: str) -> Fault | None:
        for fault in self.faults:
            if fault.tool == tool and fault.kind in kinds and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        """The MCP application behind what goes wrong in HTTP."""
        if scope["type"] != "http":
            await self._mcp(scope, receive, send)
            return
        self.requests += 1
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        tool = self._tool_of(body)
        if self.key is not None and (b"authorization", f"Bearer {self.key}".encode()) not in scope["headers"]:
            await _answer(send, 401, f"the key is not {self.key[:3]}...", {})
        elif fault := self._next(tool, "http"):
            await _answer(send, fault.status, fault.text, fault.headers)
        else:
            cut = self._next(tool, "cut")
            with suppress(RuntimeError):  # uvicorn misses the rest of what is cut
                await self._mcp(scope, _replay(body, receive), _cutting(send) if cut else send)

    def _tool_of(self, body: bytes) -> str:
        try:
            asked = json.loads(body)
        except ValueError:
            return "connect"
        method = asked.get("method", "")
        if method == "tools/call":
            kind = dict(self.names).get(asked["params"]["name"], "unknown")
            return _what(kind, asked["params"].get("arguments") or {})
        return "list" if method == "tools/list" else "connect"


def _what(kind: str, arguments: Mapping[str, Any]) -> str:
    """The tool, or the action of the one that has many."""
    return str(arguments.get("action", kind)) if kind == "interact" else kind


def _error(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _replay(body: bytes, receive: Any) -> Any:
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return given.pop() if given else await receive()

    return again


def _cutting(send: Any) -> Any:
    """The head of the answer, and then the connection ends."""

    async def cut(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = [(name, b"100000" if name == b"content-length" else value) for name, value in message["headers"]]
            await send({**message, "headers": headers})
        elif message.get("body"):
            await send({**message, "body": message["body"][:1]})

    return cut


async def _answer(send: Any, status: int, text: str, headers: Mapping[str, str]) -> None:
    head = [(name.encode(), value.encode()) for name, value in {"content-type": "text/plain", **headers}.items()]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": text.encode()})
