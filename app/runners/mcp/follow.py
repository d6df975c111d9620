"""Follow a remote agent through one turn in short steps; between two of them the turn is a row and nobody waits."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from pydantic import BaseModel

from app.runners.codes import Code, RunnerError, RunnerFailure, failure
from app.runners.mcp.remote import Remote
from app.runners.mcp.standing import Phase, Standing, digest, digest_of
from app.runners.mcp.states import OVER, Seen, State
from app.runners.mcp.tools import Order
from app.runners.result import Handed, read_result
from app.runners.runner import Answer, Ask, EventType, RunnerEvent, SessionRef, Sink, TurnResult, Usage
from app.runners.turn import last_event
from app.runs.verdicts import AgentResult, schema_of

LOOKS_S = (2.0, 10.0, 30.0, 60.0)
"""Waits between the looks for a session that may have been made: together longer than a gateway's own time (G17)."""
SETTLE_MS = 120_000
"""A session that was spoken to may show its old state for so long."""
POLL_S = 15.0
PASSING = frozenset({Code.GATEWAY_UNREACHABLE, Code.RATE_LIMITED})


@dataclass(frozen=True)
class Errand:
    """What a session is called: `tags` and, last of all, `key`, by which it is found again (G9, G18)."""

    key: str
    title: str
    tags: tuple[str, ...] = ()
    repository: str = ""
    max_acu: int | None = None


@dataclass(frozen=True)
class Later:
    """The turn goes on: look again after `wait_s`."""

    standing: Standing
    wait_s: float


class Overtaken(Exception):
    """The turn is not ours any more; nothing may be called."""


@dataclass(frozen=True)
class Times:
    """`now` gives UTC milliseconds, `deadline_at` is one of them."""

    now: Callable[[], int]
    deadline_at: int
    limit_s: float
    poll_s: float = POLL_S


