"""What a failed protocol call means: JSON-RPC errors and lost processes as codes of the closed list."""

import re
from collections.abc import Mapping

from acp import RequestError

from app.runners.codes import Code, RunnerError, text_of

STATUS_CODES: Mapping[int, Code] = {
    401: Code.AUTH_REQUIRED,
    403: Code.AUTH_REQUIRED,
    429: Code.RATE_LIMITED,
}
PROTOCOL_CODES: Mapping[int, Code] = {
    -32700: Code.PROTOCOL,
    -32600: Code.PROTOCOL,
    -32601: Code.PROTOCOL,
    -32602: Code.PROTOCOL,
    -32000: Code.AUTH_REQUIRED,
    -32002: Code.SESSION_LOST,
}
ERROR_KINDS: Mapping[str, Code] = {
    "authentication_failed": Code.AUTH_REQUIRED,
    "rate_limit": Code.RATE_LIMITED,
}
"""`data.errorKind` of claude-agent-acp; the first row is measured with 0.49.0."""

ENDED_BY_LIMIT: Mapping[str, Code] = {"wall": Code.TIMEOUT, "idle": Code.TIMEOUT, "output": Code.PROTOCOL}
"""Ends that the sandbox made (sandbox.md, 3): all others are a crash."""


def of_request(error: RequestError) -> RunnerError:
    """The code of a JSON-RPC error (runners.md, 9.3); prose is read for one sentence of Codex only (RN-68)."""
    data = error.data if isinstance(error.data, dict) else {}
    known = ERROR_KINDS.get(str(data.get("errorKind"))) or STATUS_CODES.get(_status(error.code, data))
    code = known or PROTOCOL_CODES.get(error.code, Code.PROVIDER_FAILED)
    return RunnerError(code, text_of(error), detail=str(error.data or ""))


def _status(code: object, data: Mapping[str, object]) -> int:
    for value in (code, data.get("statusCode"), data.get("status")):
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    said = re.search(r"unexpected status (\d{3})\b", str(data.get("message", "")))
    return int(said[1]) if said else 0
