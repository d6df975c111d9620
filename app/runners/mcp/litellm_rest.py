"""A LiteLLM gateway over its REST routes, where native MCP is not wanted (runners.md, 10.6)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from app.runners.codes import Code, failure, text_of
from app.runners.edge import TIMEOUT_S, Outcome, Word, answered, unreached
from app.runners.mcp.gateway import Access, Shelf
from app.runners.mcp.states import text_of_result
from app.runners.mcp.tools import Tool
from app.runners.mcp.trouble import of_http, of_tool
from app.tls import authorities

UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass
class LiteLLMRest(Shelf):
    """`access.url` is the gateway's own address. The owner of a tool is what `mcp_info` says."""

    access: Access
    server: str
    empty = "network: the gateway lists no tool at all"

    async def _list(self) -> tuple[Tool, ...]:
        """All tools of all servers, each with its owner and the id that a call needs (G13)."""
        data = await self._ask("GET", "/mcp-rest/tools/list")
        rows = data.get("tools") if isinstance(data, dict) else data
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        if not rows and isinstance(data, dict):
            self._refuse_empty(data)
        ids = {} if all(_info(row).get("server_id") for row in rows) else await self._server_ids()
        return tuple(_tool(row, ids) for row in rows)

    def _refuse_empty(self, data: Mapping[str, Any]) -> None:
        """G21: an empty list under 200 says why in `server_outcomes`."""
        outcomes = data.get("server_outcomes") or data.get("message")
        if outcomes:
            raise failure(Code.GATEWAY_UNREACHABLE, f"network: no tools; the gateway says {str(outcomes)[:300]}")

    async def _server_ids(self) -> dict[str, str]:
        """1.85 takes only the id, and names only the server in `mcp_info`."""
        data = await self._ask("GET", "/v1/mcp/server")
        rows = data if isinstance(data, list) else []
        return {
            str(row[key]): str(row["server_id"])
            for row in rows
            if isinstance(row, dict) and row.get("server_id")
            for key in ("server_name", "alias")
            if row.get(key)
        }

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """One call, never repeated here."""
        if not tool.server_id:
            raise failure(Code.GATEWAY_TOOL, f"{tool.name}: the gateway tells no id of its server")
        body = {"server_id": tool.server_id, "name": tool.name, "arguments": dict(arguments)}
        data = await self._ask("POST", "/mcp-rest/tools/call", body)
        if isinstance(data, list):
            data = {"content": data}
        result: Mapping[str, Any] = data if isinstance(data, dict) else {}
        if result.get("isError"):
            raise of_tool(self.access.scrubbed(text_of_result(result)))
        return result

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        outcome = await self._outcome(method, path, body)
        if outcome.word is Word.SUCCESS:
            return outcome.data
        raise of_http(replace(outcome, body=self.access.scrubbed(outcome.body)), call=body is not None)

    async def _outcome(self, method: str, path: str, body: Mapping[str, Any] | None) -> Outcome:
        limit_s = TIMEOUT_S if body is None else self.access.timeout_s
        try:
            async with httpx.AsyncClient(
                headers=dict(self.access.headers), timeout=limit_s, verify=authorities()
            ) as http:
                response = await http.request(method, f"{self.access.url.rstrip('/')}{path}", json=body)
        except httpx.HTTPError as error:
            return unreached(text_of(error), sent=not isinstance(error, UNSENT))
        return answered(response.status_code, response.content, response.headers)


def _info(row: Mapping[str, Any]) -> Mapping[str, Any]:
    info = row.get("mcp_info")
    return info if isinstance(info, dict) else {}


def _tool(row: Mapping[str, Any], ids: Mapping[str, str]) -> Tool:
    info = _info(row)
    names = [str(info[key]) for key in ("server_name", "alias", "server_id") if info.get(key)]
    server_id = str(info.get("server_id") or next((ids[name] for name in names if name in ids), ""))
    schema = row.get("inputSchema") or row.get("input_schema") or {}
    owners = frozenset([*names, *([server_id] if server_id else [])])
    return Tool(str(row.get("name") or ""), schema if isinstance(schema, dict) else {}, owners, server_id)
