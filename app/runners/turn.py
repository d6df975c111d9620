"""Drive one turn, the same for every kind of runner: open, ask, validate, ask once more, abort, close."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import BaseModel

from app.runners.codes import Code, RunnerError, RunnerFailure, failure, text_of
from app.runners.permissions import decide
from app.runners.result import Handed, read_result
from app.runners.runner import Ask, EventType, Runner, RunnerEvent, SessionRef, SessionSpec, Sink, TurnResult, Usage
from app.runs.verdicts import schema_of

ENDED_BY_ITSELF = frozenset({Code.CRASHED, Code.START_FAILED, Code.CANCELLED, Code.SANDBOX_UNAVAILABLE})
"""Errors after which nothing is left to abort."""


async def drive_turn(
    runner: Runner, spec: SessionSpec, ref: SessionRef | None, ask: Ask, model: type[BaseModel] | None, sink: Sink
) -> TurnResult:
    """One turn from the open session to the last event; `ref` None opens a new session, `model` None wants text only.

    Never raises for what an agent does: that is `TurnResult.error`. When the task is cancelled the agent is aborted and
    every process ended before CancelledError goes on (B17). The last event is `turn.completed` or `turn.failed`.
    """
    turn = _Turn(runner, spec, replace(ask, schema=None if model is None else schema_of(model)), model, sink)
    limit_s = max(0.0, ask.deadline - time.monotonic())
    clock = asyncio.timeout(limit_s)
    try:
        async with clock:
            result = await turn.run(ref)
    except RunnerFailure as stopped:
        result = turn.outcome(stopped.error)
    except BaseException as error:
        if not (isinstance(error, TimeoutError) and clock.expired()):
            await turn.end(abort=True)
            raise
        result = turn.outcome(RunnerError(Code.TIMEOUT, f"exceeded {limit_s:.0f} seconds"))
    await turn.end(abort=result.error is not None and result.error.code not in ENDED_BY_ITSELF)
    sink(last_event(result))
    return result


def last_event(result: TurnResult) -> RunnerEvent:
    """The event that ends a turn."""
    if result.error is None:
        return RunnerEvent(EventType.COMPLETED, {"source": result.source, "asks": result.asks})
    error = result.error
    return RunnerEvent(EventType.FAILED, {"code": error.code.value, "message": error.message, "asks": result.asks})


@dataclass
class _Turn:
    runner: Runner
    spec: SessionSpec
    ask: Ask
    model: type[BaseModel] | None
    sink: Sink
    ref: SessionRef | None = None
    text: str = ""
    asks: int = 0
    before: Usage = field(default_factory=Usage)
    used: Usage = field(default_factory=Usage)

    async def run(self, ref: SessionRef | None) -> TurnResult:
        await self._open(ref)
        handed = await self._send(self.ask)
        if handed.value is None and not handed.conflict and self.ask.reask is not None and self.model is not None:
            handed = await self._send(self.ask.again(self.ask.reask(handed.reasons)))
        if self.model is not None and handed.value is None and not handed.conflict:
            detail = f"{'missing' if handed.missing else 'invalid'}: {'; '.join(handed.reasons)}"
            raise failure(Code.VALIDATION, "structured result failed validation", detail)
        return replace(self.outcome(None), value=handed.value, source=handed.source)

    async def _open(self, ref: SessionRef | None) -> None:
        replaced = False
        if ref is not None:
            try:
                self.ref = await self.runner.resume_session(self.spec, ref)
            except RunnerFailure as lost:
                if lost.error.code is not Code.SESSION_LOST or self.ask.fresh_text is None:
                    raise
                self.ask, replaced = replace(self.ask, text=self.ask.fresh_text), True
        if self.ref is None:
            self.ref = await self.runner.create_session(self.spec)
        bound = {
            "session": self.ref.agent_session_id,
            "resumed": ref is not None and not replaced,
            "replaced": replaced,
        }
        self.sink(RunnerEvent(EventType.SESSION_BOUND, bound))
        self.before = await self.runner.usage(self.ref)

    async def _send(self, ask: Ask) -> Handed:
        """One prompt and the ladder; a turn without a model takes any text (VF-11)."""
        assert self.ref is not None
        self.asks += 1
        answer = await self.runner.send(self.ref, ask, self.sink, partial(decide, bounds=self.spec.bounds))
        self.text = answer.text or self.text
        self.used = (await self.runner.usage(self.ref)).since(self.before)
        if answer.error is not None:
            raise RunnerFailure(answer.error)
        if self.model is None:
            return Handed()
        return read_result(self.model, answer, ask.submitted(), ask.nonce)

    def outcome(self, error: RunnerError | None) -> TurnResult:
        return TurnResult(text=self.text, error=error, usage=self.used, asks=self.asks, ref=self.ref)

    async def end(self, abort: bool) -> None:
        """Stop what runs, then close; what goes wrong here is an event and never hides the turn's own end (B15)."""
        if abort and self.ref is not None:
            await self._cleanup("abort", self.runner.abort(self.ref))
        await self._cleanup("close", self.runner.close())

    async def _cleanup(self, what: str, step: Awaitable[None]) -> None:
        try:
            await step
        except (RunnerFailure, OSError) as error:
            self.sink(RunnerEvent(EventType.CLEANUP_FAILED, {"what": what, "error": text_of(error)[:500]}))
