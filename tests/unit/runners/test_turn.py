"""The order of calls in one turn, with a runner whose answers are given (runners.md, 3)."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.runners.codes import Code, RunnerFailure, failure
from app.runners.permissions import ROLE_GRANTS, Bounds
from app.runners.runner import (
    Answer,
    Ask,
    Capabilities,
    EventType,
    Readiness,
    RunnerEvent,
    SessionRef,
    SessionSpec,
    Source,
    TurnResult,
    Usage,
)
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.runs.verdicts import Supervision

pytestmark = pytest.mark.anyio
GOOD = {"decision": "approve", "feedback": "Good.", "evidence": []}
BAD = {"decision": "maybe"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Scripted:
    """A runner that answers as told and writes down what it was asked."""

    id = "acme/scripted/default"

    def __init__(self, *answers: Answer | Exception | float) -> None:
        self.answers = list(answers)
        self.calls: list[str] = []
        self.texts: list[str] = []
        self.lost = False
        self.failing: set[str] = set()
        self.used = 0

    def capabilities(self) -> Capabilities:
        return Capabilities(resume=True, structured="meta", cancel=True)

    async def ready(self) -> Readiness:
        return Readiness(True)

    async def create_session(self, spec: SessionSpec) -> SessionRef:
        self.calls.append("create")
        return SessionRef("new")

    async def resume_session(self, spec: SessionSpec, ref: SessionRef) -> SessionRef:
        self.calls.append("resume")
        if self.lost:
            raise failure(Code.SESSION_LOST, "Internal error")
        return ref

    async def send(self, ref: SessionRef, ask: Ask, sink: Any, decide: Any) -> Answer:
        self.calls.append("send")
        self.texts.append(ask.text)
        self.used += 100
        answer = self.answers.pop(0)
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            raise AssertionError("nobody waited that long")
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def usage(self, ref: SessionRef) -> Usage:
        return Usage(input=1000 + self.used)

    async def abort(self, ref: SessionRef) -> None:
        self._may("abort")

    async def close(self) -> None:
        self._may("close")

    def _may(self, what: str) -> None:
        self.calls.append(what)
        if what in self.failing:
            raise failure(Code.CRASHED, f"{what} answered 500")


class Driven:
    """One turn with its events."""

    def __init__(self, runner: Scripted, workspace: Path) -> None:
        self.runner = runner
        self.events: list[RunnerEvent] = []
        bounds = Bounds(ROLE_GRANTS[Role.SUPERVISOR], Role.SUPERVISOR)
        self.spec = SessionSpec(workspace, str(workspace), bounds)

    async def go(
        self, ref: SessionRef | None = None, model: Any = Supervision, limit_s: float = 20, **ask: Any
    ) -> TurnResult:
        asked = Ask("t", "the prompt", "N" * 16, time.monotonic() + limit_s, **{"reask": self.reask, **ask})
        return await drive_turn(self.runner, self.spec, ref, asked, model, self.events.append)

    @staticmethod
    def reask(reasons: Any) -> str:
        return "Hand in only the result: " + "; ".join(reasons)

    def types(self) -> list[EventType]:
        return [event.type for event in self.events]


@pytest.fixture
def driven(tmp_path: Path) -> Callable[..., Driven]:
    return lambda *answers: Driven(Scripted(*answers), tmp_path)


def code(result: TurnResult) -> Code | None:
    return result.error.code if result.error else None


async def test_a_good_answer_ends_the_turn_without_an_abort(driven: Callable[..., Driven]) -> None:
    """K2, RN-5: usage is the difference of two calls."""
    one = driven(Answer("done", "", GOOD))
    result = await one.go()
    assert isinstance(result.value, Supervision) and result.source is Source.STRUCTURED
    assert one.runner.calls == ["create", "send", "close"]
    assert result.usage.input == 100 and result.asks == 1
    assert one.types() == [EventType.SESSION_BOUND, EventType.COMPLETED]


async def test_exactly_one_re_ask_in_the_same_session(driven: Callable[..., Driven]) -> None:
    """B13, VF-12, K3: two prompts at most, the second names the errors."""
    one = driven(Answer("done", "", BAD), Answer("done", "", GOOD))
    result = await one.go()
    assert result.value is not None and result.asks == 2 and result.usage.input == 200
    assert one.runner.calls == ["create", "send", "send", "close"]
    assert "decision" in one.runner.texts[1] and "maybe" not in one.runner.texts[1]


async def test_still_invalid_the_abort_comes_last(driven: Callable[..., Driven]) -> None:
    """B14, K4."""
    one = driven(Answer("done", "", BAD), Answer("done", "", BAD))
    result = await one.go()
    assert result.error is not None and code(result) is Code.VALIDATION
    assert result.error.message == "structured result failed validation"
    assert result.error.detail.startswith("invalid: decision")
    assert one.runner.calls == ["create", "send", "send", "abort", "close"]


async def test_nothing_at_all_is_a_missing_result_never_a_success(driven: Callable[..., Driven]) -> None:
    """RN-16, K5."""
    one = driven(Answer("done"), Answer("done", "I approve."))
    result = await one.go()
    assert result.error is not None and code(result) is Code.VALIDATION and result.error.detail.startswith("missing")


async def test_sources_that_disagree_give_no_value_and_no_error(driven: Callable[..., Driven]) -> None:
    """VF-7, RN-24: the machine asks again (T12), the turn does not."""
    one = driven(Answer("done", "", GOOD))
    result = await one.go(submitted=lambda: {**GOOD, "decision": "block"})
    assert result.value is None and result.error is None and result.asks == 1
    assert one.types()[-1] is EventType.COMPLETED


async def test_what_the_host_tool_accepted_counts(driven: Callable[..., Driven]) -> None:
    """RN-24, rung 2."""
    result = await driven(Answer("done", "I handed it in.")).go(submitted=lambda: GOOD)
    assert result.source is Source.TOOL and result.value is not None


async def test_free_text_is_not_asked_for_again(driven: Callable[..., Driven]) -> None:
    """VF-11: FINAL_REVIEW takes any text, empty too."""
    for text in ("The end.", ""):
        one = driven(Answer("done", text))
        result = await one.go(model=None, reask=None)
        assert (result.text, result.error, result.asks) == (text, None, 1)


async def test_a_failed_abort_never_hides_the_first_error(driven: Callable[..., Driven]) -> None:
    """B15, RN-22."""
    one = driven(failure(Code.PROTOCOL, "response did not include assistant metadata"))
    one.runner.failing = {"abort", "close"}
    result = await one.go()
    assert result.error is not None and result.error.message == "response did not include assistant metadata"
    assert one.types()[1:] == [EventType.CLEANUP_FAILED, EventType.CLEANUP_FAILED, EventType.FAILED]
    assert one.runner.calls[-2:] == ["abort", "close"]


async def test_a_deadline_aborts_exactly_once(driven: Callable[..., Driven]) -> None:
    """B16, K7."""
    one = driven(60.0)
    result = await one.go(limit_s=0.05)
    assert result.error is not None and code(result) is Code.TIMEOUT
    assert result.error.message == "exceeded 0 seconds"
    assert one.runner.calls == ["create", "send", "abort", "close"]


async def test_a_cancelled_task_aborts_before_it_ends(driven: Callable[..., Driven]) -> None:
    """B17, K16."""
    one = driven(60.0)
    task = asyncio.create_task(one.go())
    while "send" not in one.runner.calls:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert one.runner.calls == ["create", "send", "abort", "close"]


async def test_a_timeout_inside_is_not_taken_for_the_deadline(driven: Callable[..., Driven]) -> None:
    """A bug is a bug: cleaned up and raised."""
    one = driven(TimeoutError("a bug"))
    with pytest.raises(TimeoutError, match="a bug"):
        await one.go()
    assert one.runner.calls == ["create", "send", "abort", "close"]


@pytest.mark.parametrize("ended", [Code.CRASHED, Code.START_FAILED])
async def test_nothing_is_aborted_where_nothing_runs(driven: Callable[..., Driven], ended: Code) -> None:
    one = driven(failure(ended, "gone"))
    assert code(await one.go()) is ended
    assert one.runner.calls == ["create", "send", "close"]


async def test_an_aborted_turn_is_told_as_cancelled(driven: Callable[..., Driven]) -> None:
    """K6: no second abort."""
    one = driven(Answer("cancelled", "", error=failure(Code.CANCELLED, "the turn was cancelled").error))
    assert code(await one.go()) is Code.CANCELLED
    assert one.runner.calls == ["create", "send", "close"]


async def test_a_session_is_resumed_and_its_name_told_before_the_prompt(driven: Callable[..., Driven]) -> None:
    one = driven(Answer("done", "", GOOD))
    result = await one.go(SessionRef("old"))
    assert one.runner.calls == ["resume", "send", "close"] and result.ref == SessionRef("old")
    assert one.events[0].data == {"session": "old", "resumed": True, "replaced": False}


async def test_a_lost_session_ends_the_turn(driven: Callable[..., Driven]) -> None:
    """RN-67, CR-13."""
    one = driven()
    one.runner.lost = True
    result = await one.go(SessionRef("old"))
    assert code(result) is Code.SESSION_LOST and result.ref is None


async def test_a_lost_session_is_replaced_when_the_whole_text_is_at_hand(driven: Callable[..., Driven]) -> None:
    """RN-67: a new session, said so in the event."""
    one = driven(Answer("done", "", GOOD))
    one.runner.lost = True
    result = await one.go(SessionRef("old"), fresh_text="the whole text")
    assert result.value is not None and result.ref == SessionRef("new")
    assert one.runner.texts == ["the whole text"]
    assert one.events[0].data == {"session": "new", "resumed": False, "replaced": True}


async def test_an_error_beside_the_result_wins(driven: Callable[..., Driven]) -> None:
    error = failure(Code.DENIED, "20 requests were outside the grant").error
    result = await driven(Answer("failed", "text", GOOD, error)).go()
    assert result.value is None and code(result) is Code.DENIED and result.text == "text"


async def test_a_bug_in_the_sink_is_raised_after_the_clean_up(tmp_path: Path) -> None:
    one = Driven(Scripted(Answer("done", "", GOOD)), tmp_path)

    def broken(event: RunnerEvent) -> None:
        raise KeyError(event.type)

    asked = Ask("t", "x", "N" * 16, time.monotonic() + 20)
    with pytest.raises(KeyError):
        await drive_turn(one.runner, one.spec, None, asked, Supervision, broken)
    assert one.runner.calls == ["create", "abort", "close"]


def test_a_failure_of_a_runner_is_no_other_exception() -> None:
    assert not issubclass(RunnerFailure, OSError | TimeoutError)
