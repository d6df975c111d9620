"""The scripted model server speaks four formats, keeps its place in a script, and fails when told (RN-76 to RN-79)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.agents.model.script import Script
from tests.agents.model.server import ModelServer

NONCE = "K7Q2MZ4TRA5XWD3B"
PROMPT = f"You repair one failure in a code repository.\nREMEDY_RESULT:{NONCE}"
FIX: Script = [
    {"text": "I look.", "ops": [["read", {"path": "a.py"}]]},
    {"ops": [["edit", {"path": "a.py", "old": "x", "new": "y"}], ["bash", {"command": "ls"}]]},
    {"hand_in": {"summary": "done"}, "usage": [200, 10, 50]},
]
Format = Mapping[str, Any]


def function(name: str, *properties: str) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": {one: {} for one in properties}}}


BASH = function("bash", "command", "description")
READ = function("read", "filePath")
EDIT = function("edit", "filePath", "oldString", "newString")
CLAUDE = [
    {"name": name, "input_schema": {"properties": {one: {} for one in properties}}}
    for name, properties in (
        ("Bash", ("command", "description")),
        ("Read", ("file_path",)),
        ("Edit", ("file_path", "old_string", "new_string")),
    )
]
GEMINI = [
    function("run_shell_command", "command"),
    function("read_file", "file_path"),
    function("replace", "file_path", "old_string", "new_string", "instruction"),
]


def chat(rounds: int, tools: bool = True, **more: Any) -> tuple[str, dict[str, Any]]:
    said = [{"role": "assistant", "content": ""}, {"role": "tool", "content": "ok", "tool_call_id": "c"}] * rounds
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": PROMPT}, *said]
    offered = {"tools": [{"type": "function", "function": one} for one in (BASH, READ, EDIT)]} if tools else {}
    return "/v1/chat/completions", {"model": "m", "messages": messages, **offered, **more}


def responses(rounds: int, **more: Any) -> tuple[str, dict[str, Any]]:
    call = {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"}
    said = [
        {"type": "reasoning"},
        call,
        call,
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ] * rounds
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}
    note = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment/>"}]}
    tools = [
        {"type": "function", **function("exec_command", "cmd")},
        {"type": "namespace", "name": "mcp__remedy", "tools": [function("submit_result", "summary_markdown")]},
    ]
    return "/v1/responses", {"model": "m", "input": [user, note, *said], "tools": tools, **more}


def anthropic(rounds: int, **more: Any) -> tuple[str, dict[str, Any]]:
    said = [
        {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "t"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": PROMPT}]},
    ] * rounds
    return "/v1/messages", {
        "model": "m",
        "messages": [{"role": "user", "content": PROMPT}, *said],
        "tools": CLAUDE,
    } | more


def gemini(rounds: int, **more: Any) -> tuple[str, dict[str, Any]]:
    said = [
        {"role": "model", "parts": [{"functionCall": {"name": "read_file"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read_file"}}]},
    ] * rounds
    contents = [{"role": "user", "parts": [{"text": PROMPT}]}, *said]
    return "/v1beta/models/m:generateContent", {"contents": contents, "tools": [{"functionDeclarations": GEMINI}]}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer({"agent": FIX}, cwd="/w").running() as server:
        yield server


def ask(model: ModelServer, asked: tuple[str, dict[str, Any]]) -> httpx.Response:
    path, body = asked
    return httpx.post(f"{model.url}{path}", json=body, headers={"Authorization": "Bearer canary"}, timeout=10)


def calls(answer: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Name and arguments of the tool calls of an answer, whatever its format."""
    if "choices" in answer:
        made = answer["choices"][0]["message"].get("tool_calls", ())
        return [(one["function"]["name"], json.loads(one["function"]["arguments"])) for one in made]
    if "output" in answer:
        made = [one for one in answer["output"] if one["type"] == "function_call"]
        return [(one["name"], json.loads(one["arguments"])) for one in made]
    if "candidates" in answer:
        parts = answer["candidates"][0]["content"]["parts"]
        return [(one["functionCall"]["name"], one["functionCall"]["args"]) for one in parts if "functionCall" in one]
    return [(one["name"], one["input"]) for one in answer["content"] if one["type"] == "tool_use"]


@pytest.mark.parametrize(
    "made, read, edit",
    [
        (
            chat,
            ("read", {"filePath": "/w/a.py"}),
            ("edit", {"filePath": "/w/a.py", "oldString": "x", "newString": "y"}),
        ),
        (
            anthropic,
            ("Read", {"file_path": "/w/a.py"}),
            ("Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}),
        ),
        (
            gemini,
            ("read_file", {"file_path": "/w/a.py"}),
            (
                "replace",
                {"file_path": "/w/a.py", "old_string": "x", "new_string": "y", "instruction": "Put it right."},
            ),
        ),
        (responses, ("exec_command", {"cmd": "cat a.py"}), None),
    ],
)
def test_a_script_is_said_in_each_format_step_by_step(model: ModelServer, made: Any, read: Any, edit: Any) -> None:
    """RN-76: several items of the assistant in a row are one turn; RN-78: whatever tools are offered."""
    first, second, third, after = (ask(model, made(rounds)).json() for rounds in range(4))
    assert calls(first) == [read]
    assert len(calls(second)) == 2 and (edit is None or calls(second)[0] == edit)
    assert "ls" in json.dumps(calls(second)[1])
    said = json.dumps(third)
    assert NONCE in said or "submit_result" in said
    assert calls(after) == [] and "Done." in json.dumps(after)


def test_a_tool_of_a_namespace_is_called_with_it(model: ModelServer) -> None:
    """RN-78: Codex needs it."""
    (call,) = ask(model, responses(2)).json()["output"]
    assert (call["name"], call["namespace"]) == ("submit_result", "mcp__remedy")


@pytest.mark.parametrize("made", [chat, responses, anthropic])
def test_a_stream_says_the_same_in_pieces(model: ModelServer, made: Any) -> None:
    path, body = made(0, stream=True)
    with httpx.stream("POST", f"{model.url}{path}", json=body, timeout=10) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [line[6:] for line in answer.iter_lines() if line.startswith("data: ")]
    parsed = [json.loads(event) for event in events if event != "[DONE]"]
    assert len(parsed) > 4
    assert "I look." in "".join(events) and "a.py" in "".join(json.dumps(one) for one in parsed)


def test_a_request_without_tools_uses_no_step_and_everything_is_kept_but_the_key(model: ModelServer) -> None:
    """RN-77, RN-79."""
    assert ask(model, chat(0, tools=False)).json()["choices"][0]["message"]["content"] == "A short title"
    ask(model, chat(0))
    assert [seen.place and seen.place.number for seen in model.seen] == [None, 0]
    assert model.seen[0].credential == "Bearer canary"
    assert "canary" not in json.dumps([dict(seen.headers) for seen in model.seen])
    assert httpx.get(f"{model.url}/v1/files").status_code == 404
    assert model.unknown == ["GET /v1/files"]


def test_faults_come_as_written_and_end_when_they_should() -> None:
    """429 twice, then the step itself; a body that is no JSON; a stream that is cut."""
    busy = {"http": 429, "times": 2, "headers": {"retry-after": "1"}, "text": "at last"}
    with ModelServer({"agent": [busy, {"junk": True}, {"text": "x" * 200, "cut": True}]}).running() as model:
        answers = [ask(model, chat(0)) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [429, 429, 200]
        assert answers[0].headers["retry-after"] == "1"
        assert "no JSON" in ask(model, chat(1, stream=True)).text
        with pytest.raises(httpx.RemoteProtocolError):
            ask(model, chat(2, stream=True))
