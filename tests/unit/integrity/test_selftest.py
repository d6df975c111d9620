"""The gate proves itself before it judges others (PF-15, PV-7)."""

from collections.abc import Iterator

import pytest

from app.doctor.runners import proof
from app.integrity import selftest
from app.integrity.combine import Judgement
from app.settings import Settings


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    selftest.problem_of_gate.cache_clear()
    yield
    selftest.problem_of_gate.cache_clear()


def test_this_gate_is_in_order() -> None:
    assert selftest.problem_of_gate() == ""
    assert proof(Settings()).level == "passed"


@pytest.mark.parametrize("verdict", ["allow", "block", "needs_human"])
def test_a_gate_that_says_one_thing_to_everything_is_not(monkeypatch: pytest.MonkeyPatch, verdict: str) -> None:
    monkeypatch.setattr(selftest, "judge", lambda delta, grid: Judgement(verdict, None, (), {}))  # type: ignore[arg-type]
    assert "the gate's self-test failed" in selftest.problem_of_gate()
    assert proof(Settings()).level == "failed"
