"""The thread with an agent that works elsewhere: from a red check to a published fix, through an MCP server."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from app.ledger import events, sessions, turns
from app.ledger.rows import Row
from app.ledger.words import SessionState
from app.runs.model import Stage
from tests.agents.devin import FINISHED, RESULT, WORKING, Devin, Fault, Session
from tests.agents.install import DEVIN, DEVIN_KEY, install_devin
from tests.demo import shop
from tests.journeys.deadly import DeadlyWorld, Trap
from tests.journeys.outcome import assert_repaired
from tests.journeys.steps import a_red_pull, bodies
from tests.journeys.threads import logs
from tests.journeys.victim import Point
from tests.journeys.world import MAINTAINER, REPO, STRANGER, World

KEY = "dv-canary-7f3a19c4"
WAITING = {"status": "running", "status_detail": "waiting_for_user"}
BRANCH = re.compile(r"Work on branch `([^`]+)` from `([0-9a-f]{40})`")
Edits = Sequence[tuple[str, str, str]]
Make = Callable[..., DeadlyWorld]


@pytest.fixture
def devin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Devin]:
    monkeypatch.setenv(DEVIN_KEY, KEY)
    with Devin(key=KEY) as vendor:
        yield vendor


@pytest.fixture
def world(devin: Devin, a_deadly_world: Make) -> DeadlyWorld:
    """A world whose agent is remote and pushes the right fix; the judge is the QA agent in its sandbox."""
    return with_devin(a_deadly_world(agent=DEVIN), devin)


def with_devin(world: DeadlyWorld, devin: Devin, **gateway: Any) -> DeadlyWorld:
    install_devin(world.folder / "runners", devin.url, gateway=gateway)
    devin.on_work = pushing(world, shop.SECOND_TRY)
    return world


def pushing(world: World, *each: Edits, branch: str = "") -> Callable[[Session, str], None]:
    """The agent pushes to the branch that its prompt names, with its own rights; other edits each time it is told."""
    left = [*each]

    def work(session: Session, text: str) -> None:
        asked = BRANCH.search(session.prompt)
        assert asked is not None
        files = dict(shop.CHANGE)
        for path, old, new in left.pop(0) if len(left) > 1 else left[0]:
            files[path] = files[path].replace(old, new)
        world.github.push(MAINTAINER, REPO, branch or asked[1], files, base=asked[2])

    return work


def work_turn(world: World, number: int) -> Row:
    """The newest turn of the agent."""
    return [turn for turn in world.turns_of(number) if turn.role.value == "AGENT"][-1]


def at_work(world: World, number: int) -> Row:
    """Everything runs until the remote agent has its prompt."""
    for _ in range(100):
        job = world.step_to("turn")
        world.run("turn", job)
        run = world.run_of(number)
        if run is not None and run.stage is Stage.AGENT and work_turn(world, number).follow_json:
            return work_turn(world, number)
    raise AssertionError("no agent was asked")


def test_a_red_check_is_repaired_by_a_remote_agent(world: DeadlyWorld, devin: Devin) -> None:
    """RN-60, G9, G18, G20: one session; its branch is taken as a patch, proved, judged and published as our own."""
    number = a_red_pull(world)
    world.step_until_quiet()

    assert_repaired(world, number)
    (session,) = devin.sessions
    run, turn = world.run_of(number), work_turn(world, number)
    assert run is not None and devin.count("create") == 1 and devin.count("message") == 0
    assert session.tags[0] == "remedy" and session.tags[-2] == run.dedup_tag and session.tags[-1].startswith("remedy-")
    assert session.title == f"Fix 1 failing test(s) [{run.dedup_tag}]" and session.arguments["repos"] == [REPO]
    assert turn.result_json["commit"] and turn.follow_json is None and turn.cost_json["acu"] == "1.5"
    with world.services.read() as conn:
        told = [row.data_json for row in events.of_turn(conn, turn.id) if row.type.value == "state.updated"]
        kept = sessions.get(conn, turn.session_id)
    assert told[0]["session"] == session.id and told[0]["url"].startswith("https://app.devin.example/")
    assert (kept.agent_session_id, kept.dedupe_key) == (session.id, session.tags[-1])
    assert kept.state is SessionState.CLOSED
    theirs = BRANCH.search(session.prompt)
    assert theirs is not None and theirs[1] == f"remedy-agent/{session.tags[-1].removeprefix('remedy-')}"
    assert theirs[1] not in [pull.head_ref for pull in world.github.pulls(REPO)], (
        "what the agent pushed is never proposed, let alone merged"
    )
    _no_key_anywhere(world, session)


def _no_key_anywhere(world: World, session: Session) -> None:
    """A20, G20: the gateway's key is in no prompt, row or file of ours, and none of our secrets went to the vendor."""
    files = [path for path in world.settings.data.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [str(path) for path in files if KEY.encode() in path.read_bytes()] == []
    told = "\n".join(session.told) + str(session.arguments)
    state = world.github.world.state
    ours = [world.settings.webhook_secret.get_secret_value(), *(token for token in state.tokens)]
    assert [secret for secret in ours if secret and secret in told] == [] and KEY not in told


KILLS = {
    "made and not yet written down": Trap(
        "turn", Point("app.runners.mcp.follow:Follower._bound", "before"), Stage.AGENT
    ),
    "about to be made": Trap("turn", Point("app.runners.mcp.remote:Remote.create", "before"), Stage.AGENT),
    "written down, before the next look": Trap("turn", Point("app.turns.following:_later", "before"), Stage.AGENT),
    "its work was fetched": Trap("turn", Point("app.turns.following:bring"), Stage.AGENT),
}


FIRST, *OTHERS = KILLS


@pytest.mark.parametrize("where", [FIRST, *(pytest.param(where, marks=pytest.mark.long) for where in OTHERS)])
def test_a_worker_dies_and_there_is_one_session_g18(where: str, a_deadly_world: Make) -> None:
    """G17, G18, CR-5: whoever comes next searches by tag before anything is made; no restart is counted."""
    with Devin(key=None) as devin:
        world = with_devin(a_deadly_world(agent=DEVIN), devin, key=None)
        world.set_traps([KILLS[where]])
        number = a_red_pull(world)
        world.step_to("prove")

        world.assert_all_met()
        assert len(devin.sessions) == 1 and devin.count("create") == 1
        run, turn = world.run_of(number), work_turn(world, number)
        assert run is not None and run.restarts == 0 and turn.result_json["commit"]


@pytest.mark.long
def test_a_wrong_fix_is_corrected_in_the_same_session(world: DeadlyWorld, devin: Devin) -> None:
    """T7, G23: the proof fails, the message names why, and the branch as it is then is proved anew."""
    still_wrong = [("listing/pages.py", "return total // size + 1", "return total // size + 2")]
    devin.on_work = pushing(world, still_wrong, shop.SECOND_TRY)
    devin.after_message = [WORKING, {**FINISHED, "structured_output": {**RESULT, "summary_markdown": "Round up"}}]
    number = a_red_pull(world)
    world.run("prove", world.step_to("prove"))
    world.step_to("prove")

    (session,) = devin.sessions
    assert len(session.told) == 2 and "The proof of attempt 1" in session.told[1]
    assert "the files as you left them" in session.told[1] and BRANCH.search(session.told[1])
    assert work_turn(world, number).result_json["summary_markdown"] == "Round up"


def test_a_pull_request_of_the_agent_s_own_is_read_and_no_more(world: DeadlyWorld, devin: Devin) -> None:
    """RN-60: without the asked branch the head of its pull request of this repository is taken, as a patch."""
    pushed = pushing(world, shop.SECOND_TRY, branch="devin/own-name")

    def work(session: Session, text: str) -> None:
        pushed(session, text)
        pull = world.github.open_pull(MAINTAINER, REPO, "devin/own-name")
        own = f"{world.settings.github.web_url}/{REPO}/pull/{pull.thread.number}"
        session.script[-1]["pull_requests"] = [{"pr_url": "https://github.example/else/where/pull/1"}, {"pr_url": own}]

    devin.script[-1] = dict(FINISHED)
    devin.on_work = work
    number = a_red_pull(world)
    world.step_to("prove")
    turn = work_turn(world, number)
    assert turn.result_json["commit"] and len(turn.result_json["pulls"]) == 2


def test_no_branch_is_no_change(world: DeadlyWorld, devin: Devin) -> None:
    """T27: what a session says is a claim; the proof states that nothing came."""
    devin.on_work = lambda session, text: None
    number = a_red_pull(world)
    world.step_to("prove")
    turn = work_turn(world, number)
    assert not turn.result_json["commit"] and "left no branch remedy-agent/" in turn.result_json["problem"]


@pytest.mark.long
def test_a_session_that_waits_for_a_person_stops_the_run_with_its_question(world: DeadlyWorld, devin: Devin) -> None:
    """T48, G23; the maintainer's word goes on in the same session."""
    devin.on_work = lambda session, text: session.said.append("Which rounding is right?")
    devin.script = devin.after_message = [WAITING]
    number = a_red_pull(world)
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "BLOCKED" and str(run.block_cause) == "question"
    assert any("Which rounding is right?" in body for body in bodies(world, number))

    devin.on_work = pushing(world, shop.SECOND_TRY)
    devin.after_message = [WORKING, FINISHED]
    world.github.comment(MAINTAINER, f"{REPO}#{number}", "/remedy fix round up")
    world.step_to("prove")
    (session,) = devin.sessions
    assert "round up" in session.told[-1] and work_turn(world, number).result_json["commit"]


def test_a_stopped_run_ends_the_remote_session_g23(world: DeadlyWorld, devin: Devin) -> None:
    devin.script = [WORKING]
    number = a_red_pull(world)
    turn = at_work(world, number)
    assert turn.status.value == "RUNNING" and turn.next_at, "nobody waits: the row is looked at when it is due"
    world.github.comment(MAINTAINER, f"{REPO}#{number}", "/remedy block not now")
    world.step_until_quiet()
    assert devin.sessions[0].ended and devin.count("terminate") == 1
    with world.services.read() as conn:
        after = turns.get(conn, turn.id)
    assert after.status.value == "CANCELLED" and after.follow_json is None


def test_a_dry_run_shows_server_and_tool_and_asks_nobody_g1_g2(devin: Devin, a_deadly_world: Make) -> None:
    """A17: tool, title, tags and the whole prompt with the branch; not one request to the vendor."""
    world = with_devin(a_deadly_world(agent=DEVIN), devin)
    world.github.push(MAINTAINER, REPO, "main", {".github/remedy.yml": "enabled: false\n"})
    number = a_red_pull(world)
    world.github.comment(MAINTAINER, f"{REPO}#{number}", "/remedy dry-run")
    world.step_until_quiet()
    (answer,) = [body for body in bodies(world, number) if "**Dry run.**" in body]
    assert f"{DEVIN}: devin_session_create of devin" in answer and "| Tags | `remedy`, `e2e-fail-" in answer
    assert BRANCH.search(answer) and devin.requests == 0


def test_a_fork_never_gets_a_remote_agent_rn60(devin: Devin, a_deadly_world: Make) -> None:
    """It has rights of its own at GitHub, and the code is a stranger's."""
    world = with_devin(a_deadly_world(agent=DEVIN), devin)
    world.github.fork(STRANGER, REPO)
    fork = f"{STRANGER}/{REPO.partition('/')[2]}"
    world.github.push(STRANGER, fork, "patch-1", shop.CHANGE)
    number = int(world.github.open_pull(STRANGER, REPO, f"{STRANGER}:patch-1").thread.number)
    world.github.report_job(f"{REPO}#{number}", name="unit", conclusion="failure", log=logs.red())
    world.step_until_quiet()
    world.github.comment(MAINTAINER, f"{REPO}#{number}", "/remedy fix")
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "BLOCKED" and devin.requests == 0
    assert "never for a fork" in work_turn(world, number).error


REFUSALS = {
    "the gateway lists no such tool": (Fault("none", "none"), [("ask_question", "create")], "gateway.tool"),
    "the vendor has no credit": (Fault("create", "error", text="out_of_credits"), None, "remote.refused"),
    "the key is refused": (Fault("list", "http", status=401, text="no"), None, "unauthorized"),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_a_refusal_stops_the_run_with_the_reason_and_touches_no_check_a19_a22_a23_g19(
    why: str, world: DeadlyWorld, devin: Devin
) -> None:
    """One visible record: the check of Remedy says it, the team's own check is as it was."""
    fault, names, says = REFUSALS[why]
    devin.faults = [fault]
    devin.names = names or devin.names
    number = a_red_pull(world)
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "BLOCKED" and devin.count("create") == 0
    turn = work_turn(world, number)
    assert says in f"{turn.error_code}: {turn.error}" and (names is None or "ask_question" in turn.error)
    with world.services.read() as conn:
        kept = [row.data_json for row in events.of_turn(conn, turn.id) if row.type.value == "turn.failed"]
    assert says in str(kept)
