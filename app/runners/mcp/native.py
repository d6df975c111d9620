"""A gateway or a vendor's server over standard MCP, Streamable HTTP, with the official SDK (runners.md, 10.5)."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from app.runners.codes import RunnerFailure, text_of
from app.runners.edge import Outcome, answered, unreached
from app.runners.mcp.gateway import Access, Shelf
from app.runners.mcp.states import text_of_result
from app.runners.mcp.tools import Tool
from app.runners.mcp.trouble import of_http, of_tool

CONNECT_S = 10.0
PAGES = 20
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


@dataclass
class _Talk:
    """What was seen on the wire while the SDK spoke: it hides the status of an answer (RN-61)."""

    calling: bool = False
    bad: Outcome | None = None

    async def remember(self, response: httpx2.Response) -> None:
        if response.status_code >= 400:
            self.bad = answered(response.status_code, await response.aread(), response.headers)


@dataclass
class Native(Shelf):
    """Each operation has its own connection: minutes lie between two of them."""

    access: Access
    empty = "network: the server lists no tool at all; is it running?"

    async def _list(self) -> tuple[Tool, ...]:
        found: list[Tool] = []
        async with self._client(_Talk()) as client:
            cursor: str | None = None
            for _ in range(PAGES):
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
                found += [Tool(tool.name, tool.input_schema or {}) for tool in page.tools]
                cursor = page.next_cursor
                if not cursor:
                    break
        return tuple(found)

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """One call, never repeated here."""
        talk = _Talk()
        async with self._client(talk) as client:
            talk.calling = True
            result = await client.call_tool(tool.name, dict(arguments))
            talk.calling = False
        data: Mapping[str, Any] = result.model_dump(by_alias=True, mode="json")
        if data.get("isError"):
            raise of_tool(self.access.scrubbed(text_of_result(data)))
        return data

    @asynccontextmanager
    async def _client(self, talk: _Talk) -> AsyncIterator[Client]:
        """A connected client; whatever goes wrong inside comes out as one RunnerFailure (RN-62)."""
        limit_s = self.access.timeout_s
        hooks = {"response": [talk.remember]}
        timeout = httpx2.Timeout(limit_s + 5, connect=min(CONNECT_S, limit_s))
        try:
            async with (
                asyncio.timeout(limit_s + CONNECT_S),
                httpx2.AsyncClient(headers=dict(self.access.headers), timeout=timeout, event_hooks=hooks) as http,
                Client(streamable_http_client(self.access.url, http_client=http), read_timeout_seconds=limit_s) as one,
            ):
                yield one
        except (Exception, BaseExceptionGroup) as error:
            raise self._said(error, talk) from error

    def _said(self, error: BaseException, talk: _Talk) -> RunnerFailure:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if isinstance(error, RunnerFailure):
            return error
        if talk.bad is None and isinstance(error, MCPError) and talk.calling and "timed out" not in error.message:
            return of_tool(self.access.scrubbed(error.message))
        outcome = talk.bad or unreached(text_of(error), sent=not isinstance(error, UNSENT))
        return of_http(replace(outcome, body=self.access.scrubbed(outcome.body)), call=talk.calling)
