"""Single turns of real agents: a bad result, a provider that says no, a tool that hangs, a session in a new process."""

from collections.abc import Callable

import pytest

from app.runners.codes import Code
from app.runners.runner import EventType
from tests.agents.real.seat import Seat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
TRIED = ("claude", "codex")
MakeSeat = Callable[..., Seat]
EDIT = ["edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}]


@pytest.mark.parametrize("agent", TRIED)
def test_a_bad_result_is_asked_for_once_more_and_the_work_is_not_done_again(seat: MakeSeat, agent: str) -> None:
    """B13, K3: two prompts of one session in one process; the second hands in the result alone."""
    bad = {"hand_in": {"raw": {"summary_markdown": "", "tests": "none"}}}
    made = seat(agent, {"agent": [{"ops": [["read", {"path": "calc.py"}]]}, {"ops": [EDIT]}, bad]})
    result = made.turn()
    assert result.error is None, result.error
    assert (result.asks, result.value is not None) == (2, True)
    assert "a + b" in (made.tree / "calc.py").read_text()
    assert made.left() == 0


@pytest.mark.parametrize("agent", TRIED)
@pytest.mark.parametrize(
    "status, code",
    [(401, Code.AUTH_REQUIRED), (429, Code.RATE_LIMITED)],
    ids=["refused", "busy"],
)
def test_a_provider_that_says_no_has_its_code(seat: MakeSeat, agent: str, status: int, code: Code) -> None:
    """K13: a wrong key at once; a quota after the agent's own tries, or as a turn without a sign of life."""
    kind = {401: "invalid_request_error", 429: "insufficient_quota"}[status]
    error = {"error": {"type": kind, "code": kind, "message": "no", "status": "UNAUTHENTICATED"}}
    made = seat(agent, {"agent": [{"http": status, "body": error}]})
    result = made.turn(limit_s=120)
    assert result.error is not None
    expected = {code} if status == 401 else {code, Code.PROVIDER_FAILED, Code.TIMEOUT}
    assert result.error.code in expected, result.error
    assert made.left() == 0


@pytest.mark.parametrize("agent", TRIED)
def test_a_turn_over_its_time_leaves_no_process_of_its_tools(seat: MakeSeat, agent: str) -> None:
    """K7, RN-44: tools run in process groups of their own."""
    made = seat(agent, {"agent": [{"ops": [["bash", {"command": "sleep 597"}]]}] * 20})
    result = made.turn(limit_s=45)
    assert result.error is not None and result.error.code is Code.TIMEOUT
    assert any(event["kind"] == "execute" for event in made.of(EventType.TOOL_STARTED))
    assert made.left() == 0


@pytest.mark.parametrize("agent", TRIED)
def test_a_session_goes_on_in_a_new_process(seat: MakeSeat, agent: str) -> None:
    """K8, RN-66: the model sees what was said in the earlier turn."""
    made = seat(agent, {"agent": [{"text": "The word is xylophone.", "hand_in": {}}]})
    first = made.turn()
    assert first.error is None, first.error
    second = made.turn(ref=first.ref)
    assert (second.error, second.ref) == (None, first.ref)
    assert "xylophone" in str(made.model.seen[-1].body)
