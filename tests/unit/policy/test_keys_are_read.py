"""No key of `.github/remedy.yml` may be accepted and then read by nothing."""

import re
from pathlib import Path

import pytest

from app.policy.commands import TestCommand
from app.policy.model import Policy

ROOT = Path(__file__).parents[3]
CODE = "\n".join(
    path.read_text()
    for top in ("app", "jobs")
    for path in sorted((ROOT / top).rglob("*.py"))
    if path.name != "model.py"
)
MODEL = (ROOT / "app/policy/model.py").read_text()
NOT_USED = {"report", "id"}
"""Keys of `tests` that are kept for later (docs/decisions.md, 72); `name` is for people."""


@pytest.mark.parametrize("key", Policy.model_fields)
def test_each_key_is_read(key: str) -> None:
    asked = rf'policy\w*(?:\([^()]*\))?(?: or \{{\}})?\)?\.(?:get\("{key}"|{key}\b)'
    assert re.search(asked, CODE) or re.search(rf"self\.{key}\b", MODEL), f"nothing reads `{key}`"


@pytest.mark.parametrize("key", sorted(TestCommand.model_fields.keys() - NOT_USED - {"name"}))
def test_each_key_of_tests_is_read(key: str) -> None:
    assert re.search(rf"one\.{key}\b", (ROOT / "app/proving/commands.py").read_text()), f"nothing reads `tests.{key}`"


@pytest.mark.parametrize("key", sorted(NOT_USED))
def test_a_key_of_tests_that_does_nothing_says_so(key: str) -> None:
    assert "not used yet" in (TestCommand.model_fields[key].description or "")
