"""Keep what a turn gave: its events while it runs, its end, verdict, diff and session in one transaction after it."""

import json
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from app.briefs import Brief, Case
from app.integrity.gate import VERSION as GATE_VERSION
from app.ledger import events, runs, sessions, spending, turns
from app.ledger.events import TurnEvent
from app.ledger.leases import Holder
from app.ledger.turns import TurnEnd, Verdict
from app.ledger.words import EventKind, EvidenceKind, TurnEventKind, TurnEventSource, VerdictSource
from app.runners.codes import Code, RunnerError
from app.runners.runner import EventType, RunnerEvent, Source, TurnResult
from app.runs.addendum import addendum_fault
from app.runs.model import ItemStatus
from app.runs.verdicts import RULES, AgentResult, PlanSupervision, SelfRepair, Supervision, check_citations
from app.services import Services
from app.turns.harvest import Work
from app.turns.usage import usage_of

STORED = frozenset(kind.value for kind in TurnEventKind) - {"message.delta"}
EVENT_CHARS = 100_000
USAGE_MS = 5_000


class Diary:
    """Writes the events of a turn as they happen (live progress); text is redacted before it is a row."""

    def __init__(self, s: Services, turn_id: str) -> None:
        self._s, self._turn_id, self._usage_at = s, turn_id, 0
        with s.read() as conn:
            self._seq = events.last_of_turn(conn, turn_id)

    def __call__(self, event: RunnerEvent) -> None:
        """Keep one event of the runner; pieces of a message are left to the whole message that follows."""
        self._keep(event, TurnEventSource.RUNNER)

    def host(self, event: RunnerEvent) -> None:
        """Keep one event that the host itself saw: a call of one of its tools (RN-36)."""
        self._keep(event, TurnEventSource.HOST)

    def _keep(self, event: RunnerEvent, source: TurnEventSource) -> None:
        if event.type.value not in STORED or self._is_too_soon(event):
            return
        self._seq += 1
        text = self._s.redactor.text(json.dumps(dict(event.data), default=str))[:EVENT_CHARS]
        try:
            data = json.loads(text)
        except ValueError:
            data = {"cut": text}
        row = TurnEvent(self._seq, TurnEventKind(event.type.value), data, source)
        with self._s.write() as conn:
            events.append_to_turn(conn, self._turn_id, row, self._s.clock())

    def _is_too_soon(self, event: RunnerEvent) -> bool:
        """Agents tell what they use with every word; once in some seconds is enough for those who watch."""
        if event.type is not EventType.USAGE_UPDATED:
            return False
        now, before = self._s.clock(), self._usage_at
        self._usage_at = before if now - before < USAGE_MS else now
        return now - before < USAGE_MS


@dataclass(frozen=True)
class Outcome:
    """The end of a turn before it is written: `verdict` only if it is valid, `work` only of an agent."""

    end: TurnEnd
    verdict: Verdict | None = None
    work: Work | None = None


@dataclass(frozen=True)
class Told:
    """By whom and with which words a turn was told: runner and model, version of its prompt."""

    model: str = ""
    prompt_version: str = ""


def rules_version(brief: Brief) -> str:
    """The rules by which a verdict is read, and those of the gate that it had before it (issue 4)."""
    return RULES if brief.model is PlanSupervision else f"{RULES} gate@{GATE_VERSION}"


def judge(s: Services, told: Told, brief: Brief, result: TurnResult, fallback: str) -> Outcome:
    """The outcome of a turn without work: a verdict with good citations, free text, or a failure (EV-5 to EV-9)."""
    text = s.redactor.text(result.text)
    if result.error is not None:
        return failed_by(s, result.error, fallback, text)
    if brief.model is SelfRepair:
        return _repaired(s, result, text)
    if not isinstance(result.value, Supervision):
        wrong = {"wrong": ["the sources of the verdict disagree"]} if brief.model is not None else None
        return Outcome(TurnEnd(ItemStatus.DONE, text or fallback, wrong))
    said = result.value
    assert brief.rule is not None and result.source is not None
    fault = check_citations(said.decision, said.evidence, brief.allowed, brief.rule)
    if fault is not None:
        return Outcome(TurnEnd(ItemStatus.DONE, text, {"wrong": [fault.reason]}))
    verdict = Verdict(
        decision=said.decision,
        feedback=s.redactor.text(said.feedback),
        evidence=said.evidence,
        source=VerdictSource(result.source.value),
        prompts=said.prompts if isinstance(said, PlanSupervision) else None,
        model=told.model,
        prompt_version=told.prompt_version,
        rules_version=rules_version(brief),
    )
    return Outcome(TurnEnd(ItemStatus.DONE, text), verdict)


