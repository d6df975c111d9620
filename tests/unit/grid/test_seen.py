"""What a named test did in the runs of one tree, and how runs are kept (proof.md, 4 and PT-9)."""

import json

import pytest

from app.workspace.grid.cells import Runs, seen_of
from app.workspace.grid.known import as_json, from_json
from app.workspace.tests.frameworks.model import Row
from app.workspace.tests.match import NO_MOVES
from app.workspace.tests.suite import SuiteRun

GOOD = SuiteRun((Row("t.py::a", "passed"), Row("t.py::b", "passed")))


@pytest.mark.parametrize(
    ("forged", "seen"), [((), (False, False)), (("t.py::b",), (False, True)), (("",), (True, True))]
)
def test_a_forged_row_is_told_of_its_test_alone(forged: tuple[str, ...], seen: tuple[bool, bool]) -> None:
    """PG109: of every test where it cannot be told whose rows are forged; a run that is kept keeps it."""
    run = SuiteRun(GOOD.rows, forged=frozenset(forged))
    kept = from_json(json.loads(json.dumps(as_json(Runs(named=(run,))))))
    for runs in ((GOOD, run), (GOOD, *kept.named)):
        assert tuple(seen_of(f"t.py::{name}", runs, NO_MOVES).forged for name in "ab") == seen
