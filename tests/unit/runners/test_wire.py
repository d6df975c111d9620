"""Lines of a hostile agent: what is passed on, what is answered, what ends the connection."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.runners.acp.turn import Prompted, TextTail
from app.runners.acp.wire import Caps, Handlers, Message, Wire
from app.runners.codes import Code
from app.runners.runner import TEXT_BYTES, EventType, RunnerEvent, Usage
from tests.agents.plain import Exit, Output

pytestmark = pytest.mark.anyio
CAPS = Caps(line_bytes=4096, junk_lines=5, open_replies=3)
ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Pipe:
    """The agent's stdin: what was written, and a switch that stops the reading."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.reads = asyncio.Event()
        self.reads.set()

    def write(self, data: bytes) -> None:
        self.lines.append(json.loads(data))

    async def drain(self) -> None:
        await self.reads.wait()

    def close(self) -> None:
        pass

    async def wait_closed(self) -> None:
        pass


class Canned:
    """A process whose output is given."""

    def __init__(self, *outputs: tuple[str, bytes]) -> None:
        self.stdin = Pipe()
        self.events = self._play(outputs)

    async def _play(self, outputs: tuple[tuple[str, bytes], ...]) -> AsyncIterator[Output]:
        for stream, data in outputs:
            yield Output(stream, data)

    async def wait(self) -> Exit:
        return Exit(0, "exit")

    async def kill(self, reason: str = "killed") -> None:
        pass


class Seen:
    def __init__(self) -> None:
        self.updates: list[Message] = []
        self.logged = 0

    def handlers(self) -> Handlers:
        return Handlers(self.updates.append, lambda params: {"outcome": {"outcome": "cancelled"}}, self.log)

    def log(self, stream: str, data: bytes) -> None:
        self.logged += len(data)


def line(message: Any) -> bytes:
    return (json.dumps(message) + "\n").encode()


async def read(*outputs: tuple[str, bytes]) -> tuple[Wire, list[Message], Seen, Canned]:
    process, seen = Canned(*outputs), Seen()
    wire = Wire(process, seen.handlers(), CAPS)
    answers = []
    while (message := await wire.receive()) is not None:
        answers.append(message)
    await asyncio.sleep(0)
    return wire, answers, seen, process


async def test_messages_are_put_together_from_any_pieces() -> None:
    whole = line(ANSWER) + line({**ANSWER, "id": 8})
    _, answers, seen, _ = await read(*(("stdout", whole[at : at + 3]) for at in range(0, len(whole), 3)))
    assert [one["id"] for one in answers] == [7, 8]
    assert seen.logged == len(whole)


async def test_stderr_is_kept_as_a_tail() -> None:
    """RN-82, RN-23."""
    wire, _, _, _ = await read(("stderr", b"x" * 200_000), ("stderr", b"\xff the end"))
    assert len(wire.stderr_tail) <= 20_000 and wire.stderr_tail.endswith("\ufffd the end")


JUNK = [
    b"hello\n",
    b"[]\n",
    b"7\n",
    b"{}\n",
    b'{"id": 1}\n',
    b'{"id": [1], "result": 1}\n',
    b'{"method": 3}\n',
    b"\xff\n",
]
JUNK += [b'{"id": 1, "error": "x"}\n', b"[" * 4000 + b"\n", b'{"id": 1.5, "result": 1}\n', b'{"jsonrpc": \n']


@pytest.mark.parametrize("junk", JUNK, ids=[repr(one[:24]) for one in JUNK])
async def test_junk_is_skipped_until_there_is_too_much(junk: bytes) -> None:
    """RN-69."""
    wire, answers, _, _ = await read(("stdout", junk * 5 + line(ANSWER)))
    assert wire.fault is None and len(answers) == 1
    wire, answers, _, _ = await read(("stdout", junk * 6 + line(ANSWER)))
    assert wire.fault is not None and wire.fault.code is Code.PROTOCOL and answers == []


async def test_blank_lines_are_no_junk() -> None:
    wire, _, _, _ = await read(("stdout", b"\n \n" * 50))
    assert wire.fault is None


async def test_a_line_without_end_is_stopped_at_its_cap() -> None:
    wire, _, _, _ = await read(*[("stdout", b"x" * 1000)] * 10, ("stdout", line(ANSWER)))
    assert wire.fault is not None and "4096 bytes" in wire.fault.message


async def test_requests_are_answered_never_left_in_silence() -> None:
    """RN-83, RN-34."""
    asked = [{"id": 1, "method": "fs/read_text_file"}, {"id": "x", "method": "session/request_permission", "params": 3}]
    _, answers, _, process = await read(("stdout", b"".join(map(line, asked))))
    assert answers == []
    assert process.stdin.lines[0]["error"]["code"] == -32601
    assert process.stdin.lines[1]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_an_agent_that_reads_no_answers_is_stopped() -> None:
    process, seen = Canned(("stdout", line({"id": 1, "method": "a"}) * 10)), Seen()
    process.stdin.reads.clear()
    wire = Wire(process, seen.handlers(), CAPS)
    assert await wire.receive() is None
    assert wire.fault is not None and "3 answers" in wire.fault.message
    await wire.close()


async def test_updates_above_the_cap_are_dropped_and_unknown_notifications_ignored() -> None:
    """RN-12."""
    process, seen = Canned(), Seen()
    process.events = process._play(
        (
            ("stdout", line({"method": "session/update", "params": {"pad": "x" * (1 << 20)}})),
            ("stdout", line({"method": "session/update", "params": {"small": 1}})),
            ("stdout", line({"method": "weather", "params": {}})),
        )
    )
    wire = Wire(process, seen.handlers(), Caps())
    assert await wire.receive() is None
    assert wire.fault is None and seen.updates == [{"small": 1}]


