"""Remote agents through an MCP server and through LiteLLM's REST routes: the rules of group G (runners.md, 10)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.runners.codes import Code, RunnerFailure
from app.runners.mcp.follow import LOOKS_S, Later, Overtaken
from app.runners.mcp.standing import Phase, Standing, opening
from app.runners.mcp.tools import PROMPT_BYTES
from app.runners.runner import Source
from app.runs.verdicts import AgentResult
from tests.agents.devin import FINISHED, NEW, RESULT, TOOLS, WORKING, Fault
from tests.agents.remote import NONCE, WAYS, Place, a_place
from tests.agents.world import code

pytestmark = pytest.mark.anyio

BY_WAY = pytest.mark.parametrize("way", WAYS)
NATIVE = {"status": "running", "status_detail": "finished"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    with ExitStack() as stack:
        yield lambda way="flat", **more: stack.enter_context(a_place(tmp_path, way, **more))


Make = Callable[..., Place]


@BY_WAY
async def test_k2_a_session_is_made_followed_and_its_result_read(make: Make, way: str) -> None:
    """G9, G13, G14, G18, G23: searched before created, tagged, in the shape of the schema, cost and links read."""
    place = make(way)
    place.devin.script = [
        NEW,
        WORKING,
        {**FINISHED, "pull_requests": [{"pr_url": "https://github.example/a/b/pull/7"}]},
    ]
    result = await place.turn()
    assert result.value == AgentResult(**RESULT) and result.source is Source.STRUCTURED, result.error
    assert result.usage.acu == Decimal("1.5") and result.pulls == ("https://github.example/a/b/pull/7",)
    (session,) = place.devin.sessions
    assert result.ref is not None and result.ref.agent_session_id == session.id
    assert session.tags == ["a", "b", "tag", "remedy-0123456789ab"] and session.told == ["Repair it."]
    assert session.title == "Fix 1 failing test(s) [tag]"
    assert session.arguments["structured_output_schema"]["additionalProperties"] is False
    assert session.arguments["repos"] == ["acme/listing"]
    assert place.devin.calls[:2] == ["search", "create"] and place.devin.count("create") == 1
    assert {event["session"] for event in place.data("state.updated")} == {session.id}


@BY_WAY
async def test_k1_ready_lists_tools_and_calls_none(make: Make, way: str) -> None:
    place = make(way)
    answer = await place.remote().ready()
    assert answer.ok, answer.problems
    assert place.devin.calls == []


# Tool choice (A18, A19, G12)

CHOICES = [
    ("exact", TOOLS, {}, True),
    ("prefix of the server", {kind: f"devin-{name}" for kind, name in TOOLS.items()}, {}, True),
    ("long separator", {kind: f"devin__{name}" for kind, name in TOOLS.items()}, {}, True),
    ("prefix on a shared address", {kind: f"devin/{name}" for kind, name in TOOLS.items()}, {"shared": True}, True),
    ("bare name on a shared address", TOOLS, {"shared": True}, False),
    ("prefix of another", {kind: f"other-{name}" for kind, name in TOOLS.items()}, {}, False),
    ("opaque prefix", {kind: f"PeJ-{name}" for kind, name in TOOLS.items()}, {}, False),
    ("bare suffix", {kind: f"x{name}" for kind, name in TOOLS.items()}, {}, False),
    ("none at all", {"create": "ask_question"}, {}, False),
]


@pytest.mark.parametrize("names, gateway, fits", [row[1:] for row in CHOICES], ids=[row[0] for row in CHOICES])
async def test_a_tool_is_chosen_by_owner_and_name_a18_a19_g12(
    make: Make, names: dict[str, str], gateway: dict[str, Any], fits: bool
) -> None:
    place = make(**gateway)
    place.devin.names = [(name, kind) for kind, name in names.items()]
    result = await place.turn()
    if fits:
        assert result.value is not None and place.devin.count("create") == 1
        return
    assert code(result) is Code.GATEWAY_TOOL and place.devin.calls == []
    assert result.error is not None and next(iter(names.values())) in result.error.message
    answer = await place.remote().ready()
    assert not answer.ok and next(iter(names.values())) in answer.problems[0]


async def test_two_tools_that_fit_are_none_a18(make: Make) -> None:
    place = make()
    place.devin.names = [*place.devin.names, (TOOLS["create"], "create")]
    result = await place.turn()
    assert code(result) is Code.GATEWAY_TOOL and result.error is not None
    assert "more than one tool fits" in result.error.message and place.devin.calls == []


@pytest.mark.parametrize("owner", ["other", "devin"])
async def test_on_a_gateway_the_owner_decides_between_equal_names_a18_g12(make: Make, owner: str) -> None:
    """The same bare name at two servers is no question; twice at one server it is."""
    place = make("rest 1.108")
    assert place.gateway is not None
    info = {"server_name": owner, "server_id": "another-id"}
    schema = place.devin.schema_of("create")
    place.gateway.others = [{"name": TOOLS["create"], "inputSchema": schema, "mcp_info": info}]
    result = await place.turn()
    assert (result.value is not None) == (owner == "other")
    assert owner == "other" or code(result) is Code.GATEWAY_TOOL


@pytest.mark.parametrize("way", ["flat", "rest 1.108"])
async def test_a_list_that_fails_is_words_and_no_call_a19(make: Make, way: str) -> None:
    place = make(way)
    place.devin.faults = [Fault("list", "http", status=500, text="boom", times=9)]
    answer = await place.remote().ready()
    assert not answer.ok and "status: HTTP 500" in answer.problems[0] and place.devin.calls == []


async def test_an_empty_list_is_not_a_missing_tool_g21(make: Make) -> None:
    place = make("rest 1.108")
    assert place.gateway is not None
    place.gateway.down = True
    result = await place.turn(limit_s=120)
    assert code(result) is Code.TIMEOUT and result.error is not None and "ConnectError" in result.error.message
    place = make("flat")
    place.devin.names = []
    answer = await place.remote().ready()
    assert "gateway.unreachable" in answer.problems[0]


# Arguments (G14, G22)


async def test_without_a_place_for_tags_nothing_is_called_g14(make: Make) -> None:
    place = make("no_tags")
    result = await place.turn()
    assert code(result) is Code.GATEWAY_ARGUMENTS and place.devin.count("create") == 0
    assert result.error is not None and "tags" in result.error.message


async def test_a_prompt_over_a_mebibyte_is_refused_before_the_call_g22(make: Make) -> None:
    place = make()
    result = await place.turn(text="x" * (PROMPT_BYTES + 1))
    assert code(result) is Code.GATEWAY_ARGUMENTS and place.devin.count("create") == 0


async def test_the_client_waits_longer_than_a_gateway_g22(make: Make) -> None:
    place = make()
    settings = place.remote(timeout_s=70).settings
    assert settings.timeout_s > 60 and type(settings)(server="devin").timeout_s > 60


# Failures (G15 to G17, A23)

AMBIGUOUS = [
    Fault("create", "slow", seconds=2.5),
    Fault("create", "cut"),
    Fault("create", "plain", text="I made a session for you"),
    Fault("create", "empty"),
]


@pytest.mark.parametrize("fault", AMBIGUOUS, ids=lambda fault: fault.kind)
async def test_an_ambiguous_create_is_looked_for_and_never_repeated_g15_g17(make: Make, fault: Fault) -> None:
    place = make()
    place.devin.faults = [replace(fault)]
    result = await place.turn()
    assert result.value is not None, result.error
    assert place.devin.count("create") == 1 and len(place.devin.sessions) == 1
    assert place.data("state.updated")[0]["recovered"] is True
    assert place.kept[0].tried, "it is written down before the call"


@pytest.mark.parametrize("way", ["rest 1.108", "rest 1.85"])
async def test_a_gateway_that_gives_up_has_made_one_session_g17(make: Make, way: str) -> None:
    place = make(way)
    place.devin.faults = [Fault("create", "slow")]
    result = await place.turn()
    assert result.value is not None and place.devin.count("create") == 1


@pytest.mark.parametrize("way", ["flat", "rest 1.108"])
async def test_where_nothing_is_found_a_person_decides_g17(make: Make, way: str) -> None:
    place = make(way)
    place.devin.faults = [Fault("create", "http", status=503, text="overloaded")]
    result = await place.turn()
    assert code(result) is Code.GATEWAY_AMBIGUOUS and result.error is not None and result.error.ambiguous
    assert tuple(place.waits) == LOOKS_S and place.devin.count("search") == 1 + len(LOOKS_S)
    assert "HTTP 503" in result.error.message and place.devin.count("create") == 0


KINDS = [
    (Fault("create", "error", text="HTTPStatusError: 401 Unauthorized"), Code.AUTH_REQUIRED, ""),
    (Fault("create", "error", text="Client error 403 Forbidden"), Code.AUTH_REQUIRED, ""),
    (Fault("create", "error", text="1 validation error for create"), Code.GATEWAY_ARGUMENTS, ""),
    (Fault("create", "error", text="Unknown tool: devin_session_create"), Code.GATEWAY_TOOL, ""),
    (Fault("create", "error", text="out_of_credits"), Code.REMOTE_REFUSED, "out_of_credits"),
    (Fault("create", "http", status=401, text="who?"), Code.AUTH_REQUIRED, "unauthorized: HTTP 401"),
    (Fault("create", "http", status=403, text="denied"), Code.AUTH_REQUIRED, "unauthorized: HTTP 403"),
    (Fault("create", "http", status=400, text="no_db_connection"), Code.AUTH_REQUIRED, "status: HTTP 400"),
    (Fault("create", "http", status=500, text="No api key passed in"), Code.AUTH_REQUIRED, "status: HTTP 500"),
    (Fault("create", "http", status=403, text="tool_server_mismatch"), Code.GATEWAY_TOOL, "unauthorized: HTTP 403"),
    (Fault("create", "http", status=404, text="server_not_found"), Code.GATEWAY_TOOL, "status: HTTP 404"),
    (Fault("create", "http", status=413, text="too big"), Code.GATEWAY_ARGUMENTS, "status: HTTP 413"),
]


@pytest.mark.parametrize("way", ["flat", "rest 1.108"])
@pytest.mark.parametrize("fault, expected, says", KINDS, ids=lambda value: getattr(value, "text", None))
async def test_each_failure_has_its_code_and_its_word_g16_a23(
    make: Make, way: str, fault: Fault, expected: Code, says: str
) -> None:
    """RN-61, RN-62: the cause behind the library's error; what surely did not happen makes nothing meanwhile."""
    place = make(way)
    place.devin.faults = [replace(fault)]
    result = await place.turn()
    assert code(result) is expected and place.devin.count("create") == 0
    assert result.error is not None and says in result.error.message


