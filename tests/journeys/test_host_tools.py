"""An agent asks its host while it works: granted tools, in the sandbox, through the turn's own port (runners.md, 6)."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from app.ledger import outbox
from app.ledger.events import of_turn
from app.ledger.schema import publications
from app.ledger.turns import verdicts_of_run
from app.ledger.words import TurnEventKind, TurnEventSource
from app.runners.permissions import HOST_TOOLS
from app.runs.model import Role
from tests.agents.install import install_qa
from tests.demo import shop
from tests.journeys import quick
from tests.journeys.steps import a_red_pull, bodies
from tests.journeys.world import REPO, World, fix

BY_TOOL: dict[str, Any] = {
    "capabilities": {"structured_output": "tool"},
    "permissions": {"host_tools": list(HOST_TOOLS), "agent_tools": {"edit": "allow", "execute": "allow"}},
}


def asks(tool: str, **args: Any) -> dict[str, Any]:
    return {"do": "tool", "tool": tool, "args": args}


def with_tools(world: World, *moves: Any, **spec: Any) -> int:
    install_qa(world.folder / "runners", {"agent": [list(moves)]}, **{**BY_TOOL, **spec})
    return a_red_pull(world)


def said(world: World, number: int) -> str:
    return str(next(turn.text for turn in world.turns_of(number) if turn.role is Role.AGENT))


def author_of_the_push(world: World) -> str:
    """The agent commits as somebody else; what is pushed is the host's own commit of the proven tree (RN-31, S27)."""
    with world.services.read() as conn:
        (pushed,) = conn.execute(select(publications.c.pushed_sha)).scalars()
    (store,) = (world.settings.data / "repos").glob("*.git")
    command = ("git", "-C", str(store), "log", "-1", "--format=%an", pushed)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_an_agent_uses_its_tools_and_hands_in_by_one(a_world: Callable[..., World]) -> None:
    """RN-36, RN-38, D12, D14, D17, D19: offered, done, written down by the host; all roles hand in by the tool."""
    world = a_world()
    state = [
        asks("state_set", scope="repository", key="flaky", value={"n": 3}),
        asks("state_get", scope="repository", key="flaky"),
    ]
    number = with_tools(
        world,
        "tools",
        asks("run_log", text="looking at pages.py"),
        *state,
        asks("state_list", scope="session"),
        asks("failure_detail", test_id="tests/nothing.py::test"),
        asks("issue_comment", body="Seen: @mo, the division. fixes #1"),
        asks("issue_comment", body="Once more."),
        fix(shop.SECOND_TRY),
    )

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run and run.error, world.outcome_of(number))
    text = said(world, number)
    assert f"offered: {' '.join(HOST_TOOLS)}" in text
    assert "run_log: logged" in text and 'state_get: {"n": 3}' in text and "state_list: []" in text
    assert "failure_detail: refused: this run has no failing test" in text
    assert "issue_comment: refused: one note was left already" in text
    with world.services.read() as conn:
        agent = next(turn for turn in world.turns_of(number) if turn.role is Role.AGENT)
        rows = [row for row in of_turn(conn, agent.id) if row.source is TurnEventSource.HOST]
        verdicts = {verdict.source.value for verdict in verdicts_of_run(conn, agent.run_id)}
        told = [row.type.value for row in of_turn(conn, agent.id)]
    assert "message.completed" in told and told[-1] == "turn.completed"
    assert agent.status.value == "DONE" and agent.runner_digest and agent.deadline_at and agent.cost_json
    assert agent.grant_json["host_tools"] == sorted(HOST_TOOLS)
    calls: dict[str, list[str]] = {}
    for row in rows:
        if "call" in row.data_json:
            calls.setdefault(row.data_json["call"], []).append(row.type.value)
    assert len(calls) == 8 and set(map(tuple, calls.values())) == {("tool.call.started", "tool.call.completed")}
    assert [row.data_json["text"] for row in rows if row.type is TurnEventKind.TURN_LOG] == ["looking at pages.py"]
    assert not any("looking at" in body for body in bodies(world, number)) and verdicts == {"tool"}
    assert author_of_the_push(world) == "remedy[bot]"
    issue = world.github.issues(REPO)[0]
    notes = [c.body for c in world.github.comments(f"{REPO}#{issue.number}") if "A note of the agent" in c.body]
    assert len(notes) == 1 and "```text\nSeen: @mo" in notes[0]


@pytest.mark.long
def test_a_question_stops_the_run_for_a_person(a_world: Callable[..., World]) -> None:
    """T48: `request_human`."""
    world = a_world()
    number = with_tools(
        world, asks("request_human", question="Which page size is meant?"), {"do": "prose", "text": "I asked."}
    )

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "question")
    assert "Which page size is meant?" in bodies(world, number)[0]


@pytest.mark.long
def test_a_tool_that_policy_takes_away_is_neither_offered_nor_done(a_world: Callable[..., World]) -> None:
    """D16, S49: the base branch's policy narrows; a call outside the grant is denied, and nothing is sent."""
    world = a_world()
    policy = f"{quick.POLICY}runner:\n  agent: {{allow: {{host_tools: [submit_result, run_log]}}}}\n"
    world.github.push("mo", REPO, "main", {".github/remedy.yml": policy})
    number = with_tools(world, "tools", asks("issue_comment", body="x"), fix(shop.SECOND_TRY))

    world.step_until_quiet()

    assert "offered: submit_result run_log\n" in said(world, number)
    assert "issue_comment: refused: issue_comment is not granted" in said(world, number)
    agent = next(turn for turn in world.turns_of(number) if turn.role is Role.AGENT)
    with world.services.read() as conn:
        denied = [row for row in of_turn(conn, agent.id) if row.type is TurnEventKind.TOOL_DENIED]
        assert [row.data_json["title"] for row in denied] == ["issue_comment"]
        assert outbox.find(conn, f"note:{agent.id}") is None
