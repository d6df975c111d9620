"""The last assistant message of a turn as an Answer, and what its error means (runners.md, 8.4 and 8.6)."""

import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.runners.codes import Code, RunnerError, failure, plain
from app.runners.runner import Answer, Usage
from app.runners.tail import TextTail

MISSING = frozenset({"StructuredOutputError", "MessageOutputLengthError"})
"""Errors that mean: no result was handed in, ask once more."""

BY_NAME: Mapping[str, Code] = {
    "ProviderAuthError": Code.AUTH_REQUIRED,
    "ContextOverflowError": Code.CONTEXT_OVERFLOW,
}
BY_STATUS: Mapping[int, Code] = {
    401: Code.AUTH_REQUIRED,
    403: Code.AUTH_REQUIRED,
    429: Code.RATE_LIMITED,
}


def answer_of(reply: Mapping[str, Any]) -> Answer:
    """B12, B15, RN-16: no error and no result is a missing result. Raises RunnerFailure without metadata."""
    info = reply.get("info")
    if not isinstance(info, dict):
        raise failure(Code.PROTOCOL, "response did not include assistant metadata")
    tail = TextTail()
    parts = reply.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            tail.add(plain(part["text"]) + "\n")
    text, stop = tail.take().removesuffix("\n"), str(info.get("finish") or "")
    error = _error(info.get("error"))
    if error is not None:
        return Answer("cancelled" if error.code is Code.CANCELLED else "failed", text, error=error, stop=stop)
    return Answer("done", text, info.get("structured"), stop=stop, hidden_marker=tail.hides_marker)


def _error(error: Any) -> RunnerError | None:
    if not isinstance(error, dict) or error.get("name") in MISSING:
        return None
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    name, message = str(error.get("name")), str(data.get("message") or "")
    if name == "MessageAbortedError":
        return RunnerError(Code.CANCELLED, "the turn was cancelled")
    status = data.get("statusCode")
    code = BY_NAME.get(name) or BY_STATUS.get(status if isinstance(status, int) else 0, Code.PROVIDER_FAILED)
    return RunnerError(code, f"{name}: {message}", str(data.get("responseBody") or ""), _retry_at(data))


def _retry_at(data: Mapping[str, Any]) -> int | None:
    headers = data.get("responseHeaders")
    wait = headers.get("retry-after") if isinstance(headers, dict) else None
    return int((time.time() + int(wait)) * 1000) if isinstance(wait, str) and wait.isdigit() else None


def usage_of(session: Mapping[str, Any]) -> Usage:
    """The sums of a session; those of a message are its last step only (RN-56). A server without prices tells 0."""
    tokens, cost = session.get("tokens"), session.get("cost")
    tokens = tokens if isinstance(tokens, dict) else {}
    cache = tokens.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    usd = Decimal(str(cost)) if isinstance(cost, int | float) and cost else None
    given = _count(tokens.get("input")) + _count(cache.get("write"))
    made = _count(tokens.get("output")) + _count(tokens.get("reasoning"))
    return Usage(given, made, _count(cache.get("read")), usd, exact=bool(tokens))


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value >= 0 else 0