PASSING = [
    (Fault("create", "error", text="429 Too Many Requests"), 0.0),
    (Fault("create", "http", status=429, text="slow down", headers={"retry-after": "900"}), 800.0),
    (Fault("create", "error", text="ConnectError: All connection attempts failed"), 0.0),
    (Fault("search", "http", status=502, text="bad gateway"), 0.0),
    (Fault("get", "http", status=503, text="later"), 0.0),
]


@pytest.mark.parametrize("fault, least_s", PASSING, ids=lambda value: getattr(value, "text", None))
async def test_what_surely_did_not_happen_is_tried_again_in_the_same_turn_g17_a23(
    make: Make, fault: Fault, least_s: float
) -> None:
    """A search and a look change nothing, so any failure of theirs is one to wait for."""
    place = make()
    place.devin.faults = [replace(fault)]
    result = await place.turn()
    assert result.value is not None, result.error
    assert place.devin.count("create") == 1 and max(place.waits) >= least_s


async def test_a_server_that_is_down_is_waited_for_until_the_deadline_a23(tmp_path: Path) -> None:
    with a_place(tmp_path) as place:
        pass
    result = await place.turn(limit_s=300)
    assert code(result) is Code.TIMEOUT and result.error is not None and "network: " in result.error.message


async def test_our_key_is_in_no_message_g20(make: Make) -> None:
    """Gateways like to quote the key that they refuse."""
    place = make("rest 1.108")
    assert place.gateway is not None
    place.gateway.key = "sk-another"
    result = await place.turn()
    assert code(result) is Code.AUTH_REQUIRED and "sk-canary" not in str(result.error) and "***" in str(result.error)
    assert "sk-canary" not in repr(place.spec())


