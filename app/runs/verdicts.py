"""Verdicts and results as agents hand them in: their shapes, the marker line, the citation rules; pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic.functional_validators import AfterValidator

from app.runs.model import Decision

RULES = "verdicts@1"
"""Version of how a verdict is read and what it must cite; one up with each change of VF or EV rules."""
MARKER_BYTES = 16 * 1024
REASONS_SHOWN = 10


def _without_nul(text: str) -> str:
    # PostgreSQL stores no NUL in text, and no reader gains from one.
    if "\x00" in text:
        raise ValueError("must not hold a NUL character")
    return text


def _text(most: int, least: int = 1) -> object:
    """Constraints of a text that is never cut to fit (VF-8); with `least` 1 it must hold more than white space."""
    return StringConstraints(min_length=least, max_length=most, pattern=r"\S" if least else None, strict=True)


Feedback = Annotated[str, _text(4000), AfterValidator(_without_nul)]
Summary = Annotated[str, _text(20_000), AfterValidator(_without_nul)]
StepPrompt = Annotated[str, _text(8000), AfterValidator(_without_nul)]
Addendum = Annotated[str, _text(2000, least=0), AfterValidator(_without_nul)]
EvidenceId = Annotated[str, _text(64), AfterValidator(_without_nul)]
TestName = Annotated[str, _text(2000), AfterValidator(_without_nul)]


class _Handed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Supervision(_Handed):
    """What a supervisor decides about finished work."""

    decision: Annotated[Decision, Field(strict=False)]
    feedback: Feedback
    evidence: Annotated[list[EvidenceId], Field(max_length=20)]


class PlanSupervision(Supervision):
    """What a supervisor decides about a plan; `prompts` maps step ids to whole new texts, with `correct` only."""

    prompts: dict[str, StepPrompt] = Field(default_factory=dict, max_length=10)

    @model_validator(mode="after")
    def _prompts_go_with_correct(self) -> "PlanSupervision":
        if self.prompts and self.decision is not Decision.CORRECT:
            raise ValueError("prompts go with the decision correct only")
        return self


class SelfRepair(_Handed):
    """What a self-repair says about a stopped run; never a verdict (VF-10)."""

    decision: Literal["fixed", "needs_user"]
    feedback: Feedback
    prompt_addendum: Addendum


class TestClaim(_Handed):
    """One test as the agent says it saw it: a claim, never a proof."""

    __test__ = False  # pytest would collect the class by its name

    name: TestName
    outcome: Literal["passed", "failed", "skipped", "not_run"]


class AgentResult(_Handed):
    """What an agent says about its work."""

    summary_markdown: Summary
    tests: list[TestClaim]


MARKERS: Mapping[type[BaseModel], str] = {
    Supervision: "REMEDY_VERDICT",
    PlanSupervision: "REMEDY_VERDICT",
    SelfRepair: "REMEDY_SELF_REPAIR",
    AgentResult: "REMEDY_RESULT",
}
MARKER_WORDS = tuple(sorted(set(MARKERS.values())))

SCHEMA_FILES: Mapping[str, type[BaseModel]] = {
    "agent_result.json": AgentResult,
    "plan_supervision.json": PlanSupervision,
    "self_repair.json": SelfRepair,
    "supervision.json": Supervision,
}
"""Files of `templates/schemas/`, generated from the models (B12)."""


@dataclass(frozen=True)
class Invalid:
    """No result: `missing` when nothing was handed in; `reasons` name fields and rules, never the refused values."""

    missing: bool
    reasons: tuple[str, ...] = ()


def schema_of(model: type[BaseModel]) -> dict[str, object]:
    """JSON Schema (Draft 2020-12) of a result: no further properties, all required but `prompts`, local `$ref` only."""
    schema: dict[str, object] = model.model_json_schema()
    return schema


def validate(model: type[BaseModel], payload: object) -> BaseModel | Invalid:
    """`payload` (parsed JSON of any source) as `model`; every source is checked here, none is trusted (VF-2, RN-25)."""
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        reasons = (f"{_path(one['type'], one['loc'])}: {one['msg']}" for one in found)
        return Invalid(missing=False, reasons=tuple(reasons)[:REASONS_SHOWN])


def _path(kind: str, loc: Sequence[str | int]) -> str:
    parts = [re.sub(r"[^\w.-]", "?", str(part))[:40] for part in loc]
    if kind == "extra_forbidden":
        parts[-1] = "(unknown key)"
    return ".".join(parts) or "result"


def read_marker(text: str, model: type[BaseModel], nonce: str) -> dict[str, object] | Invalid:
    """The JSON object of the marker line that ends `text` (VF-3 to VF-6), not yet validated against `model`.

    `Invalid.missing` is true when no line claims to be a marker of this turn; else the reasons say what is wrong.
    """
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    marked = [line for line in lines if line.startswith(MARKER_WORDS)]
    if not marked:
        return Invalid(missing=True, reasons=("no marker line ends the answer",))
    if len(marked) > 1:
        return Invalid(missing=False, reasons=("more than one line begins with a marker word",))
    last = lines[-1]
    if last is not marked[0] or _ends_in_fence(lines[:-1]):
        return Invalid(missing=False, reasons=("the marker must be the last line, alone and outside a fence",))
    if len(last.encode("utf-8", "replace")) > MARKER_BYTES:
        return Invalid(missing=False, reasons=(f"the marker line is longer than {MARKER_BYTES} bytes",))
    body = re.fullmatch(rf"{MARKERS[model]}:(?P<nonce>\S+) +(?P<json>\{{.*\}})\s*", last)
    if body is None or not nonce or body["nonce"] != nonce:
        return Invalid(missing=False, reasons=("the marker line does not have the asked form and nonce",))
    return _object(body["json"], model)


def _ends_in_fence(lines: Sequence[str]) -> bool:
    fence = ""
    for line in lines:
        mark = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if mark is None:
            continue
        if not fence:
            fence = mark[1]
        elif mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
    return bool(fence)


def _object(text: str, model: type[BaseModel]) -> dict[str, object] | Invalid:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Invalid(missing=False, reasons=("the marker's JSON cannot be read, or has a key twice",))
    if issubclass(model, Supervision):
        value.setdefault("evidence", [])  # VF-5: missing is empty, then EV-6 to EV-8 decide
    return dict(value)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def _no_constant(name: str) -> object:
    raise ValueError(name)


@dataclass(frozen=True)
class CitationRule:
    """What a verdict of one turn may and must cite: kinds that may be cited, ids and kinds that `approve` needs."""

    kinds: frozenset[str]
    approve_ids: frozenset[str] = frozenset()
    approve_kinds: frozenset[str] = frozenset()


PLAN_KINDS = frozenset({"log", "failure", "blame", "plan", "human"})
REVIEW_KINDS = frozenset(
    {"log", "failure", "blame", "diff", "grid", "cell", "gate", "finding", "mutation", "human"},
)
PLAN_CITATIONS = CitationRule(PLAN_KINDS, approve_kinds=frozenset({"failure", "log", "blame"}))


def review_citations(grid_id: str, gate_id: str) -> CitationRule:
    """The rule of a review of the proof whose grid and gate have these ids (EV-6)."""
    return CitationRule(REVIEW_KINDS, approve_ids=frozenset({grid_id, gate_id}))


@dataclass(frozen=True)
class CitationFault:
    """The broken rule and a reason for the re-ask (EV-9); never holds a refused id."""

    rule: Literal["EV-5", "EV-6", "EV-7", "EV-8"]
    reason: str


def check_citations(
    decision: Decision, evidence: Sequence[str], allowed: Mapping[str, str], required: CitationRule
) -> CitationFault | None:
    """The first broken citation rule, or None. `allowed` maps each id listed in the turn's prompt to its kind."""
    unknown = sum(1 for cited in evidence if allowed.get(cited) not in required.kinds)
    if unknown:
        return CitationFault("EV-5", f"evidence: {unknown} of {len(evidence)} ids may not be cited in this turn")
    if not evidence and decision is not Decision.APPROVE:
        return CitationFault("EV-8", f"evidence: {decision.value} must cite at least one id")
    if decision is not Decision.APPROVE:
        return None
    if not required.approve_ids <= set(evidence):
        return CitationFault("EV-6", "evidence: approve must cite the grid and the gate of this proof")
    if required.approve_kinds and required.approve_kinds.isdisjoint(allowed[cited] for cited in evidence):
        return CitationFault("EV-7", "evidence: approve must cite a failure, log or blame id")
    return None
