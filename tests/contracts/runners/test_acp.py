"""One contract for all runners (runners.md, 13), here over agents that speak ACP; the agent is tests/agents/qa.py."""

import asyncio
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from app.runners.acp.link import Waits
from app.runners.acp.runner import AcpRunner, Options
from app.runners.codes import Code, RunnerFailure
from app.runners.permissions import grant
from app.runners.registry import RunnerSpec
from app.runners.runner import TEXT_BYTES, Answer, EventType, SessionRef, SessionSpec, Source, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.runs.verdicts import AgentResult
from tests.agents.world import World, code

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


SAY = {"do": "say", "text": "On it."}
RESUMING: dict[str, Any] = {"capabilities": {"load_session": True}, "env_fixed": {"QA_STATE": "~/.qa"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_k1_ready_once_for_all_who_ask(world: World) -> None:
    runner = world.runner()
    answers = await asyncio.gather(runner.ready(), runner.ready(), runner.ready())
    await runner.close()
    assert {one.ok for one in answers} == {True} and answers[0].version == "1.0.0"
    assert len(world.launcher.spawned) == 1 and world.launcher.running() == []


async def test_k1_a_wrong_version_is_a_problem_in_words(world: World) -> None:
    runner = world.runner(world.install({"version": "2.0.0"}))
    answer = await runner.ready()
    await runner.close()
    assert not answer.ok and "2.0.0" in answer.problems[0] and ">=1,<2" in answer.problems[0]
    assert world.launcher.running() == []


@pytest.mark.parametrize("move, source", [("good", Source.MARKER), ("meta", Source.STRUCTURED)])
async def test_k2_a_valid_result_with_its_source_and_usage(world: World, move: str, source: Source) -> None:
    result = await world.turn(move)
    assert isinstance(result.value, AgentResult) and result.source is source
    assert result.usage.input == 100 and result.usage.output == 20
    assert world.launcher.running() == []


async def test_k3_invalid_then_valid_in_one_process(world: World) -> None:
    """B13, RN-20."""
    result = await world.turn("invalid")
    assert result.value is not None and result.asks == 2 and result.usage.input == 200
    assert len(world.launcher.spawned) == 1


async def test_k4_invalid_twice_leaves_a_usable_session(world: World) -> None:
    """B14."""
    spec = world.install(**RESUMING)
    result = await world.turn("invalid", runner=world.runner(spec), again="invalid")
    assert code(result) is Code.VALIDATION and result.error is not None and "invalid" in result.error.detail
    again = await world.turn("good", runner=world.runner(spec), ref=result.ref)
    assert again.value is not None and again.ref == result.ref


@pytest.mark.parametrize("move", ["no_result", "no_verdict", "stop reason=max_tokens", "stop reason=max_turn_requests"])
async def test_k5_nothing_twice_is_missing(world: World, move: str) -> None:
    """RN-16, RN-65."""
    result = await world.turn(move, Role.SUPERVISOR, again=move)
    assert code(result) is Code.VALIDATION and result.error is not None and result.error.detail.startswith("missing")


WRONG_FORMS = [
    "wrong_nonce",
    "two_markers",
    "marker_not_last",
    "fenced",
    "indented",
    "doubled_key",
    "other_word",
    "invalid",
]


@pytest.mark.parametrize("move", WRONG_FORMS)
async def test_a_marker_in_a_wrong_form_is_no_verdict(world: World, move: str) -> None:
    """VF-3 to VF-6, VF-10."""
    result = await world.turn(move, Role.SUPERVISOR, again=move)
    assert result.value is None and code(result) is Code.VALIDATION and result.asks == 2


async def test_two_sources_that_disagree_are_no_verdict(world: World) -> None:
    """VF-7."""
    result = await world.turn("conflict", Role.SUPERVISOR)
    assert result.value is None and result.error is None and result.asks == 1


@pytest.mark.parametrize("move", ["hang", "insist"])
async def test_k6_abort_ends_the_turn_as_cancelled(world: World, move: str) -> None:
    """RN-72: between model and tool, and while requests are coming."""
    runner = world.runner(world.install({"agent": [[SAY, move]]}))
    ref = await runner.create_session(world.session())
    sending = asyncio.create_task(world.send(runner, ref))
    await world.until(EventType.MESSAGE_DELTA)
    assert runner.active == {ref.agent_session_id}
    began = time.monotonic()
    await runner.abort(ref)
    answer = await sending
    assert answer.state == "cancelled" and answer.error is not None and answer.error.code is Code.CANCELLED
    assert time.monotonic() - began < 10 and runner.active == frozenset()
    await runner.close()
    assert world.launcher.running() == []


async def test_k6_a_command_of_the_agent_ends_with_the_turn(world: World) -> None:
    """RN-44: in tool time; the tree of processes ends, not only the agent."""
    spec = world.install({"agent": [{"do": "fix", "commit": False, "run": ["sleep", "600"]}]})
    task = asyncio.create_task(world.turn(runner=world.runner(spec, Waits(abort_s=0.3, exit_s=0.3))))
    await world.until(EventType.TOOL_STARTED)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.launcher.running() == []


async def test_abort_is_safe_for_idle_and_unknown_sessions(world: World) -> None:
    runner = world.runner()
    await runner.abort(SessionRef("never-seen"))
    ref = await runner.create_session(world.session())
    await runner.abort(ref)
    await runner.abort(SessionRef("never-seen"))
    answer = await world.send(runner, ref, "good")
    await runner.close()
    assert answer.state == "done"


@pytest.mark.parametrize("move", ["hang", "ignore_cancel", "flood"])
async def test_k7_a_deadline_ends_the_turn_and_every_process(world: World, move: str) -> None:
    """B16, RN-17, RN-22."""
    runner = world.runner(waits=Waits(abort_s=0.5, exit_s=0.5))
    result = await world.turn(move, runner=runner, limit_s=1)
    assert code(result) is Code.TIMEOUT and result.error is not None and result.error.message == "exceeded 1 seconds"
    assert world.launcher.running() == []
    assert bool(world.of(EventType.CLEANUP_FAILED)) is (move == "ignore_cancel")


async def test_k7_an_agent_without_a_sign_of_life_is_ended_before_the_deadline(world: World) -> None:
    """RN-17: the idle limit."""
    result = await world.turn("hang", runner=world.runner(waits=Waits(idle_s=0.4)))
    assert (
        code(result) is Code.TIMEOUT and result.error is not None and "no event for 0.4 seconds" in result.error.message
    )


async def test_k8_a_crash_is_told_with_the_end_of_stderr_and_the_session_goes_on(world: World) -> None:
    """RN-23, D23: no restart inside a turn."""
    spec = world.install(**RESUMING)
    first = await world.turn("good", runner=world.runner(spec))
    crashed = await world.turn("crash code=3 stderr=50000", runner=world.runner(spec), ref=first.ref)
    assert code(crashed) is Code.CRASHED and crashed.error is not None
    assert "exit code 3" in crashed.error.message and crashed.error.detail.endswith("qa: crashed on purpose\n")
    assert len(crashed.error.detail) == 20_000 and len(world.launcher.spawned) == 2
    again = await world.turn("good", runner=world.runner(spec), ref=first.ref)
    assert again.value is not None and again.ref == first.ref


async def test_k9_an_unknown_session_is_lost(world: World) -> None:
    """RN-67."""
    result = await world.turn("good", runner=world.runner(world.install(**RESUMING)), ref=SessionRef("qa-never"))
    assert code(result) is Code.SESSION_LOST and world.launcher.running() == []


async def test_k9_an_agent_that_cannot_load_loses_every_session(world: World) -> None:
    result = await world.turn("good", ref=SessionRef("qa-never"))
    assert code(result) is Code.SESSION_LOST


async def test_the_replayed_history_is_no_part_of_the_turn(world: World) -> None:
    """RN-66."""
    spec = world.install(**RESUMING)
    first = await world.turn("good", runner=world.runner(spec))
    world.events.clear()
    again = await world.turn("good", runner=world.runner(spec), ref=first.ref)
    assert again.value is not None and "earlier process" not in again.text
    assert not any("earlier process" in str(event.data) for event in world.events)


@pytest.mark.parametrize(
    "path, chosen", [("a.py", "o-allow_once"), (".github/ci.yml", "o-reject_once"), ("../x", "o-reject_once")]
)
async def test_k10_once_allowed_or_once_rejected_never_always(world: World, path: str, chosen: str) -> None:
    """RN-29, RN-33."""
    result = await world.turn(f"permission kind=edit path={path}")
    assert f"chosen: {chosen}\n" in result.text
    assert [one["decision"] for one in world.of(EventType.PERMISSION_DECIDED)] == [chosen.removeprefix("o-")]


async def test_k10_a_supervisor_changes_nothing(world: World) -> None:
    result = await world.turn("permission kind=edit path=a.py", Role.SUPERVISOR)
    assert "chosen: o-reject_once" in result.text and result.value is not None


async def test_too_many_denied_requests_end_the_turn(world: World) -> None:
    """Domain 6: 20 denied calls; `host.denied`."""
    world.grant = grant(["submit_result"], {"fetch": "deny"}.items())
    result = await world.turn("insist")
    assert code(result) is Code.DENIED and result.error is not None and result.error.message.startswith("20 requests")
    assert len(world.of(EventType.TOOL_DENIED)) == 20 and world.launcher.running() == []


async def test_an_agent_that_stops_after_a_reject_was_denied(world: World) -> None:
    """RN-65: Codex answers a rejected permission with `cancelled`."""
    assert code(await world.turn("stop reason=cancelled")) is Code.DENIED


async def test_a_refusal_fails_with_its_text(world: World) -> None:
    """RN-65."""
    result = await world.turn("stop reason=refusal text='I will not'")
    assert code(result) is Code.PROVIDER_FAILED and result.error is not None and "I will not" in result.error.message


@pytest.mark.parametrize("move", ["unknown_update", "update_before_call", "late_message", "flood_stderr"])
async def test_k12_odd_events_do_no_harm(world: World, move: str) -> None:
    """RN-11, RN-12, RN-15, RN-82."""
    spec = world.install({"agent": [[move, "good"]]})
    result = await world.turn(runner=world.runner(spec))
    assert result.value is not None and result.asks == 1
    started = [one["call"] for one in world.of(EventType.TOOL_STARTED)]
    assert started == [one["call"] for one in world.of(EventType.TOOL_COMPLETED)]
    assert world.events[-1].type is EventType.COMPLETED


async def test_what_we_do_not_offer_is_refused_in_words(world: World) -> None:
    """RN-83."""
    result = await world.turn("ask_for_files")
    assert result.text.count("-32601") == 4 and result.value is not None


async def test_k14_no_secret_reaches_the_agent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """RN-41."""
    monkeypatch.setenv("REMEDY_SECRET_KEY", "canary-of-ours")
    await world.turn("dump")
    argv, env = world.launcher.spawned[0]
    assert set(env) == {"PATH", "HOME", "LANG"}
    assert not any("canary" in part for part in (*argv, *env.values()))
    own = [line for line in (world.workspace / "qa-dump.txt").read_text().split("\n") if line.startswith("env ")]
    assert own and not any("canary" in line for line in own)


async def test_k15_close_ends_all_sessions_though_the_first_abort_fails(world: World) -> None:
    """B18, B19."""
    spec = world.install({"agent": [[SAY, "ignore_cancel"], [SAY, "hang"]]})
    runner = world.runner(spec, Waits(abort_s=0.3, exit_s=0.3))
    refs = [await runner.create_session(world.session()) for _ in range(2)]
    sendings = [asyncio.create_task(world.send(runner, ref, attempt=n)) for n, ref in enumerate(refs, 1)]
    await world.until(EventType.MESSAGE_DELTA, 2)
    with pytest.raises(RunnerFailure, match="did not stop"):
        await runner.close()
    _, second = await asyncio.gather(*sendings, return_exceptions=True)
    assert isinstance(second, Answer) and second.state == "cancelled"
    assert world.launcher.running() == [] and runner.active == frozenset()


async def test_k16_a_cancelled_task_lets_the_agent_know_first(world: World) -> None:
    """B17, RN-19: the agent keeps its session before it is ended."""
    spec = world.install({"agent": [[SAY, "hang"]]}, **RESUMING)
    task = asyncio.create_task(world.turn(runner=world.runner(spec)))
    await world.until(EventType.MESSAGE_DELTA)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    session = world.of(EventType.SESSION_BOUND)[0]["session"]
    assert (world.home / ".qa" / f"{session}.json").read_text().startswith("[1, ")
    assert world.launcher.running() == []


async def test_k17_two_prompts_of_one_session_wait_for_each_other(world: World) -> None:
    """RN-7."""
    runner = world.runner()
    ref = await runner.create_session(world.session())
    answers = await asyncio.gather(*(world.send(runner, ref, f"prose text='answer {n}'") for n in range(3)))
    await runner.close()
    assert [answer.text for answer in answers] == ["answer 0", "answer 1", "answer 2"]


async def test_k19_limits_hold_for_a_huge_answer(world: World) -> None:
    """RN-4."""
    result = await world.turn("huge_output mib=20")
    assert result.value is not None and len(result.text.encode()) <= TEXT_BYTES
    assert all(len(str(event.data)) < 300_000 for event in world.events)


async def test_stop_order_stdin_closes_before_the_kill(world: World) -> None:
    """RN-22: an agent that obeys ends by itself."""
    await world.turn("good")
    ended = await world.launcher.processes[0].wait()
    assert (ended.rc, ended.reason) == (0, "exit")


async def test_configuration_reaches_the_agent_as_meta(world: World) -> None:
    """D9, D10."""
    world.install()
    config = {"scenario": {"agent": [{"do": "good", "summary": "From the configuration"}]}}
    spec = world.registry().find("remedy/agents/qa", "agent", config)
    assert isinstance(spec, RunnerSpec) and spec.config == config
    session = world.session(config=spec.config)
    result = await drive_turn(world.runner(spec), session, None, world.ask(), AgentResult, world.sink)
    assert isinstance(result.value, AgentResult) and result.value.summary_markdown == "From the configuration"


EDITS = [
    {"do": "fix", "edits": [{"path": "calc.py", "find": "a - b", "replace": "a * b"}], "summary": "Multiply"},
    {
        "do": "fix",
        "edits": [{"path": "calc.py", "find": "a * b", "replace": "a + b"}],
        "summary": "Add",
        "run": ["true"],
    },
]


async def test_work_is_real_and_the_same_attempt_makes_the_same_move(world: World) -> None:
    """CR-5: a turn that is started again after a kill repeats itself and does no harm."""

    def git(*arguments: str) -> str:
        command = ("git", *arguments)
        return subprocess.run(command, cwd=world.workspace, check=True, capture_output=True, text=True).stdout

    (world.workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    git("init", "-q")
    spec = world.install({"agent": EDITS})
    for attempt, body, commits in ((1, "a * b", 1), (1, "a * b", 1), (2, "a + b", 2), (3, "a + b", 2)):
        result = await world.turn(runner=world.runner(spec), attempt=attempt)
        assert isinstance(result.value, AgentResult), result
        assert f"return {body}" in (world.workspace / "calc.py").read_text()
        assert int(git("rev-list", "--count", "HEAD")) == commits
    assert git("log", "--format=%s") == "Add\nMultiply\n"
    assert world.of(EventType.PERMISSION_DECIDED)[0]["decision"] == "allow_once"


async def test_raw_output_goes_to_the_log(world: World) -> None:
    """D4, RN-82: one log per turn."""
    kept: dict[str, int] = {}

    def log(stream: str, data: bytes) -> None:
        kept[stream] = kept.get(stream, 0) + len(data)

    await world.turn("crash", runner=AcpRunner(world.install(), world.launcher, Options(log=log)))
    assert kept["stdout"] > 0 and kept["stderr"] > 0


@pytest.mark.parametrize("bad", ["missing", "relative", "link", "not ASCII", "not absolute"])
async def test_a_folder_that_is_no_workspace_is_our_bug(world: World, bad: str) -> None:
    """RN-49."""
    (world.folder / "link").symlink_to(world.workspace)
    path = {"missing": world.folder / "missing", "relative": Path("ws"), "link": world.folder / "link"}
    seen = {"not ASCII": "/wörk", "not absolute": "ws"}
    runner = world.runner()
    with pytest.raises(ValueError, match="not a workspace"):
        bounds = world.session().bounds
        await runner.create_session(SessionSpec(path.get(bad, world.workspace), seen.get(bad, "/workspace"), bounds))
    await runner.close()


CHOICES = {
    name: {"currentValue": "a", "options": [{"value": value, "name": value} for value in "ab"]}
    for name in ("model", "effort")
}


async def test_model_and_effort_are_chosen_where_the_agent_offers_them(world: World) -> None:
    """RN-71: by its options; an unknown value is `runner.not_ready`, and what is not offered is left."""
    spec = world.install({"choices": CHOICES, "agent": [["chosen", "good"]]})

    async def turn(**more: str) -> TurnResult:
        session = world.session(**more)
        return await drive_turn(world.runner(spec), session, None, world.ask(), AgentResult, world.sink)

    result = await turn(model="b", effort="a")
    assert result.value is not None and result.text.startswith("model=b\neffort=a\n")
    refused = await turn(model="unknown")
    assert code(refused) is Code.NOT_READY and refused.error is not None and "model unknown" in refused.error.message
    assert (await world.turn("good", runner=world.runner(world.install()))).value is not None


async def test_a_plan_is_an_event_with_its_steps(world: World) -> None:
    """Issue 7, live progress: what the agent means to do, and how far it is."""
    result = await world.turn(runner=world.runner(world.install({"agent": [["plan", "good"]]})))
    assert result.value is not None
    steps = [{"what": "Read it", "status": "completed"}, {"what": "Put it right", "status": "in_progress"}]
    assert world.of(EventType.PLAN_UPDATED) == [{"steps": steps}]