# After a crash (G18)


@BY_WAY
async def test_k18_a_crash_between_create_and_store_leaves_one_session(make: Make, way: str) -> None:
    """RN-6: that it was tried, and under which tag, is stored before the call."""
    place = make(way)
    follower = place.follower()
    await follower.step(opening("", ""))
    tried = next(one for one in place.kept if one.tried)
    assert tried.phase is Phase.STARTING and not tried.session

    result = await place.turn(tried)
    assert result.value is not None and place.devin.count("create") == 1
    assert place.data("state.updated")[1]["recovered"] is True


async def test_a_crash_before_the_call_is_looked_for_and_then_done(make: Make) -> None:
    place = make()
    result = await place.turn(Standing(Phase.STARTING, tried=True))
    assert result.value is not None and place.devin.calls.index("create") == 1 + len(LOOKS_S)


async def test_who_lost_the_lease_calls_nothing_more_le2(make: Make) -> None:
    place = make()
    place.ours = False
    with pytest.raises(Overtaken):
        await place.follower().step(opening("", ""))
    assert place.devin.count("create") == 0


# Following (G23)

FINISHED_WORDS = [
    {"status": "finished"},
    {"status": "running", "status_detail": "finished"},
    {"status": "exit"},
    {"status": "running", "status_detail": "waiting_for_user"},
    {"status": "suspended", "status_detail": "inactivity"},
]


