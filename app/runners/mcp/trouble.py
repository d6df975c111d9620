"""From what a gateway did wrong to one code: one table for REST and for native MCP (G16, G17)."""

import re

from app.runners.codes import Code, RunnerError, RunnerFailure
from app.runners.edge import Outcome, Word

TEXT_CHARS = 200

_BEFORE = (
    (r"no_db_connection|no connected db|no api key|invalid api key|authentication error", Code.AUTH_REQUIRED),
    (r"server_not_found|tool_server_mismatch|not allowed|(unknown tool|tool\b.{0,80}\bnot found)", Code.GATEWAY_TOOL),
)
"""Words of a gateway that say more than its status; the first that fits counts."""

_OF_TOOLS = (
    (r"\b40[13]\b|unauthorized|forbidden", Code.AUTH_REQUIRED),
    (r"\b429\b|rate.?limit|too many requests", Code.RATE_LIMITED),
    (r"unknown tool|tool\b.{0,80}\bnot found", Code.GATEWAY_TOOL),
    (r"validation error|invalid arguments|input validation", Code.GATEWAY_ARGUMENTS),
    (r"connecterror|connection refused|all connection attempts failed", Code.GATEWAY_UNREACHABLE),
    (r"error: timeout|timed? ?out\b|\b50[0234]\b|connection (reset|closed)", Code.GATEWAY_AMBIGUOUS),
    (r"(error executing tool|internal (server )?error)\W*\w*$", Code.GATEWAY_AMBIGUOUS),
)
"""Words of a tool result with `isError`, in order."""


def of_http(outcome: Outcome, *, call: bool) -> RunnerFailure:
    """A request that failed. `call`: a tool was to run, so whatever the server may have seen is ambiguous."""
    code = _said(outcome.body, _BEFORE) if outcome.word is not Word.NETWORK else None
    if code is None:
        code = _by_word(outcome, call)
    return _failure(code, str(outcome), outcome.retry_at)


def _by_word(outcome: Outcome, call: bool) -> Code:
    late = Code.GATEWAY_AMBIGUOUS if call else Code.GATEWAY_UNREACHABLE
    match outcome.word:
        case Word.UNAUTHORIZED:
            return Code.AUTH_REQUIRED
        case Word.RATE_LIMITED:
            return Code.RATE_LIMITED
        case Word.NETWORK:
            return late if outcome.sent else Code.GATEWAY_UNREACHABLE
        case Word.VALIDATION:
            return late if call else Code.PROTOCOL
        case _:
            if outcome.status >= 500:
                return late
            return Code.GATEWAY_TOOL if outcome.status == 404 else Code.GATEWAY_ARGUMENTS


def of_tool(text: str) -> RunnerFailure:
    """A result with `isError`: HTTP said 200, and the tool failed (G15)."""
    said = " ".join(text.split())[:TEXT_CHARS]
    return _failure(_said(text[:2000], _OF_TOOLS) or Code.REMOTE_REFUSED, f"the tool answered: {said or 'nothing'}")


def unread(text: str) -> RunnerFailure:
    """A good answer without a session in it: something may have been made (G15)."""
    said = " ".join(text.split())[:TEXT_CHARS]
    return _failure(Code.GATEWAY_AMBIGUOUS, f"validation: no session id could be read in: {said or 'nothing'}")


def _said(text: str, table: tuple[tuple[str, Code], ...]) -> Code | None:
    return next((code for pattern, code in table if re.search(pattern, text, re.IGNORECASE | re.DOTALL)), None)


def _failure(code: Code, message: str, retry_at: int | None = None) -> RunnerFailure:
    return RunnerFailure(RunnerError(code, message, retry_at=retry_at, ambiguous=code is Code.GATEWAY_AMBIGUOUS))
