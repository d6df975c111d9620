"""What one prompt gathers from an agent's updates: its text, its events, its use of tokens."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from acp import schema
from pydantic import ValidationError

from app.runners.codes import plain
from app.runners.runner import EventType, RunnerEvent, Sink, Usage
from app.runners.tail import FIELD_CHARS, TextTail, cut

logger = logging.getLogger(__name__)

EVENTS = 20_000
"""Events of one prompt that are passed on, and tool calls that are told apart."""

PLAN_STEPS = 50

ENDED = ("completed", "failed")


@dataclass
class Prompted:
    """One prompt in flight. Updates become events in order; late ones of another prompt are left out (C29)."""

    turn_key: str
    sink: Sink
    usage: Usage
    tail: TextTail = field(default_factory=TextTail)
    message: TextTail = field(default_factory=TextTail)
    message_id: str | None = None
    calls: dict[str, str] = field(default_factory=dict)
    open_calls: set[str] = field(default_factory=set)
    denials: int = 0
    told: int = 0

    def tell(self, kind: EventType, details: Mapping[str, object]) -> None:
        """An event goes on to the caller until there were too many: a flood must not fill a database."""
        self.told += 1
        if self.told == EVENTS:
            logger.warning("the turn made %d events; further ones are left out", EVENTS)
        if self.told < EVENTS:
            self.sink(RunnerEvent(kind, details))

    def update(self, params: Mapping[str, object]) -> None:
        """One `session/update`; an unknown or broken one is ignored (RN-12)."""
        try:
            notified = schema.SessionNotification.model_validate(params)
        except ValidationError:
            logger.debug("an unknown update was ignored")
            return
        meta = notified.field_meta or {}
        if meta.get("remedy/turn", self.turn_key) != self.turn_key:
            return
        update = notified.update
        if isinstance(update, schema.AgentMessageChunk):
            self._say(update)
            return
        self.end_message()
        if isinstance(update, schema.AgentThoughtChunk):
            self.tell(EventType.THOUGHT_DELTA, {"text": _text(update.content)[-FIELD_CHARS:]})
        elif isinstance(update, schema.ToolCallStart | schema.ToolCallProgress):
            self._call(update)
        elif isinstance(update, schema.AgentPlanUpdate):
            steps = [{"what": plain(one.content)[:500], "status": one.status} for one in update.entries[:PLAN_STEPS]]
            self.tell(EventType.PLAN_UPDATED, {"steps": steps})
        elif isinstance(update, schema.UsageUpdate):
            self._cost(update)

    def _say(self, update: schema.AgentMessageChunk) -> None:
        if update.message_id != self.message_id:
            self.end_message()
            self.message_id = update.message_id
        piece = _text(update.content)
        if self.message.is_empty() and not self.tail.is_at_line_start():
            self.tail.add("\n")
        self.tail.add(piece)
        self.message.add(piece)
        self.tell(EventType.MESSAGE_DELTA, {"text": piece})

    def end_message(self) -> None:
        """A message ends where another one, a thought or a tool call begins, and with the prompt."""
        if text := self.message.take():
            self.tell(EventType.MESSAGE_COMPLETED, {"text": text})
            self.message = TextTail()

    def _call(self, update: schema.ToolCallStart | schema.ToolCallProgress) -> None:
        """An upsert by call id: a start may be missing, doubled or late (RN-11)."""
        call_id = plain(update.tool_call_id)[:200]
        title = plain(update.title or self.calls.get(call_id, ""))[:500]
        if call_id not in self.calls:
            if len(self.calls) >= EVENTS:
                return
            self.open_calls.add(call_id)
            details = {"call": call_id, "title": title, "kind": update.kind or "other", "input": cut(update.raw_input)}
            self.tell(EventType.TOOL_STARTED, details)
        self.calls[call_id] = title
        if update.status in ENDED and call_id in self.open_calls:
            self.open_calls.discard(call_id)
            done = {"call": call_id, "title": title, "ok": update.status == "completed"}
            self.tell(EventType.TOOL_COMPLETED, {**done, "output": cut(update.raw_output)})

    def _cost(self, update: schema.UsageUpdate) -> None:
        """The size of the context, and the cost where it is told; neither says how many tokens were used."""
        cost = update.cost
        if cost is not None and cost.currency.upper() == "USD":
            self.usage = replace(self.usage, usd=Decimal(str(cost.amount)))
        self.tell(EventType.USAGE_UPDATED, {"used": update.used, "size": update.size})


def usage_after(before: Usage, told: schema.Usage | None) -> Usage:
    """The session's sums with what an answer tells; no word about tokens makes them inexact."""
    if told is None:
        return replace(before, exact=False)
    cached = told.cached_read_tokens or 0
    return Usage(told.input_tokens, told.output_tokens, cached, before.usd, before.exact)


def _text(content: object) -> str:
    return plain(content.text) if isinstance(content, schema.TextContentBlock) else ""