def _repaired(s: Services, result: TurnResult, text: str) -> Outcome:
    """The answer of a self-repair; one whose addendum may not enter a prompt counts as unreadable (SR-6)."""
    said = result.value
    fault = addendum_fault(said.prompt_addendum) if isinstance(said, SelfRepair) else "the sources disagree"
    if fault or not isinstance(said, SelfRepair):
        return Outcome(_failed(Code.VALIDATION.value, fault, None, text))
    kept = {
        "decision": said.decision,
        "feedback": s.redactor.text(said.feedback),
        "prompt_addendum": s.redactor.text(said.prompt_addendum),
    }
    return Outcome(TurnEnd(ItemStatus.DONE, text, kept))


def worked(s: Services, result: TurnResult, work: Work) -> Outcome:
    """The outcome of an agent's turn: whatever it says, its work goes to the proof (T5)."""
    said = result.value
    assert isinstance(said, AgentResult)
    summary = s.redactor.text(said.summary_markdown)
    by_tool = result.source is Source.TOOL
    asks = summary.startswith("Question:") and (by_tool or not work.commit)
    kept = {
        "summary_markdown": summary,
        "tests": [claim.model_dump() for claim in said.tests],
        "question": summary.removeprefix("Question:").strip()[:2000] if asks else "",
        "diff": s.redactor.text(work.diff.decode("utf-8", "replace"))[:20_000],
        **work.as_json(),
        **({"pulls": list(result.pulls)} if result.pulls else {}),
    }
    return Outcome(TurnEnd(ItemStatus.DONE, s.redactor.text(result.text), kept), work=work)


def failed_by(s: Services, error: RunnerError, fallback: str = "", text: str = "") -> Outcome:
    """A turn that ended with an error of its runner."""
    made = failed(error.code.value, s.redactor.text(error.message), fallback, text)
    return replace(made, end=replace(made.end, next_at=error.retry_at))


def failed(code: str, error: str, fallback: str = "", text: str = "") -> Outcome:
    return Outcome(_failed(code, error, {"fallback": fallback} if fallback else None, text))


def write(s: Services, case: Case, holder: Holder, outcome: Outcome, result: TurnResult | None) -> bool:
    """All of it, or nothing when the lease is not ours any more (LE-2)."""
    now = s.clock()
    with s.write() as conn:
        used = usage_of(conn, case, result)
        if not turns.finish(conn, case.turn.id, holder, replace(outcome.end, cost=used.as_json()), now):
            return False
        if used.is_known:
            spending.settle(conn, case.turn.id, used.tokens, used.usd, now)
        if outcome.verdict is not None:
            turns.store_verdict(conn, case.turn.id, outcome.verdict, now)
        if outcome.work is not None and case.step is not None:
            _keep_work(s, conn, case, outcome.work, now)
        if result is not None and result.ref is not None:
            keep_session(conn, case, result.ref.agent_session_id, now)
    return True


def _keep_work(s: Services, conn: Connection, case: Case, work: Work, now: int) -> None:
    runs.annotate_step(conn, case.run.id, case.turn.step_id, commit_sha=work.commit or None)
    if not work.commit:
        return
    size = work.size
    s.store.put(
        conn,
        run_id=case.run.id,
        diagnosis_id=None,
        kind=EvidenceKind.DIFF,
        data=s.redactor.text(work.diff.decode("utf-8", "replace")).encode(),
        origin="host",
        meta={
            "what": f"the step: {len(size.files)} file{'s' if len(size.files) != 1 else ''}, "
            f"+{size.added} -{size.removed}",
            "files": len(size.files),
            "added": size.added,
            "removed": size.removed,
            "test_added": size.test_added,
            "test_removed": size.test_removed,
        },
        now=now,
    )


def prepared(conn: Connection, case: Case, now: int) -> None:
    """The workspace of a session is there: told once, however many turns and resumptions the session has (B10)."""
    events.append_once(conn, case.run.id, EventKind.WORKSPACE_PREPARED, {"session": case.turn.session_id}, now)


def keep_session(conn: Connection, case: Case, agent_session_id: str, now: int) -> None:
    """The agent's own name of the conversation; that it is another one now is an event of the run."""
    replaced = sessions.opened(conn, case.turn.session_id, agent_session_id, model="", workspace="")
    if replaced:
        details = {"session": case.turn.session_id}
        events.append(conn, case.run.id, EventKind.SESSION_REPLACED, details, None, now)


def _failed(code: str, error: str, result: dict[str, Any] | None, text: str) -> TurnEnd:
    return TurnEnd(ItemStatus.FAILED, text, result, error_code=code, error=error)