@dataclass
class Follower:
    """`keep` writes a standing, and the text that is said instead of `ask.text`; False means: stop, it is not ours."""

    remote: Remote
    errand: Errand
    ask: Ask
    model: type[BaseModel] | None
    times: Times
    keep: Callable[[Standing, str], bool]
    sink: Sink

    async def step(self, standing: Standing) -> Later | TurnResult:
        """One step: at most one thing is made or said. Raises Overtaken; never for what the other side does."""
        self._at = standing
        took = {Phase.STARTING: self._start, Phase.SAYING: self._speak, Phase.WAITING: self._look}
        try:
            if self._is_late and standing.phase is not Phase.WAITING:
                raise self._too_late()
            done = await took[standing.phase]()
            if self._is_late and isinstance(done, Later):
                raise self._too_late()
        except RunnerFailure as stopped:
            done = await self._failed(stopped.error)
        return done

    @property
    def _is_late(self) -> bool:
        return self.times.now() >= self.times.deadline_at

    def _too_late(self) -> RunnerFailure:
        known = f"last seen: {self._at.word or self._at.phase.value}. {self._at.trouble}".strip()
        return failure(Code.TIMEOUT, f"exceeded {self.times.limit_s:.0f} seconds; {known}")

    async def _failed(self, error: RunnerError) -> Later | TurnResult:
        """What passes with time is waited for until the deadline; a turn that ran out of it ends its session."""
        if error.code in PASSING:
            self._at = replace(self._at, trouble=error.message[:300])
            if not self._is_late:
                until_s = 0.0 if error.retry_at is None else (error.retry_at - self.times.now()) / 1000
                return Later(self._at, max(until_s, self._pause_s()))
            error = self._too_late().error
        if error.code is Code.TIMEOUT and self._at.session:
            await self.end(self._at.session)
        return self._result(error=error)

    async def end(self, session: str) -> None:
        """Stop what runs there, as far as the vendor can; a failure is an event and hides nothing (B15)."""
        try:
            ended = await self.remote.end(session)
        except RunnerFailure as stopped:
            self.sink(RunnerEvent(EventType.CLEANUP_FAILED, {"what": "terminate", "error": stopped.error.message}))
        else:
            self.sink(RunnerEvent(EventType.STATE, {"session": session, "state": "ended" if ended else "left running"}))

    async def end_whatever_runs(self, standing: Standing) -> None:
        """For a turn that nobody wants any more: end its session, also one that was made and not yet written down."""
        session = standing.session
        if not session and (standing.tried or standing.unsure):
            try:
                found = await self.remote.find(self.errand.key, standing.gone)
            except RunnerFailure as stopped:
                self.sink(RunnerEvent(EventType.CLEANUP_FAILED, {"what": "search", "error": stopped.error.message}))
                return
            session = "" if found is None else found.session_id
        if session:
            await self.end(session)

    async def _start(self) -> Later | TurnResult:
        """Search by tag, then create, then search again if nobody knows whether it did (G17, G18)."""
        found = await self.remote.find(self.errand.key, self._at.gone)
        if found is not None:
            return self._bound(found, recovered=self._at.tried)
        if self._at.tried and self._at.looks < len(LOOKS_S):
            return self._look_for_it_later()
        if self._at.unsure:
            text = f"nobody knows whether a session was made; none with the tag {self.errand.key} was found"
            raise RunnerFailure(RunnerError(Code.GATEWAY_AMBIGUOUS, f"{text}. {self._at.trouble}", ambiguous=True))
        schema = None if self.model is None else schema_of(self.model)
        tags = (*(tag for tag in self.errand.tags if tag != self.errand.key), self.errand.key)
        order = Order(self.ask.text, self.errand.title, tags, self.errand.repository, schema, self.errand.max_acu)
        self._keep(replace(self._at, tried=True, looks=0))
        try:
            made = await self.remote.create(order)
        except RunnerFailure as stopped:
            if not stopped.error.ambiguous:
                self._keep(replace(self._at, tried=False))
                raise
            self._at = replace(self._at, unsure=True, trouble=stopped.error.message[:300])
            return self._look_for_it_later()
        return self._bound(made, recovered=False)

    def _look_for_it_later(self) -> Later:
        return Later(replace(self._at, looks=self._at.looks + 1), LOOKS_S[self._at.looks])

    def _bound(self, seen: Seen, recovered: bool) -> Later:
        event = {"session": seen.session_id, "url": seen.url, "recovered": recovered}
        self.sink(RunnerEvent(EventType.STATE, {**event, "state": seen.word or seen.state.value}))
        bound = Standing(Phase.WAITING, seen.session_id, asks=1, said_at=self.times.now(), word=seen.word)
        self._keep(bound)
        return Later(bound, self._pause_s())

    async def _speak(self) -> Later | TurnResult:
        """Say the next prompt of this conversation, unless it was said before a crash."""
        seen = await self._seen()
        if seen is None or seen.state in OVER:
            return self._renew("it is not known any more" if seen is None else seen.word or seen.state.value)
        if self._at.tried and (seen.state is State.RUNNING or digest(seen) != self._at.before):
            return self._heard()
        if self._at.tried and self._at.looks < 2:
            return self._look_for_it_later()
        text = self.ask.text if self._at.asks == 0 or self.ask.reask is None else self.ask.reask(self._at.wrong)
        marked = replace(self._at, tried=True, looks=0, before=digest(seen), stale=digest_of(seen.structured))
        if self._at.asks == 0 and seen.acu is not None:
            marked = replace(marked, acu=str(seen.acu))
        self._keep(marked)
        try:
            await self.remote.say(self._at.session, text)
        except RunnerFailure as stopped:
            if stopped.error.ambiguous:
                return self._look_for_it_later()
            self._keep(replace(self._at, tried=False))
            raise
        return self._heard()

    def _heard(self) -> Later:
        heard = replace(
            self._at,
            phase=Phase.WAITING,
            tried=False,
            looks=0,
            asks=self._at.asks + 1,
            said_at=self.times.now(),
            fresh="",
        )
        self._keep(heard)
        return Later(heard, self._pause_s())

    def _renew(self, why: str) -> Later:
        """The session is over: a turn that begins goes on in a new one, with the whole text (CR-13)."""
        if self._at.asks or not self._at.fresh:
            raise failure(Code.SESSION_LOST, f"the remote session is over: {why}")
        text = self._at.fresh
        renewed = Standing(Phase.STARTING, gone=self._at.session)
        self._keep(renewed, text)
        return Later(renewed, 0)

    async def _look(self) -> Later | TurnResult:
        seen = await self._seen()
        if seen is None:
            raise failure(Code.SESSION_LOST, "the server does not know the session any more")
        if seen.word != self._at.word:
            self.sink(
                RunnerEvent(EventType.STATE, {"session": seen.session_id, "state": seen.word, "pulls": seen.pulls})
            )
        self._at = replace(self._at, word=seen.word, trouble="")
        match seen.state:
            case State.RUNNING:
                return Later(self._at, self._pause_s())
            case State.FAILED:
                raise failure(Code.PROVIDER_FAILED, f"the remote session failed: {seen.word}")
            case State.CANCELLED:
                raise failure(Code.CANCELLED, f"the remote session was ended: {seen.word}")
            case State.SUSPENDED:
                raise failure(Code.REMOTE_REFUSED, f"the remote session is suspended: {seen.word}")
        return await self._answered(seen)

    async def _answered(self, seen: Seen) -> Later | TurnResult:
        """It stands still: a valid result ends the turn; what it showed before we spoke is no result (RN-15)."""
        if self.model is None:
            return self._result(seen)
        new = seen.structured if digest_of(seen.structured) != self._at.stale else None
        handed = read_result(self.model, Answer("done", seen.text, new), None, self.ask.nonce)
        if handed.value is not None:
            return self._result(seen, handed=handed)
        if digest(seen) == self._at.before and self.times.now() - self._at.said_at < SETTLE_MS:
            return Later(self._at, self._pause_s())
        if self._at.asks < 2 and self.ask.reask is not None and not self._is_late:
            self._at = replace(self._at, phase=Phase.SAYING, wrong=handed.reasons, tried=False, looks=0)
            return await self._speak()
        if seen.state is State.WAITING and self.model is AgentResult and seen.text.strip():
            asked = AgentResult(summary_markdown=f"Question: {seen.text.strip()[:2000]}", tests=[])
            return self._result(seen, handed=Handed(value=asked))
        detail = f"{'missing' if handed.missing else 'invalid'}: {'; '.join(handed.reasons)}"
        raise failure(Code.VALIDATION, "structured result failed validation", detail)

    async def _seen(self) -> Seen | None:
        try:
            return await self.remote.look(self._at.session)
        except RunnerFailure as stopped:
            if stopped.error.code is Code.SESSION_LOST:
                return None
            raise

    def _result(
        self, seen: Seen | None = None, error: RunnerError | None = None, handed: Handed | None = None
    ) -> TurnResult:
        handed = handed or Handed()
        before = Usage(acu=Decimal(self._at.acu) if self._at.acu else None)
        return TurnResult(
            value=handed.value,
            source=handed.source,
            text="" if seen is None else seen.text,
            error=error,
            usage=Usage(acu=None if seen is None else seen.acu, exact=False).since(before),
            asks=self._at.asks,
            ref=SessionRef(self._at.session) if self._at.session else None,
            pulls=() if seen is None else seen.pulls,
        )

    def _keep(self, standing: Standing, text: str = "") -> None:
        if not self.keep(standing, text):
            raise Overtaken
        self._at = standing
        if text:
            self.ask = replace(self.ask, text=text)

    def _pause_s(self) -> float:
        """15 s, doubling to two minutes: as long again as it has been already (G23)."""
        poll_s, waited_s = self.times.poll_s, (self.times.now() - self._at.said_at) / 1000
        return max(poll_s, min(8 * poll_s, waited_s if self._at.said_at else poll_s)) * random.uniform(0.9, 1.1)


async def follow(follower: Follower, standing: Standing) -> TurnResult:
    """All steps of a turn in a row, for tests and tools that can wait."""
    while isinstance(done := await follower.step(standing), Later):
        standing = done.standing
        await asyncio.sleep(done.wait_s)
    follower.sink(last_event(done))
    return done
