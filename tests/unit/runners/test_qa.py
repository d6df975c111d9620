"""The QA agent reads the real prompts: role, attempt, nonce, ids (PN-14)."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.render.prompts.inputs import (
    AgentCorrect,
    AgentResume,
    AgentWork,
    EvidenceLine,
    Failure,
    Final,
    Form,
    PlanReview,
    PlanStep,
    Reask,
    Review,
    RunFacts,
    Rung,
    SelfRepair,
    Task,
    TreeRow,
)
from app.render.prompts.prompt import render_prompt
from app.runners.result import read_result
from app.runners.runner import Answer
from app.runs.model import Decision
from app.runs.verdicts import (
    PLAN_CITATIONS,
    AgentResult,
    PlanSupervision,
    Supervision,
    check_citations,
    review_citations,
)
from app.runs.verdicts import SelfRepair as SelfRepairResult
from tests.agents import qa

AGENTS = Path(qa.__file__).parent
NONCE = "K7Q2MZ4TRA5XWD3B"
FORM = Form(Rung.MARKER, NONCE)
RUN = RunFacts("acme/listing", "4be1d074", "c01dfee1", "e2e-fail-0a19abd5499b", 1, 1, 318, "topic", "main", "unit")
TASK = Task("s1", "Repair the cause.\nAttempt: 7\nREMEDY_RESULT:AAAAAAAAAAAAAAAA {}")
FAILURES = (Failure("tests/test_pages.py::test_last", "failed", "unit", 1, "E assert 3 == 2"),)
EVIDENCE = (
    EvidenceLine("E-1d7e52b80f", "diff", "the step: 1 file"),
    EvidenceLine("E-90aa3d41c6", "blame", "this change"),
    EvidenceLine("E-c4406be913", "grid", "proof of attempt 1"),
    EvidenceLine("E-66c9f70d18", "gate", "integrity gate of attempt 1"),
)
KINDS = {line.evidence_id: line.kind for line in EVIDENCE}
NEEDS = ("E-c4406be913", "E-66c9f70d18")
ROWS = (TreeRow("base", "pass", 1, 1, "pass"),)
STEP = PlanStep("s1", "Pages", "regression", "code", "this change", "one cause", "Repair it.")


def prompt(name: str, inputs: Any) -> str:
    return render_prompt(name, inputs).text


def turn(text: str, scenario: dict[str, Any] | None = None) -> Any:
    return qa.Turn(qa.Session("s", "/workspace", scenario or {}), text, {})


def answered(text: str, model: Any) -> Any:
    """What the default move hands in, read as a real answer."""
    answer = qa.good(turn(text), {})
    handed = read_result(model, Answer("done", answer.text), None, NONCE)
    assert handed.value is not None, handed.reasons
    return handed.value


WORK = AgentWork(RUN, TASK, FORM, FAILURES)
CORRECT = AgentCorrect(replace(RUN, attempt=2), TASK, FORM, "proof", rows=ROWS)
REPLACED = AgentResume(FORM, AgentWork(replace(RUN, attempt=3), TASK, FORM))
PLAN = PlanReview(RUN, (STEP,), EVIDENCE, FORM, FAILURES)
REVIEW = Review(RUN, TASK, EVIDENCE, NEEDS, FORM, "regression", ROWS, 1, "", "E-1d7e52b80f")
REASK = Reask("verdict", FORM, "supervisor", ids=EVIDENCE, approve_needs=NEEDS)
PROMPTS = [
    ("agent_work", prompt("agent_work", WORK), "agent", 1),
    ("agent_correct", prompt("agent_correct", CORRECT), "agent", 2),
    ("agent_resume", prompt("agent_resume", AgentResume(FORM)), "agent", 1),
    ("agent_resume, session lost", prompt("agent_resume", REPLACED), "agent", 3),
    ("plan_review", prompt("plan_review", PLAN), "plan", 1),
    ("review", prompt("review", replace(REVIEW, run=replace(RUN, attempt=2))), "review", 2),
    ("review, restarted", prompt("review", replace(REVIEW, restarted="interrupted")), "review", 1),
    ("self_repair", prompt("self_repair", SelfRepair("no_progress", "AGENT", TASK, FORM)), "self_repair", 1),
    ("final", prompt("final", Final("fixed", "CI is green.")), "final", 1),
    ("reask of a review", prompt("reask", REASK), "review", 1),
    ("reask of an agent", prompt("reask", Reask("schema", FORM, "agent")), "agent", 1),
]


@pytest.mark.parametrize("name, text, role, attempt", PROMPTS, ids=[row[0] for row in PROMPTS])
def test_role_attempt_and_nonce_are_read_from_the_prompt(name: str, text: str, role: str, attempt: int) -> None:
    read = turn(text)
    assert (read.role, read.attempt) == (role, attempt)
    assert role == "final" or read.nonce == NONCE
    assert read.is_reask() is name.startswith("reask")


def test_the_default_answers_of_all_roles_are_valid() -> None:
    texts = {name: text for name, text, _, _ in PROMPTS}
    assert answered(texts["agent_work"], AgentResult).tests[0].name == "tests/test_pages.py::test_last"
    plan = answered(texts["plan_review"], PlanSupervision)
    assert check_citations(plan.decision, plan.evidence, KINDS, PLAN_CITATIONS) is None
    for name in ("review", "review, restarted", "reask of a review"):
        review = answered(texts[name], Supervision)
        assert review.decision is Decision.APPROVE
        assert check_citations(review.decision, review.evidence, KINDS, review_citations(*NEEDS)) is None
    assert answered(texts["self_repair"], SelfRepairResult).decision == "needs_user"


def test_the_list_of_a_role_is_counted_by_attempts() -> None:
    moves = {"agent": ["nothing", ["say", "fix"], {"do": "crash", "code": 9}, {"when": "three words", "do": "hang"}]}

    def chosen(text: str) -> list[str]:
        return [move["do"] for move in turn(text, moves).moves()]

    by_attempt = [chosen(f"You repair one failure\nAttempt: {n}\n") for n in (1, 2, 3, 4, 99)]
    assert by_attempt == [["nothing"], ["say", "fix"], ["crash"], ["crash"], ["crash"]]
    assert chosen("You repair one failure\nAttempt: 1\nthree words") == ["hang"]
    assert chosen("You repair one failure [[qa:fix path=a.py find='a b' replace=c]]") == ["fix"]


def test_it_runs_on_the_systems_python_without_any_package() -> None:
    """PN-14: standard library only, syntax of Python 3.9."""
    for name in ("qa.py", "qa_faults.py", "qa_tools.py"):
        tree = ast.parse((AGENTS / name).read_text(), feature_version=(3, 9))
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert {one.split(".")[0] for one in imported} - sys.stdlib_module_names <= {"qa", "qa_faults", "qa_tools"}


@pytest.mark.parametrize(
    "command", [["-I", "-S", str(AGENTS / "qa.py")], ["-m", "tests.agents.qa"]], ids=["file", "module"]
)
def test_it_starts_as_a_file_and_as_a_module(command: list[str]) -> None:
    hello = b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}\n'
    done = subprocess.run([sys.executable, *command], input=hello, capture_output=True, check=True, timeout=30)
    assert b'"agentInfo"' in done.stdout and done.stderr == b""
