"""What one prompt gathers from a server's events: normalised events, requests for permission, signs of life."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.runners.codes import plain
from app.runners.paths import inside
from app.runners.permissions import HOST_TOOLS, PermissionRequest, Ruling
from app.runners.runner import Decide, EventType, RunnerEvent, SessionSpec, Sink
from app.runners.tail import FIELD_CHARS, cut

logger = logging.getLogger(__name__)

EVENTS = 20_000
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("read", "list", "lsp"), "read"),
    **dict.fromkeys(("glob", "grep", "codesearch"), "search"),
    **dict.fromkeys(("edit", "write", "patch", "multiedit", "apply_patch"), "edit"),
    **dict.fromkeys(("webfetch", "websearch"), "fetch"),
    "bash": "execute",
    "external_directory": "read",
    "todowrite": "think",
    "StructuredOutput": "other",
}
"""A tool or permission of the server -> kind of the grant; any other name is `other`, which is never allowed."""

OUR_TOOLS = "remedy_"


@dataclass
class Prompted:
    """One prompt in flight. Only messages that answer it count: those of an older prompt are left out (C29)."""

    session_id: str
    spec: SessionSpec
    sink: Sink
    decide: Decide
    denials: int = 0
    asked_by: str = ""
    answers: set[str] = field(default_factory=set)
    parts: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    told: int = 0
    said: bool = False
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, kind: EventType, details: Mapping[str, object]) -> None:
        """An event goes on to the caller until there were too many: a flood must not fill a database."""
        self.told += 1
        if self.told == EVENTS:
            logger.warning("the turn made %d events; further ones are left out", EVENTS)
        if self.told < EVENTS:
            self.sink(RunnerEvent(kind, details))

    def end(self, text: str) -> None:
        """The text of the answer is told in any case, also when its event was lost with a connection (D12)."""
        if text and not self.said:
            self.tell(EventType.MESSAGE_COMPLETED, {"text": text})

    def take(self, kind: str, properties: Mapping[str, Any]) -> bool:
        """One event of this session; unknown ones are ignored (RN-12). True when it is a sign of life (RN-18)."""
        handler = {
            "message.updated": self._message,
            "message.part.updated": self._part,
            "message.part.delta": self._delta,
            "session.status": self._status,
            "session.idle": self._idle,
        }.get(kind)
        if handler is not None:
            handler(properties)
        return not (kind == "session.status" and _dict(properties.get("status")).get("type") == "retry")

    def rule(self, properties: Mapping[str, Any]) -> Ruling:
        """The decision about one `permission.asked`; a bug in a rule answers reject (RN-34)."""
        request = self._request(properties)
        try:
            ruling = self.decide(request)
        except Exception:
            ruling = Ruling(False, "rule_failed")
        told = {"call": request.call_id, "kind": request.kind, "title": request.title, "rule": ruling.rule}
        word = "allow_once" if ruling.allow else "reject_once"
        self.tell(EventType.PERMISSION_DECIDED, {**told, "decision": word})
        if not ruling.allow:
            self.denials += 1
            self.tell(EventType.TOOL_DENIED, told)
        return ruling

    def _request(self, properties: Mapping[str, Any]) -> PermissionRequest:
        name = plain(str(properties.get("permission", "")))[:200]
        patterns = [str(one) for one in properties.get("patterns") or ()]
        metadata = _dict(properties.get("metadata"))
        call_id = plain(str(_dict(properties.get("tool")).get("callID", "")))[:200]
        tool = name.removeprefix(OUR_TOOLS)
        host_tool = tool if name.startswith(OUR_TOOLS) and tool in HOST_TOOLS else ""
        paths: tuple[str | None, ...] = ()
        if name == "external_directory":
            paths = (None,)
        elif KINDS.get(name) in ("edit", "read"):
            named = str(metadata.get("filepath") or "")
            paths = tuple(inside(one, self.spec) for one in ([named] if named else patterns))
        title = plain(str(metadata.get("command") or ", ".join(patterns) or name))[:500]
        return PermissionRequest(call_id, KINDS.get(name, "other"), title, host_tool, paths)

    def _message(self, properties: Mapping[str, Any]) -> None:
        info = _dict(properties.get("info"))
        if info.get("role") == "user" and not self.asked_by:
            self.asked_by = str(info.get("id"))
        elif info.get("role") == "assistant" and info.get("parentID") == self.asked_by:
            self.answers.add(str(info.get("id")))

    def _part(self, properties: Mapping[str, Any]) -> None:
        part = _dict(properties.get("part"))
        if part.get("messageID") not in self.answers:
            return
        kind, part_id = str(part.get("type")), str(part.get("id"))
        if len(self.parts) < EVENTS:
            self.parts.setdefault(part_id, kind)
        if kind == "tool":
            self._call(part)
        elif kind == "text" and "end" in _dict(part.get("time")) and self.parts.get(part_id) == "text":
            self.parts[part_id], self.said = "said", True
            self.tell(EventType.MESSAGE_COMPLETED, {"text": plain(str(part.get("text", "")))[-4 * FIELD_CHARS :]})
        elif kind == "step-finish":
            tokens = _dict(part.get("tokens"))
            used = {"input": tokens.get("input"), "output": tokens.get("output"), "usd": part.get("cost")}
            self.tell(EventType.USAGE_UPDATED, used)

    def _delta(self, properties: Mapping[str, Any]) -> None:
        kind = self.parts.get(str(properties.get("partID")))
        told = {"text": EventType.MESSAGE_DELTA, "reasoning": EventType.THOUGHT_DELTA}.get(kind or "")
        if told is not None and properties.get("field") == "text":
            self.tell(told, {"text": plain(str(properties.get("delta", "")))[-FIELD_CHARS:]})

    def _call(self, part: Mapping[str, Any]) -> None:
        """A call is told once when it runs and once when it ends (RN-11)."""
        state, call_id = _dict(part.get("state")), plain(str(part.get("callID")))[:200]
        status, before = str(state.get("status")), self.calls.get(call_id)
        if status == "pending" or before == "ended" or (before is None and len(self.calls) >= EVENTS):
            return
        name = plain(str(part.get("tool")))[:200]
        title = plain(str(state.get("title") or name))[:500]
        if before is None:
            started = {"call": call_id, "title": title, "kind": KINDS.get(name, "other")}
            self.tell(EventType.TOOL_STARTED, {**started, "input": cut(state.get("input"))})
            self.calls[call_id] = "running"
        if status in ("completed", "error"):
            self.calls[call_id] = "ended"
            done = {"call": call_id, "title": title, "ok": status == "completed"}
            self.tell(EventType.TOOL_COMPLETED, {**done, "output": cut(state.get("output") or state.get("error"))})

    def _idle(self, properties: Mapping[str, Any]) -> None:
        self.idle.set()

    def _status(self, properties: Mapping[str, Any]) -> None:
        status = _dict(properties.get("status"))
        if status.get("type") == "retry":
            told = {"attempt": status.get("attempt"), "message": plain(str(status.get("message", "")))[:500]}
            self.tell(EventType.PROVIDER_RETRY, told)


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
