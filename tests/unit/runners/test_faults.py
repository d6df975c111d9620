"""JSON-RPC errors and codes of the closed list (runners.md, 2.2 and 9.3)."""

import re
from pathlib import Path

import pytest
from acp import RequestError

from app.runners.acp.faults import of_request
from app.runners.codes import RETRYABLE, Code, RunnerError

ERRORS = [
    ("Claude refuses the key", -32603, "Internal error", {"errorKind": "authentication_failed"}, Code.AUTH_REQUIRED),
    ("Codex refuses the key", -32603, "x", {"message": "unexpected status 401 Unauthorized: bad"}, Code.AUTH_REQUIRED),
    ("Codex is limited", -32603, "x", {"message": "unexpected status 429 Too Many"}, Code.RATE_LIMITED),
    ("Gemini refuses the key", 401, "Unauthorized", None, Code.AUTH_REQUIRED),
    ("forbidden", 403, "Forbidden", None, Code.AUTH_REQUIRED),
    ("rate", 429, "Slow down", None, Code.RATE_LIMITED),
    ("OpenCode with a status", -32603, "x", {"errorName": "APIError", "statusCode": 401}, Code.AUTH_REQUIRED),
    ("OpenCode without one", -32603, "x", {"errorName": "APIError"}, Code.PROVIDER_FAILED),
    ("the protocol's own word", -32000, "Authentication required", None, Code.AUTH_REQUIRED),
    ("a session it does not know", -32002, "Resource not found", None, Code.SESSION_LOST),
    ("RN-68 prose is not read", -32603, "401 unauthorized 429", {"message": "status 401"}, Code.PROVIDER_FAILED),
    ("not understood", -32601, "Method not found", None, Code.PROTOCOL),
    ("any other", 1, "?", ["data"], Code.PROVIDER_FAILED),
    ("a code that is no number", "x", "?", None, Code.PROVIDER_FAILED),
]


@pytest.mark.parametrize("name, code, text, data, expected", ERRORS, ids=[row[0] for row in ERRORS])
def test_an_error_of_a_prompt(name: str, code: int, text: str, data: object, expected: Code) -> None:
    """RN-68."""
    assert of_request(RequestError(code, text, data)).code is expected


def test_an_empty_message_gets_the_name_of_its_type() -> None:
    """RN-4."""
    assert of_request(RequestError(-32603, "")).message == "RequestError"


def test_texts_are_capped_and_clean() -> None:
    """RN-4: 500 characters from the front, 20000 from the end, nothing a database refuses."""
    error = RunnerError(Code.CRASHED, "a\x00" + "m" * 1000, "first" + "d" * 30_000 + "\ud800last")
    assert len(error.message) == 500 and "\x00" not in error.message
    assert len(error.detail) == 20_000 and error.detail.endswith("?last")


def test_the_list_is_closed_and_equals_the_documented_one() -> None:
    """RN-8, D25: adding a code needs a row in the table of docs and here."""
    assert {code.value for code in Code} == {
        "runner.not_installed", "runner.broken_manifest", "runner.not_ready", "runner.sandbox_unavailable",
        "runner.start_failed", "runner.protocol", "runner.crashed", "runner.timeout", "runner.cancelled",
        "runner.session_lost", "runner.auth_required", "provider.rate_limited", "provider.failed",
        "provider.context_overflow", "result.validation", "host.denied", "gateway.unreachable", "gateway.tool",
        "gateway.arguments", "gateway.ambiguous", "remote.refused", "interrupted",
    }  # fmt: skip
    assert RunnerError(Code.CRASHED, "x").retryable and not RunnerError(Code.DENIED, "x").retryable
    assert set(Code) > RETRYABLE


RUNNERS = Path(__file__).parents[3] / "app" / "runners"


def test_runners_know_nothing_of_the_floors_beside_and_above() -> None:
    """RN-1, RN-2, RN-3, PN-1: no ledger, GitHub, workspace, policy or render; the protocol library only below acp/."""
    for file in RUNNERS.rglob("*.py"):
        imported = set(re.findall(r"^(?:from|import) ([\w.]+)", file.read_text(), re.MULTILINE))
        ours = {".".join(name.split(".")[:2]) for name in imported if name.startswith("app.")}
        assert ours <= {"app.runners", "app.runs", "app.errors", "app.settings", "app.telemetry", "app.tls"}, file
        assert "acp" in file.parts or not any(name.split(".")[0] == "acp" for name in imported), file