@pytest.mark.parametrize("words", FINISHED_WORDS, ids=str)
async def test_a_session_that_stands_still_with_a_result_is_done_g23(make: Make, words: dict[str, Any]) -> None:
    place = make()
    place.devin.script = [
        {"status": "claimed"},
        {"status": "resuming"},
        {"status": "an_unknown_word"},
        {"status": "running", "status_detail": ""},
        {**words, "structured_output": RESULT},
    ]
    result = await place.turn()
    assert result.value is not None and place.devin.count("message") == 0


ENDS = [
    ({"status": "error"}, Code.PROVIDER_FAILED),
    ({"status": "suspended", "status_detail": "out_of_credits"}, Code.REMOTE_REFUSED),
    ({"status": "suspended", "status_detail": "usage_limit_exceeded"}, Code.REMOTE_REFUSED),
    ({"status": "exit"}, Code.CANCELLED),
    ({"status": "terminated"}, Code.CANCELLED),
]


@pytest.mark.parametrize("words, expected", ENDS, ids=str)
async def test_a_session_that_ended_otherwise_says_why_g23(make: Make, words: dict[str, Any], expected: Code) -> None:
    place = make()
    place.devin.script = [WORKING, words]
    result = await place.turn()
    assert code(result) is expected and result.error is not None
    assert str(words.get("status_detail", words["status"])) in result.error.message


async def test_looks_come_at_longer_and_longer_pauses_g23(make: Make) -> None:
    place = make()
    place.devin.script = [WORKING] * 12 + [FINISHED]
    await place.turn()
    assert 13 <= place.waits[0] <= 17 and 100 <= place.waits[-1] <= 133
    assert len(place.waits) == 13


async def test_k7_a_turn_that_runs_out_of_time_ends_its_session_g23(make: Make) -> None:
    place = make()
    place.devin.script = [WORKING]
    result = await place.turn(limit_s=200)
    assert code(result) is Code.TIMEOUT and place.devin.count("terminate") == 1
    assert result.error is not None and "exceeded 200 seconds; last seen: running: working" in result.error.message


async def test_a_vendor_that_cannot_end_a_session_is_left_alone_g23(make: Make) -> None:
    place = make()
    place.devin.actions = ("get", "message")
    place.devin.script = [WORKING]
    result = await place.turn(limit_s=200)
    assert code(result) is Code.TIMEOUT and place.devin.count("terminate") == 0
    assert place.data("state.updated")[-1]["state"] == "left running"


async def test_ids_without_their_prefix_are_the_same_session_rn63(make: Make) -> None:
    place = make()
    place.devin.bare_ids = True
    result = await place.turn()
    assert result.value is not None and result.ref is not None
    assert result.ref.agent_session_id == place.devin.sessions[0].id


async def test_the_last_words_end_with_the_marker_line(make: Make) -> None:
    """VF-3: where the vendor has no structured output; words are asked for where the state holds none."""
    place = make()
    line = f'REMEDY_RESULT:{NONCE} {{"summary_markdown": "Done", "tests": []}}'
    place.devin.script = [WORKING, NATIVE]
    place.devin.on_work = lambda session, text: session.said.append(f"I am done.\n{line}")
    result = await place.turn()
    assert result.value is not None and result.source is Source.MARKER and result.text.endswith(line)


# Speaking (one re-ask, corrections)


async def test_k3_a_missing_result_is_asked_for_once_in_the_same_session(make: Make) -> None:
    """B13, VF-12."""
    place = make()
    place.devin.script = [NATIVE]
    result = await place.turn()
    (session,) = place.devin.sessions
    assert result.value is not None and result.asks == 2 and len(session.told) == 2
    assert session.told[1].startswith("Only the result:")


async def test_k4_an_invalid_result_twice_is_a_failed_turn(make: Make) -> None:
    """B14: the session is kept, and is not ended."""
    place = make()
    place.devin.script = [{**NATIVE, "structured_output": {"summary_markdown": ""}}]
    place.devin.after_message = [WORKING, {**NATIVE, "structured_output": {"tests": []}}]
    result = await place.turn()
    assert code(result) is Code.VALIDATION and result.error is not None and "invalid" in result.error.detail
    assert len(place.devin.sessions[0].told) == 2 and place.devin.count("terminate") == 0


