"""MCP as far as agents need it: one JSON-RPC message to one answer, without sessions and streams (runners.md, 6)."""

import json
from typing import Any

from app import __version__
from app.turns.tools.box import Toolbox

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Protocol versions that are echoed; a client that asks for another one is offered the first."""

Message = dict[str, Any]


def answer(body: bytes, box: Toolbox) -> Message | None:
    """The answer to one message, None for a notification."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return _error(None, -32700, "Parse error")
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return _error(None, -32600, "Invalid Request")
    if "id" not in message:
        return None
    request_id = message["id"] if isinstance(message["id"], int | str) else None
    params = message.get("params")
    result = _result(message["method"], params if isinstance(params, dict) else {}, box)
    if result is None:
        return _error(request_id, -32601, "Method not found")
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _result(method: str, params: Message, box: Toolbox) -> Message | None:
    match method:
        case "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "remedy", "version": __version__},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": box.listing()}
        case "tools/call":
            reply = box.call(str(params.get("name", "")), params.get("arguments") or {})
            return {"content": [{"type": "text", "text": reply.text}], "isError": reply.is_error}
    return None


def _error(request_id: int | str | None, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}
