"""The tools of one turn: which are offered, how arguments are checked, what is written down about every call."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import structlog
from jsonschema_rs import Draft202012Validator
from jsonschema_rs import ValidationError as SchemaError
from pydantic import BaseModel

from app.render.engine import TEMPLATES
from app.runners.permissions import HOST_TOOLS
from app.runners.runner import EventType, RunnerEvent
from app.runs.verdicts import schema_of

log = structlog.get_logger("tools")

CALLS = 1000
SHOWN_CHARS = 20_000


@dataclass(frozen=True)
class Reply:
    """What the agent reads; with `is_error` it may correct itself and call again."""

    text: str
    is_error: bool = False


class Refusal(Exception):
    """A call that is not done; the agent reads the text."""


Doer = Callable[[Mapping[str, Any]], str]
"""Does one call with arguments that fit the tool's schema; returns the text. Raises Refusal."""


@dataclass
class Toolbox:
    """Granted tools of one turn with their doers; `tell` writes into the turn's ledger (RN-36).

    `model` is the form of the turn's result, None when text is all that is asked for: then nothing can be submitted.
    """

    granted: frozenset[str]
    doers: Mapping[str, Doer]
    model: type[BaseModel] | None
    tell: Callable[[RunnerEvent], None]
    calls: int = 0
    _checkers: dict[str, Draft202012Validator] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [name for name in HOST_TOOLS if name in self.granted and name in self.doers]

    def listing(self) -> list[dict[str, object]]:
        """The granted tools with their input schemas, as `tools/list` gives them."""
        return [
            {"name": name, "description": definitions()[name]["description"], "inputSchema": self._schema(name)}
            for name in self.names
        ]

    def call(self, name: str, arguments: object) -> Reply:
        """One call, told as started and as completed or denied under one id (D16, D17); never raises for an agent."""
        self.calls += 1
        call = {"call": f"host-{self.calls}", "title": name[:100]}
        self._tell(EventType.TOOL_STARTED, {**call, "kind": "other", "input": _shown(arguments)})
        if name not in self.names:
            self._tell(EventType.TOOL_DENIED, {**call, "rule": "host_tool_not_granted"})
            return Reply(f"{name[:100]} is not granted to this turn", is_error=True)
        reply = self._do(name, arguments)
        self._tell(EventType.TOOL_COMPLETED, {**call, "ok": not reply.is_error, "output": _shown(reply.text)})
        return reply

    def _do(self, name: str, arguments: object) -> Reply:
        try:
            self._check(name, arguments)
            return Reply(self.doers[name](arguments))  # type: ignore[arg-type]  # every schema asks for an object
        except Refusal as why:
            return Reply(str(why), is_error=True)
        except Exception:  # the edge of a tool: a mistake of ours must not end the agent's turn
            log.exception("host tool failed", tool=name)
            return Reply("the tool failed on the side of the host", is_error=True)

    def _check(self, name: str, arguments: object) -> None:
        if self.calls > CALLS:
            raise Refusal(f"a turn may call tools {CALLS} times")
        checker = self._checkers.get(name)
        if checker is None:
            checker = self._checkers[name] = Draft202012Validator(self._schema(name), offline=True)
        try:
            checker.validate(arguments)
        except SchemaError as wrong:
            where = ".".join(str(part) for part in wrong.instance_path) or "arguments"
            raise Refusal(f"{where}: {wrong.message}"[:1000]) from None

    def _schema(self, name: str) -> dict[str, Any]:
        if name == "submit_result" and self.model is not None:
            return schema_of(self.model)
        schema: dict[str, Any] = definitions()[name]["inputSchema"]
        return schema

    def _tell(self, kind: EventType, details: Mapping[str, object]) -> None:
        if self.calls <= CALLS + 1:
            self.tell(RunnerEvent(kind, details))


@cache
def definitions() -> Mapping[str, Mapping[str, Any]]:
    """What each tool says about itself."""
    found: Mapping[str, Mapping[str, Any]] = json.loads((TEMPLATES / "host_tools.json").read_text())
    return found


def _shown(value: object) -> str:
    return (value if isinstance(value, str) else json.dumps(value, default=str))[-SHOWN_CHARS:]
