"""The JSON schema of the policy file says what the model says, and docs/ has it as it is (W94, decisions 51)."""

import json
import os
from pathlib import Path

import jsonschema_rs
import pytest

from app.policy import Policy, read_policy
from app.policy.schema import policy_schema
from app.policy.tree import read_tree
from tests.unit.policy.test_policy import COMMANDERS, EVERYTHING, MISTAKES

FILE = Path(__file__).parents[3] / "docs" / "remedy.schema.json"
RULES_OF_THE_MODEL = {"a runner by its path (RN-74)", "no report (PX-30)", "no command", "no id", "one name twice"}
"""What one key asks of another stands in the model alone."""
OF_THE_SYNTAX = {"a key twice"}


def test_docs_hold_the_schema_of_the_model() -> None:
    """`GOLDEN=write pytest` writes it anew."""
    text = json.dumps(policy_schema(), indent=2, sort_keys=True) + "\n"
    if os.environ.get("GOLDEN") == "write":
        FILE.write_text(text)
    assert FILE.read_text() == text


def test_every_key_says_what_it_is_for() -> None:
    properties = policy_schema()["properties"]
    assert set(properties) == set(Policy.model_fields)
    assert [name for name, value in properties.items() if not value.get("description")] == []


@pytest.mark.parametrize(
    "text",
    [EVERYTHING, "enabled: true", "issues:", "tags: [a, b]", *dict.fromkeys(case[0] for case in COMMANDERS if case[0])],
)
def test_what_the_model_takes_the_schema_takes(text: str) -> None:
    assert isinstance(read_policy(text.encode()), Policy)
    jsonschema_rs.validator_for(policy_schema()).validate(_data(text))


def _readable(text: str) -> bool:
    try:
        read_tree(text)
    except Exception:
        return False
    return True


WRONG = [case for case in MISTAKES if case[0] not in RULES_OF_THE_MODEL | OF_THE_SYNTAX and _readable(case[1])]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[0])
def test_what_the_model_refuses_the_schema_refuses(case: tuple[str, ...]) -> None:
    assert not jsonschema_rs.validator_for(policy_schema()).is_valid(_data(case[1]))


def _data(text: str) -> object:
    data = read_tree(text).data
    return {} if data is None else data
