"""The OpenCode runner against its double: rows B1 to B20 and the ways of the real server (runners.md, 8)."""

import asyncio
import base64
import json
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.runners.acp.link import Waits
from app.runners.codes import Code, RunnerFailure
from app.runners.opencode.client import Access, Client
from app.runners.opencode.probe import model_of, probe
from app.runners.opencode.runner import OpenCodeRunner, Options
from app.runners.permissions import decide
from app.runners.runner import Ask, EventType, SessionRef, Source, TurnResult
from app.runs.verdicts import AgentResult, schema_of
from tests.agents.opencode_server import GOOD, GOOD_RESULT, MODEL
from tests.contracts.opencode import PASSWORD, WAITS, Desk, a_desk

PROBE = ["GET /global/health", "GET /doc", "GET /provider"]


def without(path: str) -> dict[str, Any]:
    return {"json": {"paths": {name: verbs for name, verbs in GOOD["doc"]["paths"].items() if name != path}}}


def providers(connected: bool = True, **model: Any) -> dict[str, Any]:
    told = [{"id": "remedy", "models": {"vendor/m": {**MODEL, **model}}}]
    return {"json": {"all": told, "connected": ["remedy"] if connected else []}}


@pytest.mark.parametrize(
    "scenario, calls, says",
    [
        ({}, 3, ""),
        ({"health": {"json": {"healthy": True, "version": "2.0.0"}}}, 1, "2.0.0"),
        ({"health": {"json": {"healthy": False, "version": "1.18.4"}}}, 1, "not healthy"),
        ({"health": {"json": {"healthy": True}}}, 1, "not told"),
        ({"health": {"status": 503, "text": "starting"}}, 1, "request failed: GET /global/health: starting"),
        ({"health": {"text": "not-json"}}, 1, "request failed: GET /global/health"),
        ({"health": {"json": []}}, 1, "not healthy"),
        ({"doc": {"json": {"paths": {}}}}, 2, "does not offer GET /global/health, GET /provider, POST /session"),
        ({"doc": without("/session/{sessionID}/abort")}, 2, "does not offer POST /session/{sessionID}/abort"),
        ({"doc": {"json": {"paths": {"/session": {"get": {}}}}}}, 2, "POST /session"),
        ({"doc": {"json": [1]}}, 2, "does not offer"),
        ({"provider": providers(connected=False)}, 3, "remedy is not connected"),
        ({"provider": providers(status="deprecated")}, 3, "deprecated, not active"),
        ({"provider": providers(capabilities={"toolcall": False})}, 3, "cannot call tools"),
        ({"provider": providers(variants={})}, 3, "no variant high"),
        ({"provider": {"json": {"all": [], "connected": ["remedy"]}}}, 3, "unknown, not active"),
        ({"provider": {"status": 500, "text": "key-canary"}}, 3, "request failed: GET /provider"),
        ({"provider": {"json": "x"}}, 3, "another form"),
    ],
)
def test_b1_to_b5_a_server_is_ready_only_if_all_three_answers_are_good(
    tmp_path: Path, scenario: dict[str, Any], calls: int, says: str
) -> None:
    """B1 order and first failure, B2 health and version, B3 surface, B4 models, B5 no exception; RN-54."""
    with a_desk(tmp_path, scenario) as desk:
        told = desk.run(lambda desk: desk.ready(desk.runner(desk.spec({"variant": "high"}))))
    assert desk.server.paths == PROBE[:calls]
    assert told.ok is not bool(says)
    assert says in " ".join(told.problems)
    assert "key-canary" not in " ".join(told.problems)


@pytest.mark.parametrize("version, ok", [("1.18.4", True), ("1.18.33", True), ("2.0.0", False), ("1.17.9", False)])
def test_b2_the_accepted_versions(tmp_path: Path, version: str, ok: bool) -> None:
    with a_desk(tmp_path, {"health": {"json": {"healthy": True, "version": version}}}) as desk:
        told = desk.run(lambda desk: desk.ready())
    assert (told.ok, told.version) == (ok, version)


def test_b4_no_variant_is_asked_where_none_is_configured(tmp_path: Path) -> None:
    with a_desk(tmp_path, {"provider": providers(variants={})}) as desk:
        assert desk.run(lambda desk: desk.ready()).ok


