"""The REST face of a LiteLLM gateway in front of `Devin`, in two version shapes (runners.md, 10.4; RN-80)."""

import asyncio
import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.agents.devin import Devin, Fault
from tests.agents.serving import served

SERVER_ID = "5b6f2c1de0a94f7c"


class LiteLLM:
    """`with LiteLLM(devin, "1.85") as gateway:` serves at `gateway.url`; `slow_s` is the gateway's own patience."""

    def __init__(
        self, devin: Devin, version: str = "1.108", *, key: str = "sk-canary-gateway", slow_s: float = 0.5
    ) -> None:
        self.devin, self.version, self.key, self.slow_s = devin, version, key, slow_s
        self.others: list[dict[str, Any]] = []
        self.down = False
        routes = [
            Route("/mcp-rest/tools/list", self._list),
            Route("/v1/mcp/server", self._servers),
            Route("/mcp-rest/tools/call", self._call, methods=["POST"]),
        ]
        self._serving = served(Starlette(routes=routes))
        self.url = ""

    def __enter__(self) -> "LiteLLM":
        self.url = self._serving.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.__exit__(None, None, None)

    def _refused(self, request: Request) -> JSONResponse | None:
        given = request.headers.get("authorization")
        if given is None:
            return _error(500, "Authentication Error, No api key passed in.", "auth_error")
        if given != f"Bearer {self.key}":
            return _error(400, f"No connected db. Received key {given}", "no_db_connection")
        return None

    async def _list(self, request: Request) -> JSONResponse:
        if refused := self._refused(request):
            return refused
        if fault := self.devin._next("list", "http"):
            return _error(fault.status, fault.text, "fault")
        if self.down:
            said = {"devin": "ConnectError: All connection attempts failed"}
            return JSONResponse({"tools": [], **({"server_outcomes": said} if self.version == "1.108" else {})})
        info = {"server_name": "devin", "alias": "devin"}
        if self.version == "1.108":
            info["server_id"] = SERVER_ID
        tools = [
            {"name": name, "inputSchema": self.devin.schema_of(kind), "mcp_info": info}
            for name, kind in self.devin.names
        ]
        return JSONResponse({"tools": [*tools, *self.others], "error": None, "message": "ok"})

    async def _servers(self, request: Request) -> JSONResponse:
        return self._refused(request) or JSONResponse([{"server_id": SERVER_ID, "server_name": "devin", "alias": None}])

    async def _call(self, request: Request) -> JSONResponse:
        if refused := self._refused(request):
            return refused
        asked = await request.json()
        known = {SERVER_ID} if self.version == "1.85" else {SERVER_ID, "devin"}
        if "server_id" not in asked:
            return _error(400, "server_id is required in request body", "missing_parameter")
        if asked["server_id"] not in known:
            return _error(403, "The key is not allowed to access server", "access_denied")
        kind = dict(self.devin.names).get(asked["name"])
        if kind is None:
            return _error(500 if self.version == "1.108" else 404, f"Tool {asked['name']} not found", "tool")
        if fault := self.devin._next(kind, "http", "error", "slow"):
            return await self._faulty(fault, kind, asked["arguments"])
        return self._said(self.devin.do(kind, asked["arguments"]))

    async def _faulty(self, fault: Fault, kind: str, arguments: dict[str, Any]) -> JSONResponse:
        if fault.kind == "http":
            return _error(fault.status, fault.text, "fault", dict(fault.headers))
        if fault.kind == "error":
            return self._said(fault.text)
        self.devin.do(kind, arguments)
        await asyncio.sleep(self.slow_s)
        return _error(504, "MCP tool call timed out", "timeout")

    def _said(self, data: Any) -> JSONResponse:
        text = data if isinstance(data, str) else json.dumps(data)
        return JSONResponse({"content": [{"type": "text", "text": text}], "isError": isinstance(data, str)})


def _error(status: int, text: str, code: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": {"error": code, "message": text}}, status, headers)
