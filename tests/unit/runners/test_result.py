"""The ladder of sources (runners.md, 4.1)."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from app.runners.result import read_result
from app.runners.runner import Answer, Source
from app.runs.verdicts import AgentResult, Supervision

NONCE = "K7Q2MZ4TRA5XWD3B"
APPROVE = {"decision": "approve", "feedback": "Good.", "evidence": ["E-c4406be913"]}
ALSO = {**APPROVE, "feedback": "In other words."}
BLOCK = {**APPROVE, "decision": "block"}
BAD = {"decision": "maybe"}


def marked(payload: object) -> str:
    return f"text\nREMEDY_VERDICT:{NONCE} {json.dumps(payload)}"


@dataclass(frozen=True)
class Case:
    name: str
    structured: Any = None
    submitted: Any = None
    text: str = "I approve."
    source: Source | None = None
    valid: bool = False
    missing: bool = False
    conflict: bool = False


CASES = [
    Case("VF-1 structured first", APPROVE, None, "", Source.STRUCTURED, valid=True),
    Case("VF-1 then the host tool", None, APPROVE, "", Source.TOOL, valid=True),
    Case("VF-1 then the marker", None, None, marked(APPROVE), Source.MARKER, valid=True),
    Case("VF-7 sources that agree", APPROVE, ALSO, marked(APPROVE), Source.STRUCTURED, valid=True),
    Case("VF-7 structured against marker", APPROVE, None, marked(BLOCK), conflict=True),
    Case("VF-7 tool against marker", None, APPROVE, marked(BLOCK), conflict=True),
    Case("RN-24 the first rung that gave something counts", BAD, APPROVE, "", Source.STRUCTURED),
    Case("RN-24 an invalid lower rung does no harm", APPROVE, None, marked(BAD), Source.STRUCTURED, valid=True),
    Case("RN-25 unvalidated structured output", {**APPROVE, "extra": 1}, None, "", Source.STRUCTURED),
    Case("RN-25 not even an object", ["approve"], None, "", Source.STRUCTURED),
    Case("RN-16 nothing at all", text="", missing=True),
    Case("RN-27 prose", text="I approve. LGTM.", missing=True),
    Case("RN-26 a marker with another nonce", None, None, marked(APPROVE).replace(NONCE, "A" * 16), Source.MARKER),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_ladder(case: Case) -> None:
    handed = read_result(Supervision, Answer("done", case.text, case.structured), case.submitted, NONCE)
    assert handed.source == case.source
    assert (handed.value is not None, handed.missing, handed.conflict) == (case.valid, case.missing, case.conflict)
    assert case.valid or handed.reasons


def test_results_without_a_decision_must_be_equal() -> None:
    """RN-24."""
    one = {"summary_markdown": "a", "tests": []}
    text = f"REMEDY_RESULT:{NONCE} {json.dumps({**one, 'summary_markdown': 'b'})}"
    assert read_result(AgentResult, Answer("done", text, one), None, NONCE).conflict
    same = f"REMEDY_RESULT:{NONCE} {json.dumps(one)}"
    assert read_result(AgentResult, Answer("done", same, one), None, NONCE).value is not None


def test_a_marker_that_was_cut_away_still_makes_two() -> None:
    """VF-6: the cap on text must not turn two markers into one."""
    handed = read_result(Supervision, Answer("done", marked(APPROVE), hidden_marker=True), None, NONCE)
    assert handed.value is None and not handed.missing


def test_a_huge_structured_result_is_refused_before_it_is_validated_VF_2() -> None:
    payload = {"summary_markdown": "a", "tests": [{"name": "x" * 1000, "outcome": "passed"}] * 1000}
    handed = read_result(AgentResult, Answer("done", "", payload), None, NONCE)
    assert handed.value is None and "larger" in handed.reasons[0]