async def test_a_session_that_waits_for_a_person_is_a_question(make: Make) -> None:
    """G23, T48: it is asked for its result first, since many wait so when they are done."""
    place = make()
    waiting = {"status": "running", "status_detail": "waiting_for_user"}
    place.devin.script = place.devin.after_message = [waiting]
    place.devin.on_work = lambda session, text: session.said.append("Which of the two formats is right?")
    result = await place.turn()
    assert isinstance(result.value, AgentResult) and result.asks == 2
    assert result.value.summary_markdown == "Question: Which of the two formats is right?"


async def test_a_correction_goes_into_the_same_session_and_old_results_do_not_count(make: Make) -> None:
    """RN-15: what the session showed before it was spoken to is no answer; the cost is that of the turn."""
    place = make()
    first = await place.turn()
    assert first.ref is not None
    corrected = {"summary_markdown": "Round up, and keep one page", "tests": []}
    after = {**FINISHED, "structured_output": corrected, "acus_consumed": 2.25}
    place.devin.after_message = [FINISHED, FINISHED, WORKING, after]
    second = await place.turn(opening(first.ref.agent_session_id, "the whole text"), text="It is not right yet.")
    assert second.value == AgentResult(**corrected) and second.usage.acu == Decimal("0.75")
    (session,) = place.devin.sessions
    assert session.told == ["Repair it.", "It is not right yet."] and second.ref == first.ref


@pytest.mark.parametrize("kind", ["slow", "cut"])
async def test_a_message_that_arrived_is_not_said_again(make: Make, kind: str) -> None:
    """RN-9."""
    place = make()
    first = await place.turn()
    assert first.ref is not None
    place.devin.faults = [Fault("message", kind, seconds=2.5)]
    place.devin.after_message = [
        WORKING,
        WORKING,
        {**FINISHED, "structured_output": {**RESULT, "summary_markdown": "B"}},
    ]
    second = await place.turn(opening(first.ref.agent_session_id, ""), text="Again.")
    assert second.value is not None and place.devin.count("message") == 1


async def test_k9_a_session_that_is_over_or_unknown_is_replaced_with_the_whole_text(make: Make) -> None:
    """CR-13: the new session has the same tag, and the old one is not taken for it."""
    place = make()
    first = await place.turn()
    assert first.ref is not None
    place.devin.sessions[0].ended = True
    again = await place.turn(opening(first.ref.agent_session_id, "All of it."), text="Go on.")
    assert again.value is not None and again.ref != first.ref
    assert [session.told for session in place.devin.sessions] == [["Repair it."], ["All of it."]]

    place.devin.sessions.clear()
    lost = await place.turn(opening(first.ref.agent_session_id, "All of it."), text="Go on.")
    assert lost.value is not None and place.devin.sessions[0].told == ["All of it."]


async def test_a_session_that_is_lost_while_it_works(make: Make) -> None:
    place = make()
    step = await place.follower().step(opening("", ""))
    assert isinstance(step, Later)
    place.devin.sessions.clear()
    assert code(await place.turn(step.standing)) is Code.SESSION_LOST


# The end


async def test_a_cancelled_turn_ends_its_session_also_one_that_is_not_written_down(make: Make) -> None:
    """G23: cancel when the run ends."""
    place = make()
    await place.follower().step(opening("", ""))
    tried = next(one for one in place.kept if one.tried and not one.session)
    await place.follower().end_whatever_runs(tried)
    assert place.devin.sessions[0].ended

    await place.follower().end_whatever_runs(opening("", ""))
    assert place.devin.count("terminate") == 1, "nothing was made, so nothing is asked"


async def test_an_end_that_fails_hides_nothing_b15(make: Make) -> None:
    place = make()
    place.devin.script = [WORKING]
    step = await place.follower().step(opening("", ""))
    assert isinstance(step, Later)
    place.devin.faults = [Fault("terminate", "error", text="try later")]
    await place.follower().end_whatever_runs(step.standing)
    assert place.data("turn.cleanup_failed")[0]["what"] == "terminate"


async def test_k19_a_huge_answer_is_cut_from_its_beginning(make: Make) -> None:
    """RN-4."""
    place = make()
    line = f'REMEDY_RESULT:{NONCE} {{"summary_markdown": "Done", "tests": []}}'
    place.devin.script = [{**NATIVE, "messages": [{"source": "devin", "message": "x" * 500_000 + f"\n{line}"}]}]
    result = await place.turn()
    assert result.value is not None and len(result.text) <= 64 * 1024


async def test_a_refusal_never_raises_but_overtaken(make: Make) -> None:
    place = make()
    place.devin.script = [{"session": "of something else"}]
    result = await place.turn(limit_s=100)
    assert code(result) in (Code.TIMEOUT, Code.PROTOCOL)
    with pytest.raises(RunnerFailure):
        await place.remote().look("devin-unknown")
