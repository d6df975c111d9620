"""Which prompt a turn gets, which shape its answer has, and what the answer may cite."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from app.briefs import judge, repair, work
from app.briefs.case import Case, Outside
from app.ledger.evidence import Store
from app.render.prompts.inputs import Inputs
from app.runs.model import Purpose, Role
from app.runs.verdicts import (
    PLAN_CITATIONS,
    PLAN_KINDS,
    REVIEW_KINDS,
    AgentResult,
    CitationRule,
    PlanSupervision,
    SelfRepair,
    Supervision,
)


@dataclass(frozen=True)
class Brief:
    """A prompt to be rendered: `model` None wants free text; `fresh` replaces it where the session is lost."""

    name: str
    inputs: Inputs
    model: type[BaseModel] | None
    allowed: Mapping[str, str] = field(default_factory=dict)
    rule: CitationRule | None = None
    fresh: tuple[str, Inputs] | None = None


def brief_for(case: Case, outside: Outside, store: Store, result_line: str = "") -> Brief:
    """The brief of a turn; raises LookupError when the rows that it needs are not there."""
    if case.turn.role is Role.AGENT:
        return _of_agent(case, outside, store)
    if case.turn.role is Role.SELF_REPAIR:
        stuck = repair.self_repair(case)
        return Brief("self_repair", stuck, SelfRepair, fresh=("self_repair", stuck))
    if case.turn.purpose is Purpose.FINAL:
        words = judge.final(case, result_line)
        return Brief("final", words, None, fresh=("final", words))
    plan = case.step is None
    allowed = case.kinds(PLAN_KINDS if plan else REVIEW_KINDS)
    rule = PLAN_CITATIONS if plan else CitationRule(REVIEW_KINDS, frozenset(judge.approve_needs(case)))
    model: type[BaseModel] = PlanSupervision if plan else Supervision
    name = "plan_review" if plan else "review"
    whole: Inputs = judge.plan_review(case, outside) if plan else judge.review(case, outside, store)
    if case.turn.purpose is Purpose.REASK:
        return Brief("reask", judge.reask(case), model, allowed, rule, (name, whole))
    return Brief(name, whole, model, allowed, rule, (name, whole))


def _of_agent(case: Case, outside: Outside, store: Store) -> Brief:
    if case.restarted:
        lost = work.interrupted(case, outside, session_lost=True)
        same = work.interrupted(case, outside, session_lost=False)
        return Brief("agent_resume", same, AgentResult, fresh=("agent_resume", lost))
    first = case.step is not None and case.step.attempts <= 1
    name, inputs = (
        ("agent_work", work.first_attempt(case, outside))
        if first
        else ("agent_correct", work.later_attempt(case, outside, store))
    )
    return Brief(name, inputs, AgentResult, fresh=(name, inputs))
