"""What each host tool does: rows of its own turn and nothing else; no merge, no dispatch, no call to GitHub."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.briefs.case import Case
from app.ledger import diagnoses, outbox, runner_state
from app.ledger.runner_state import Shelf, TooMuch
from app.ledger.words import OutboxKind, RunnerScope
from app.runners.permissions import HOST_TOOLS
from app.runners.result import STRUCTURED_BYTES
from app.runners.runner import EventType, RunnerEvent, Sink
from app.runs.verdicts import AgentResult, Invalid, validate
from app.services import Services
from app.turns.tools.box import Doer, Refusal, Toolbox

LOGS = 200
DETAIL_BYTES = 64 * 1024
MOCK = json.dumps({"mock": True})
QUESTION = "Question: "
"""How a result says that it is a question; `keeping.worked` reads it (T48)."""


@dataclass
class Desk:
    """One turn's own place: what was submitted, asked and noted. `mock`: a dry run, nothing of it has an effect."""

    s: Services
    case: Case
    runner_id: str
    model: type[BaseModel] | None
    tell: Sink
    submitted: object | None = None
    logs: int = 0
    noted: bool = False

    @property
    def mock(self) -> bool:
        return bool(self.case.turn.simulated)

    def doers(self) -> Mapping[str, Doer]:
        """The tools that make sense for this turn, granted or not."""
        found: dict[str, Doer] = {
            "run_log": self.run_log,
            "state_get": self.state_get,
            "state_set": self.state_set,
            "state_list": self.state_list,
            "failure_detail": self.failure_detail,
            "issue_comment": self.issue_comment,
        }
        if self.model is not None:
            found["submit_result"] = self.submit_result
        if self.model is AgentResult:
            found["request_human"] = self.request_human
        return found

    def submit_result(self, arguments: Mapping[str, Any]) -> str:
        """The last accepted call counts (RN-24); it is validated again like every other source (RN-25)."""
        assert self.model is not None
        if len(json.dumps(arguments)) > STRUCTURED_BYTES:
            raise Refusal(f"the result is larger than {STRUCTURED_BYTES} bytes")
        found = validate(self.model, arguments)
        if isinstance(found, Invalid):
            raise Refusal("; ".join(found.reasons))
        self.submitted = dict(arguments)
        return "accepted"

    def run_log(self, arguments: Mapping[str, Any]) -> str:
        """RN-14: a row of the turn, never a word on GitHub."""
        self.logs += 1
        if self.logs > LOGS:
            raise Refusal(f"a turn may log {LOGS} lines")
        self.tell(RunnerEvent(EventType.LOG, {"text": arguments["text"]}))
        return "logged"

    def state_get(self, arguments: Mapping[str, Any]) -> str:
        with self.s.read() as conn:
            return json.dumps(runner_state.get(conn, self._shelf(arguments), arguments["key"]))

    def state_list(self, arguments: Mapping[str, Any]) -> str:
        with self.s.read() as conn:
            return json.dumps(runner_state.keys(conn, self._shelf(arguments)))

    def state_set(self, arguments: Mapping[str, Any]) -> str:
        """D14, D20: a secret in a value is redacted before it is a row."""
        value = json.loads(self.s.redactor.text(json.dumps(arguments["value"])))
        if self.mock:
            return MOCK
        try:
            with self.s.write() as conn:
                runner_state.put(conn, self._shelf(arguments), arguments["key"], value, self.s.clock())
        except TooMuch as full:
            raise Refusal(str(full)) from None
        self.tell(RunnerEvent(EventType.STATE_UPDATED, {"scope": arguments["scope"], "key": arguments["key"]}))
        return "kept"

    def failure_detail(self, arguments: Mapping[str, Any]) -> str:
        """A failure of this very run; of its job's log the end, which was redacted when it was stored."""
        with self.s.read() as conn:
            rows = diagnoses.failures_of(conn, self.case.run.diagnosis_id)
        row = next((one for one in rows if one.test_id == arguments["test_id"]), None)
        if row is None:
            raise Refusal("this run has no failing test of that id")
        logs = [one for one in self.case.found if one.id == row.log_evidence_id]
        log = self.s.store.read(logs[0]).decode("utf-8", "replace") if logs else ""
        text = "\n\n".join(part for part in (log, row.error_head, row.detail_tail) if part)
        return text.encode()[-DETAIL_BYTES:].decode("utf-8", "ignore")

    def issue_comment(self, arguments: Mapping[str, Any]) -> str:
        """One note a turn, on the issue of this step's group; the outbox sends it (RN-14, OB-1)."""
        group = self.case.groups.get(self.case.step.group_id) if self.case.step is not None else None
        if group is None or group.issue_id is None:
            raise Refusal("this turn has no issue")
        if self.noted:
            raise Refusal("one note was left already in this turn")
        self.noted = True
        if self.mock:
            return MOCK
        case, now = self.case, self.s.clock()
        payload = {
            "reply": "note",
            "scope_id": case.scope.id,
            "repository_id": case.repository.id,
            "issue_id": group.issue_id,
            "turn_id": case.turn.id,
            "text": self.s.redactor.text(arguments["body"]),
        }
        with self.s.write() as conn:
            outbox.put(
                conn,
                key=f"note:{case.turn.id}",
                lane=case.scope.id,
                kind=OutboxKind.REPLY,
                payload=payload,
                installation_id=case.run.installation_id,
                now=now,
            )
        self.s.ring("deliver", str(case.run.installation_id))
        return "the note will be posted"

    def request_human(self, arguments: Mapping[str, Any]) -> str:
        """The turn's result is the question; the run stops with it for the maintainers (T48)."""
        if self.mock:
            return MOCK
        self.submitted = {"summary_markdown": QUESTION + arguments["question"].strip(), "tests": []}
        return "the maintainers will be asked; end your turn now"

    def _shelf(self, arguments: Mapping[str, Any]) -> Shelf:
        place = (self.case.run.installation_id, self.case.repository.id)
        return Shelf.of(RunnerScope(arguments["scope"]), place, self.runner_id, self.case.turn.session_id)


def toolbox(desk: Desk, granted: frozenset[str]) -> Toolbox:
    """The tools of a turn: what its grant names and what its desk can do."""
    return Toolbox(granted, desk.doers(), desk.model, desk.tell)


def rehearsal(granted: frozenset[str], tell: Sink) -> Toolbox:
    """The tools of a turn that nobody ordered: all of them answer, none does anything (D18)."""
    return Toolbox(granted, dict.fromkeys(HOST_TOOLS, lambda arguments: MOCK), None, tell)
