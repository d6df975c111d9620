"""Our tools as an MCP server for an ACP agent: over HTTP where it can, else through a bridge over stdio (RN-39)."""

from pathlib import Path

from acp import schema

from app.runners.acp import bridge
from app.runners.runner import HostTools

NAME = "remedy"
TOKEN = "MCP_BRIDGE_TOKEN"

Server = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio


def servers(tools: HostTools | None, offers: schema.InitializeResponse) -> list[Server]:
    """What goes into `session/new` and `session/load`; every agent must take a server over stdio."""
    if tools is None:
        return []
    agent = offers.agent_capabilities or schema.AgentCapabilities()
    if agent.mcp_capabilities is not None and agent.mcp_capabilities.http:
        header = schema.HttpHeader(name="Authorization", value=f"Bearer {tools.token}")
        return [schema.HttpMcpServer(type="http", name=NAME, url=tools.url, headers=[header])]
    program = ["python3", "-I", "-S", "-c", Path(bridge.__file__).read_text(), tools.url]
    token = schema.EnvVariable(name=TOKEN, value=tools.token)
    return [schema.McpServerStdio(name=NAME, command="/usr/bin/env", args=program, env=[token])]