def test_b6_calls_at_once_share_one_probe(tmp_path: Path) -> None:
    """B6: exactly three requests, and all get the answer."""

    with a_desk(tmp_path) as desk:
        assert desk.run(lambda desk: desk.ready(calls=3)).ok
    assert desk.server.paths == PROBE


def test_b5_a_server_that_is_not_there_is_not_ready(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        desk.url = "http://127.0.0.1:9"
        told = desk.run(lambda desk: desk.ready())
    assert not told.ok and "request failed: GET /global/health" in told.problems[0]


def test_b7_every_call_is_authorized_and_names_the_workspace_where_it_must(tmp_path: Path) -> None:
    """B7, RN-53: not on health and doc; absolute, ASCII."""
    scenario = {"messages": [{"wait": True}]}
    with a_desk(tmp_path, scenario) as desk:
        desk.run(lambda desk: desk.turn(limit_s=1.5))
    basic = base64.b64encode(f"opencode:{PASSWORD}".encode()).decode()
    assert {what.split(" ")[1].split("/")[1] for what, _, _ in desk.server.calls} >= {"global", "session", "event"}
    for what, headers, _ in desk.server.calls:
        assert headers["authorization"] == f"Basic {basic}", what
        names = what not in ("GET /global/health", "GET /doc")
        assert headers.get("x-opencode-directory") == (str(desk.workspace) if names else None), what
    for folder in ("relative", "/wörk"):
        with pytest.raises(ValueError, match="not a workspace"):
            Client(Access("http://127.0.0.1"), folder)


@pytest.mark.parametrize("body", [{}, {"id": ""}, {"id": 42}])
def test_b8_a_session_without_an_id_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    """B8."""
    with a_desk(tmp_path, {"create": {"json": body}}) as desk:
        result = desk.run(lambda desk: desk.turn())
    assert result.error is not None
    assert (result.error.code, "did not return a session ID" in result.error.message) == (Code.PROTOCOL, True)


@pytest.mark.parametrize(
    "fault, code, says",
    [
        ({"text": "not-json"}, Code.PROTOCOL, "request failed: POST /session"),
        ({"json": [1]}, Code.PROTOCOL, "the server returned an invalid response for POST /session"),
        ({"status": 500, "text": "x" * 900}, Code.PROTOCOL, "request failed: POST /session: " + "x" * 400),
        ({"status": 400, "text": "unknown field"}, Code.PROTOCOL, "request failed: POST /session: unknown field"),
        ({"status": 401, "text": "who?"}, Code.AUTH_REQUIRED, "request failed: POST /session: who?"),
    ],
)
def test_b9_each_fault_has_its_text(tmp_path: Path, fault: dict[str, Any], code: Code, says: str) -> None:
    """B9: in the last event of the turn too; the detail has 500 characters at most."""
    with a_desk(tmp_path, {"create": fault}) as desk:
        result = desk.run(lambda desk: desk.turn())
    assert result.error is not None
    assert (result.error.code, result.error.message[: len(says)]) == (code, says)
    assert len(result.error.detail) <= 500
    assert desk.of(EventType.FAILED)[0]["message"] == result.error.message


def test_b11_and_b12_the_request_of_a_turn_and_its_result(tmp_path: Path) -> None:
    """B11, RN-55, RN-56, RN-57: provider and model split at the first slash, one text part, a schema, nothing else."""
    text = {"type": "text", "id": "p1", "text": "done", "time": {"start": 1, "end": 2}}
    tool = {"type": "tool", "id": "p2", "tool": "bash", "callID": "c1"}
    parts = [
        text,
        {**tool, "state": {"status": "pending", "input": {}}},
        {**tool, "state": {"status": "running", "input": {"command": "ls"}}},
        {**tool, "state": {"status": "completed", "input": {"command": "ls"}, "output": "a", "title": "ls"}},
        {**tool, "state": {"status": "completed", "input": {}, "output": "again"}},
    ]
    with a_desk(tmp_path, {"messages": [{"structured": GOOD_RESULT, "text": "done", "parts": parts}]}) as desk:
        result = desk.run(lambda desk: desk.turn(runner=desk.runner(desk.spec({"variant": "high"}))))
    assert (result.value, result.source) == (AgentResult.model_validate(GOOD_RESULT), Source.STRUCTURED)
    body = next(body for what, _, body in desk.server.calls if what.endswith("/message"))
    assert body == {
        "model": {"providerID": "remedy", "modelID": "vendor/m"},
        "agent": "build",
        "variant": "high",
        "format": {"type": "json_schema", "schema": schema_of(AgentResult)},
        "tools": {"question": False, "task": False},
        "parts": [{"type": "text", "text": "Put it right."}],
    }
    assert (result.usage.input, result.usage.output, result.usage.usd) == (100, 20, Decimal("0.25"))
    assert [event["ok"] for event in desk.of(EventType.TOOL_COMPLETED)] == [True]
    assert [event["kind"] for event in desk.of(EventType.TOOL_STARTED)] == ["execute"]
    assert [event["text"] for event in desk.of(EventType.MESSAGE_COMPLETED)] == ["done"]
    asked = desk.server.paths[3:]
    assert asked == ["POST /session", "GET /session/ses_1", "POST /session/ses_1/message", "GET /session/ses_1"]


@pytest.mark.parametrize(
    "first, word",
    [
        ({"structured": {"tests": []}}, "summary_markdown"),
        ({"error": {"name": "StructuredOutputError", "data": {"message": "no call"}}}, "no result"),
        ({"text": "I fixed it."}, "no result"),
    ],
    ids=["invalid", "StructuredOutputError", "neither error nor result"],
)
def test_b13_one_more_prompt_on_the_same_session(tmp_path: Path, first: dict[str, Any], word: str) -> None:
    """B13, RN-16, RN-25: the second prompt asks for the result only, and says what was wrong."""
    with a_desk(tmp_path, {"messages": [first, {"structured": GOOD_RESULT}]}) as desk:
        result = desk.run(lambda desk: desk.turn())
    asked = [(what, body) for what, _, body in desk.server.calls if what.endswith("/message")]
    assert (result.asks, [what for what, _ in asked]) == (2, ["POST /session/ses_1/message"] * 2)
    second = asked[1][1]["parts"][0]["text"]
    assert "without repeating repository work" in second and word in second
    assert result.value == AgentResult.model_validate(GOOD_RESULT)
    assert not [what for what in desk.server.paths if what.endswith("/abort")]


def test_b14_two_bad_results_end_the_turn_and_the_abort_is_the_last_call(tmp_path: Path) -> None:
    with a_desk(tmp_path, {"messages": [{"structured": {"summary_markdown": 1, "tests": []}}]}) as desk:
        result = desk.run(lambda desk: desk.turn())
        assert result.error is not None and result.ref is not None
        assert (result.error.code, result.error.message) == (Code.VALIDATION, "structured result failed validation")
        assert (desk.server.prompts, desk.server.paths[-1]) == (2, "POST /session/ses_1/abort")
        desk.server.scenario = {}
        again = desk.run(lambda desk: desk.turn(ref=result.ref))
    assert (again.ref, again.error) == (result.ref, None), "the session is kept"


@pytest.mark.parametrize("abort", [{}, {"abort": {"status": 500, "text": "no"}}], ids=["abort works", "abort fails"])
def test_b15_an_answer_without_metadata_is_that_error_whatever_the_abort_does(
    tmp_path: Path, abort: dict[str, Any]
) -> None:
    with a_desk(tmp_path, {"messages": [{"no_info": True}], **abort}) as desk:
        result = desk.run(lambda desk: desk.turn())
    assert result.error is not None
    assert (result.error.code, result.error.message) == (
        Code.PROTOCOL,
        "response did not include assistant metadata",
    )
    assert desk.server.paths[-1] == "POST /session/ses_1/abort"
    failed = desk.of(EventType.CLEANUP_FAILED)
    assert [event["what"] for event in failed] == (["abort"] if abort else [])


def test_b16_a_turn_over_its_time_is_aborted_once(tmp_path: Path) -> None:
    with a_desk(tmp_path, {"messages": [{"wait": True}]}) as desk:
        result = desk.run(lambda desk: desk.turn(limit_s=1.6))
    assert result.error is not None
    assert (result.error.code, result.error.message) == (Code.TIMEOUT, "exceeded 2 seconds")
    assert [what for what in desk.server.paths if what.endswith("/abort")] == ["POST /session/ses_1/abort"]


def test_b17_a_cancelled_turn_is_aborted_before_the_cancellation_goes_on(tmp_path: Path) -> None:
    """B17, RN-19: a client that goes away does not stop the agent."""

    async def cancelled(desk: Desk) -> list[str]:
        turn = asyncio.create_task(desk.turn())
        while not desk.server.prompts:
            await asyncio.sleep(0.01)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        return list(desk.server.paths)

    with a_desk(tmp_path, {"messages": [{"wait": True}]}) as desk:
        seen = desk.run(cancelled)
    assert seen[-1] == "POST /session/ses_1/abort"
    (headers,) = [headers for what, headers, _ in desk.server.calls if what.endswith("/abort")]
    assert headers["x-opencode-directory"] == str(desk.workspace)


async def two_active(desk: Desk) -> tuple[OpenCodeRunner, list[asyncio.Task[Any]]]:
    runner = desk.runner()
    sends = []
    for number in (1, 2):
        ref = await runner.create_session(desk.session())
        ask = Ask(f"turn-{number}", "Work.", "N" * 16, asyncio.get_running_loop().time() + 30)
        rule = partial(decide, bounds=desk.session().bounds)
        sends.append(asyncio.create_task(runner.send(ref, ask, desk.sink, rule)))
    while desk.server.prompts < 2:
        await asyncio.sleep(0.01)
    return runner, sends


def test_b18_and_b19_close_aborts_every_active_session_also_after_a_failed_abort(tmp_path: Path) -> None:
    """B18: two aborts, no third, and the client is closed; B19: a session is active only while a turn runs."""

    async def closed(desk: Desk) -> tuple[frozenset[str], frozenset[str]]:
        runner, sends = await two_active(desk)
        before = runner.active
        desk.server.scenario["abort"] = {"status": 503, "text": "busy"}
        with pytest.raises(RunnerFailure, match="busy"):
            await runner.close()
        await asyncio.gather(*sends, return_exceptions=True)
        return before, runner.active

    with a_desk(tmp_path, {"messages": [{"wait": True}]}) as desk:
        before, after = desk.run(closed)
    assert (before, after) == ({"ses_1", "ses_2"}, frozenset())
    aborts = [what for what in desk.server.paths if what.endswith("/abort")]
    assert sorted(aborts) == ["POST /session/ses_1/abort", "POST /session/ses_2/abort"]


def test_b18_a_turn_that_is_being_ended_hands_in_what_it_has_and_is_aborted_once(tmp_path: Path) -> None:
    async def closed(desk: Desk) -> list[Any]:
        runner, sends = await two_active(desk)
        await runner.abort(SessionRef("ses_1"))
        await runner.close()
        return await asyncio.gather(*sends)

    with a_desk(tmp_path, {"messages": [{"wait": True}]}) as desk:
        answers = desk.run(closed)
    assert [answer.error.code for answer in answers] == [Code.CANCELLED] * 2
    assert len([what for what in desk.server.paths if what.endswith("/abort")]) == 2


def test_b19_no_session_is_active_after_success_and_after_failure(tmp_path: Path) -> None:
    async def both(desk: Desk) -> list[frozenset[str]]:
        runners = [desk.runner(), desk.runner()]
        await desk.turn(runner=runners[0])
        desk.server.scenario = {"messages": [{"no_info": True}]}
        await desk.turn(runner=runners[1])
        return [runner.active for runner in runners]

    with a_desk(tmp_path) as desk:
        assert desk.run(both) == [frozenset(), frozenset()]


def test_b20_address_credentials_timeout_and_transport_are_handed_in(tmp_path: Path) -> None:
    """B20: no network is needed; schemas come with the ask, so there is no folder of them to set."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(
            200, json=GOOD[{"/global/health": "health", "/doc": "doc"}.get(request.url.path, "provider")]
        )

    access = Access("https://opencode.example:4096", "p", "u", timeout_s=7, transport=httpx.MockTransport(answer))
    assert asyncio.run(probe(Client(access, "/work"), model_of("remedy/vendor/m", None), ">=1.18,<2")).ok
    assert {request.url.host for request in seen} == {"opencode.example"}
    assert {request.extensions["timeout"]["read"] for request in seen} == {7}
    assert seen[0].headers["authorization"] == "Basic " + base64.b64encode(b"u:p").decode()

    with a_desk(tmp_path) as desk:
        runner = OpenCodeRunner(desk.spec(), desk.launcher, Options(WAITS, access))
        assert desk.run(lambda desk: desk.ready(runner)).ok


# What the real server needs


@pytest.mark.parametrize(
    "error, code",
    [
        ({"name": "APIError", "data": {"statusCode": 401, "message": "key"}}, Code.AUTH_REQUIRED),
        ({"name": "APIError", "data": {"statusCode": 403, "message": "key"}}, Code.AUTH_REQUIRED),
        (
            {
                "name": "APIError",
                "data": {"statusCode": 429, "message": "slow", "responseHeaders": {"retry-after": "9"}},
            },
            Code.RATE_LIMITED,
        ),
        ({"name": "APIError", "data": {"statusCode": 500, "message": "down"}}, Code.PROVIDER_FAILED),
        ({"name": "APIError", "data": {}}, Code.PROVIDER_FAILED),
        ({"name": "ProviderAuthError", "data": {"message": "key"}}, Code.AUTH_REQUIRED),
        ({"name": "ContextOverflowError", "data": {}}, Code.CONTEXT_OVERFLOW),
        ({"name": "MessageAbortedError", "data": {}}, Code.CANCELLED),
        ({"name": "UnknownError", "data": "odd"}, Code.PROVIDER_FAILED),
    ],
)
def test_an_error_in_the_answer_has_its_code(tmp_path: Path, error: dict[str, Any], code: Code) -> None:
    """Runners.md, 8.4: HTTP 200 for all of them."""
    with a_desk(tmp_path, {"messages": [{"error": error}]}) as desk:
        result = desk.run(lambda desk: desk.turn())
    assert result.error is not None and result.error.code is code
    assert bool(result.error.retry_at) == (code is Code.RATE_LIMITED)


@pytest.mark.parametrize(
    "asked, allowed, rule",
    [
        ({"permission": "edit", "patterns": ["calc.py"]}, True, "grant_edit"),
        ({"permission": "bash", "patterns": ["ls"], "metadata": {"command": "ls"}}, True, "grant_execute"),
        ({"permission": "edit", "patterns": [".github/workflows/ci.yml"]}, False, "protected_path"),
        (
            {"permission": "edit", "patterns": ["x"], "metadata": {"filepath": "/etc/passwd"}},
            False,
            "outside_workspace",
        ),
        ({"permission": "external_directory", "patterns": ["/etc/*"]}, False, "outside_workspace"),
        ({"permission": "doom_loop", "patterns": ["bash"]}, False, "kind_never_allowed"),
        ({"permission": "remedy_submit_result", "patterns": ["*"]}, True, "host_tool_granted"),
        ({"permission": "remedy_merge", "patterns": ["*"]}, False, "kind_never_allowed"),
    ],
)
def test_a_request_is_ruled_by_the_grant_and_answered_once_only(
    tmp_path: Path, asked: dict[str, Any], allowed: bool, rule: str
) -> None:
    """RN-29, RN-33, RN-34: never `always`; a reject has a message, so that the turn goes on."""
    permission = {"metadata": {}, "tool": {"callID": "c1"}, **asked}
    with a_desk(tmp_path, {"messages": [{"structured": GOOD_RESULT, "permission": permission}]}) as desk:
        result = desk.run(lambda desk: desk.turn())
    assert result.error is None
    (reply,) = desk.server.replies
    assert reply["reply"] == ("once" if allowed else "reject")
    assert allowed or rule in reply["message"]
    assert [event["rule"] for event in desk.of(EventType.PERMISSION_DECIDED)] == [rule]


def test_a_question_is_refused_because_nobody_answers(tmp_path: Path) -> None:
    """RN-58."""
    message = {"structured": GOOD_RESULT, "question": {"questions": []}}
    with a_desk(tmp_path, {"messages": [message]}) as desk:
        assert desk.run(lambda desk: desk.turn()).error is None
    assert [reply["path"] for reply in desk.server.replies] == ["/question/que_1/reject"]


def test_a_dead_provider_is_idle_although_the_server_is_busy(tmp_path: Path) -> None:
    """RN-17, RN-18: retries are told and are no sign of life."""
    waits = Waits(initialize_s=15, session_s=5, idle_s=1, abort_s=2, exit_s=2)
    with a_desk(tmp_path, {"messages": [{"wait": True, "retry": True}]}, waits) as desk:
        result = desk.run(lambda desk: desk.turn())
    assert result.error is not None
    assert (result.error.code, result.error.message) == (Code.TIMEOUT, "no event for 1 seconds")
    assert desk.of(EventType.PROVIDER_RETRY)


def test_events_of_others_and_junk_change_nothing(tmp_path: Path) -> None:
    """RN-12, C29: unknown and huge events, another session's, and a late message of an older prompt."""
    late = {"type": "text", "id": "p9", "messageID": "a0", "text": "late", "time": {"end": 1}}
    raw = [
        "data: not json\n\n",
        'data: {"type": "odd", "properties": {}}\n\n',
        'data: {"type": 3}\n\n',
        "data: " + json.dumps({"type": "message.part.updated", "properties": {"part": "x" * 1_200_000}}) + "\n\n",
        "data: "
        + json.dumps({"type": "message.part.updated", "properties": {"sessionID": "ses_1", "part": late}})
        + "\n\n",
        "data: " + json.dumps({"type": "session.idle", "properties": {"sessionID": "ses_77"}}) + "\n\n",
    ]
    with a_desk(tmp_path, {"messages": [{"structured": GOOD_RESULT, "text": "now", "raw_events": raw}]}) as desk:
        assert desk.run(lambda desk: desk.turn()).error is None
    assert [event["text"] for event in desk.of(EventType.MESSAGE_COMPLETED)] == ["now"]


@pytest.mark.parametrize("ref", ["ses_99", "odd"])
def test_an_unknown_session_is_lost(tmp_path: Path, ref: str) -> None:
    """K9."""
    with a_desk(tmp_path) as desk:
        result = desk.run(lambda desk: desk.turn(ref=SessionRef(ref)))
    assert result.error is not None and result.error.code is Code.SESSION_LOST


def test_a_server_of_the_operators_is_refused_unless_he_says_that_it_is_isolated(tmp_path: Path) -> None:
    """RN-59."""
    with a_desk(tmp_path) as desk:
        result = desk.run(lambda desk: desk.turn(runner=desk.runner(desk.spec(env_fixed={}))))
    assert result.error is not None and result.error.code is Code.SANDBOX_UNAVAILABLE
    assert desk.server.calls == []


# A server of our own


def managed(desk: Desk, scenario: dict[str, Any]) -> TurnResult:
    spec = desk.own_server(json.dumps(scenario))
    return desk.run(lambda desk: desk.turn(runner=desk.runner(spec), limit_s=60))


def test_a_server_is_started_asked_until_it_answers_and_ended(tmp_path: Path) -> None:
    """RN-52: the first connections are never answered; RN-41, RN-48: clean environment, switches, own password."""
    with a_desk(tmp_path) as desk:
        result = managed(desk, {"hang_first": 2})
    assert result.error is None and result.value is not None
    ((argv, env),) = desk.launcher.spawned
    assert argv[-4:] == ("--hostname", "127.0.0.1", "--port", str(desk.launcher.port("dial")))
    assert env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert len(env["OPENCODE_SERVER_PASSWORD"]) > 20
    assert json.loads(env["OPENCODE_CONFIG_CONTENT"])["permission"]["bash"] == "ask"
    assert desk.launcher.running() == []


@pytest.mark.parametrize(
    "scenario, code, says",
    [
        ({"messages": [{"crash": True}]}, Code.CRASHED, "the server ended (exit code 3)"),
        ({"health": {"json": {"healthy": True, "version": "9.0"}}}, Code.NOT_READY, "9.0"),
        ({"hang_first": 1000}, Code.START_FAILED, "did not answer within 3 seconds"),
    ],
    ids=["crash", "wrong version", "never answers"],
)
def test_a_server_that_fails_ends_in_its_code_and_leaves_nothing(
    tmp_path: Path, scenario: dict[str, Any], code: Code, says: str
) -> None:
    """K8, K15, RN-23."""
    waits = WAITS if code is not Code.START_FAILED else Waits(initialize_s=3, exit_s=1)
    with a_desk(tmp_path, None, waits) as desk:
        result = managed(desk, scenario)
    assert result.error is not None
    assert (result.error.code, says in result.error.message) == (code, True), result.error
    assert "out of memory" in result.error.detail or code is not Code.CRASHED
    assert desk.launcher.running() == []


def test_a_command_that_is_no_server_says_how_it_ended(tmp_path: Path) -> None:
    with a_desk(tmp_path) as desk:
        spec = desk.spec(command=["/bin/false"])
        result = desk.run(lambda desk: desk.turn(runner=desk.runner(spec)))
    assert result.error is not None
    assert (result.error.code, result.error.message) == (Code.START_FAILED, "the server ended (exit code 1)")
