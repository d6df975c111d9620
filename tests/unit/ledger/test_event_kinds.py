"""The history of a run has a closed list of kinds, and each of them is written by something (domain.md, 16)."""

import re
from pathlib import Path

import pytest

from app.ledger.words import EventKind
from app.runs.model import ProofOutcome

ROOT = Path(__file__).parents[3]
MADE_OF_OUTCOMES = {f"proof.{outcome}" for outcome in ProofOutcome}
"""`runs/rules_proof` names these after the outcome."""


@pytest.fixture(scope="module")
def code() -> str:
    """All code that could write an event."""
    files = [path for folder in ("app", "jobs") for path in (ROOT / folder).rglob("*.py")]
    return "\n".join(path.read_text() for path in files if path.name != "words.py" and "migrations" not in path.parts)


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_is_written_by_something(kind: EventKind, code: str) -> None:
    written = re.search(rf'EventKind\.{kind.name}\b|"{re.escape(kind)}"', code)
    assert written or kind in MADE_OF_OUTCOMES, f"nothing writes {kind}"