async def test_a_bug_in_a_handler_ends_the_stream_and_is_kept() -> None:
    def broken(params: Message) -> None:
        raise KeyError("ours")

    process = Canned(("stdout", line({"method": "session/update", "params": {}}) + line(ANSWER)))
    wire = Wire(process, Handlers(broken, lambda params: {}, lambda stream, data: None), CAPS)
    assert await wire.receive() is None
    assert isinstance(wire.bug, KeyError) and wire.fault is None


KEYS = st.sampled_from(["id", "method", "params", "result", "error", "code"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(values, max_size=8), raw=st.binary(max_size=40))
async def test_no_line_of_an_agent_raises(messages: list[Any], raw: bytes) -> None:
    """D15: whatever arrives is an answer in the library's types, or handled, or counted."""
    _, answers, _, _ = await read(("stdout", b"".join(map(line, messages)) + raw))
    for answer in answers:
        assert isinstance(answer["id"], int | str | None) and ("result" in answer or isinstance(answer["error"], dict))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(params=st.dictionaries(st.sampled_from(["sessionId", "update", "_meta"]), values))
async def test_no_update_of_an_agent_raises(params: dict[str, Any]) -> None:
    """RN-12."""
    Prompted("t.1", lambda event: None, Usage()).update(params)


def told(*updates: dict[str, Any], key: str = "t.1") -> tuple[Prompted, list[RunnerEvent]]:
    events: list[RunnerEvent] = []
    prompted = Prompted("t.1", events.append, Usage())
    for update in updates:
        prompted.update({"sessionId": "s", "update": update, "_meta": {"remedy/turn": key}})
    return prompted, events


def chunk(text: str, **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **more}


def call(status: str | None = None, kind: str = "tool_call_update", **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "toolCallId": "c1", "status": status, **more}


async def test_chunks_join_and_messages_part() -> None:
    """A marker that follows a tool call begins a line of its own."""
    prompted, events = told(chunk("I lo"), chunk("ok."), call("completed"), chunk("REMEDY"), chunk("_RESULT"))
    prompted.end_message()
    assert prompted.tail.take() == "I look.\nREMEDY_RESULT"
    whole = [event.data["text"] for event in events if event.type is EventType.MESSAGE_COMPLETED]
    assert whole == ["I look.", "REMEDY_RESULT"]


async def test_another_message_id_is_another_message() -> None:
    prompted, _ = told(chunk("a", messageId="1"), chunk("b", messageId="1"), chunk("c", messageId="2"))
    assert prompted.tail.take() == "ab\nc"


async def test_a_late_message_of_another_turn_is_left_out() -> None:
    """RN-15, C29."""
    prompted, events = told(chunk("old"), key="t.0")
    assert prompted.tail.take() == "" and events == []


TOOL_ORDERS = [
    ("in order", [call("pending", "tool_call", title="a"), call("in_progress"), call("completed")]),
    ("no start", [call("completed", title="a")]),
    (
        "doubled",
        [
            call("pending", "tool_call", title="a"),
            call("pending", "tool_call", title="a"),
            call("completed"),
            call("completed"),
        ],
    ),
    ("late start", [call("completed", title="a"), call("pending", "tool_call", title="a")]),
]


@pytest.mark.parametrize("name, updates", TOOL_ORDERS, ids=[row[0] for row in TOOL_ORDERS])
async def test_tool_events_pair_up_by_call_id(name: str, updates: list[dict[str, Any]]) -> None:
    """RN-11, K12."""
    _, events = told(*updates)
    assert [(event.type, event.data["call"]) for event in events] == [
        (EventType.TOOL_STARTED, "c1"),
        (EventType.TOOL_COMPLETED, "c1"),
    ]


async def test_texts_that_no_database_takes_are_made_plain() -> None:
    prompted, events = told(chunk("a\x00\ud800b"), call("completed", title="t\x00", rawOutput="o\x00"))
    prompted.end_message()
    assert prompted.tail.take() == "a\ufffd?b"
    assert "\x00" not in json.dumps([dict(event.data) for event in events], ensure_ascii=False)


async def test_a_flood_of_events_is_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    prompted, events = told(*[chunk("x\n")] * 21_000)
    assert len(events) < 20_000
    assert prompted.tail.take() == "x\n" * 21_000
    assert len([one for one in caplog.records if "further ones are left out" in one.message]) == 1


@pytest.mark.parametrize(
    "lead, hidden", [("", False), ("REMEDY_VERDICT:A {}\n", True), ("x REMEDY_VERDICT:A\n", False)]
)
@pytest.mark.parametrize("piece", [7, 1000, 300_000])
async def test_the_tail_is_capped_and_remembers_a_cut_marker(lead: str, hidden: bool, piece: int) -> None:
    """RN-4, VF-6."""
    tail = TextTail()
    text = lead + "some words\n" * 60_000
    for at in range(0, len(text), piece):
        tail.add(text[at : at + piece])
    assert text.endswith(tail.take()) and len(tail.take().encode()) <= TEXT_BYTES
    assert tail.hides_marker is hidden


async def test_a_marker_across_the_cut_is_seen() -> None:
    """VF-6: the cut may fall anywhere."""
    for shift in range(60):
        tail = TextTail()
        tail.add("x\n" * 10 + "REMEDY_VERDICT:" + "y" * 40 + "\n" + "z" * (TEXT_BYTES - shift - 1) + "\n")
        kept = tail.take()
        assert tail.hides_marker or any(one.startswith("REMEDY_VERDICT") for one in kept.split("\n"))
