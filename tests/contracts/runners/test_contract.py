"""One contract for all kinds of runners: each behaviour ends in the stated code, in time, and leaves no process."""

from pathlib import Path

import pytest

from app.runners.codes import MESSAGE_CHARS
from app.runners.runner import TEXT_BYTES, EventType
from app.runs.verdicts import AgentResult
from tests.contracts.runners.harness import KINDS, MOVES

LIMIT_S = 20.0
SHORT_S = 1.5
CLEAN_UP_S = 12.0
"""Abort, end of stdin and kill after a deadline (RN-22)."""

CODES = {
    "good": "",
    "leaves a daemon": "",
    "floods stderr": "",
    "huge answer": "",
    "wrong schema": "result.validation",
    "nothing": "result.validation",
    "crash": "runner.crashed",
    "hang": "runner.timeout",
    "ignores cancel": "runner.timeout",
    "floods stdout": "runner.timeout",
    "junk": "runner.protocol",
    "endless line": "runner.protocol",
    "unauthorized": "runner.auth_required",
    "rate limited": "provider.rate_limited",
    "provider down": "provider.failed",
    "refuses": "provider.failed",
}
UNTIL_THE_DEADLINE = {"hang", "ignores cancel", "floods stdout"}
CASES = [(kind, behaviour) for kind, moves in MOVES.items() for behaviour in moves]


@pytest.mark.parametrize("kind, behaviour", CASES, ids=[f"{kind}: {behaviour}" for kind, behaviour in CASES])
def test_a_turn_ends_in_its_code_in_time_and_leaves_nothing(tmp_path: Path, kind: str, behaviour: str) -> None:
    """K2, K4, K5, K7, K8, K13, K19; RN-8, RN-10, RN-22, RN-44, RN-45: nothing is raised, nothing is left."""
    limit_s = SHORT_S if behaviour in UNTIL_THE_DEADLINE else LIMIT_S
    with KINDS[kind](tmp_path) as harness:
        seen = harness.turn(behaviour, limit_s)
    assert seen.code == CODES[behaviour], seen.result.error
    assert (seen.result.value is not None) == (not CODES[behaviour])
    assert seen.result.value is None or isinstance(seen.result.value, AgentResult)
    assert seen.took_s < limit_s + CLEAN_UP_S and seen.left == []
    assert len(seen.result.text.encode()) <= TEXT_BYTES
    if seen.result.error is not None:
        assert 0 < len(seen.result.error.message) <= MESSAGE_CHARS
    if behaviour in ("wrong schema", "nothing"):
        assert seen.result.asks == 2, "one re-ask, and no more (B13)"
    last = seen.events[-1]
    ended = EventType.FAILED if CODES[behaviour] else EventType.COMPLETED
    assert last.type is ended and last.data.get("code", "") == CODES[behaviour]


def test_every_kind_shows_the_behaviours_that_matter() -> None:
    """A kind that left them out would pass by showing nothing."""
    for moves in MOVES.values():
        assert {"good", "wrong schema", "nothing", "hang", "unauthorized"} <= set(moves)
    assert set(CODES) == {behaviour for moves in MOVES.values() for behaviour in moves}
