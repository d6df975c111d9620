"""The JSON schema of `.github/remedy.yml`, made from the model: editors complete and check the file with it."""

from functools import cache
from typing import Any

from app.policy.model import Policy

_BLANK = {"type": "null"}


@cache
def policy_schema() -> dict[str, Any]:
    """What the model takes; a blank value stands for a key's default (A16)."""
    made = Policy.model_json_schema()
    for part in (made, *made["$defs"].values()):
        needed = part.get("required", ())
        part["properties"] = {name: _key(value, name in needed) for name, value in part["properties"].items()}
    role = made["$defs"]["Commanders"]["properties"]["role"]
    made["$defs"]["Commanders"] = _or(made["$defs"]["Commanders"], role["anyOf"][0])
    made["properties"]["tags"] = _or(made["properties"]["tags"], {"type": "string"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": "Remedy: .github/remedy.yml",
        "description": "What a repository asks of Remedy. Without the file, or without `enabled: true`: silence.",
    }


def _key(value: dict[str, Any], needed: bool) -> dict[str, Any]:
    named = {name: part for name, part in value.items() if name != "title"}
    return named if needed or _BLANK in named.get("anyOf", ()) else _or(named, _BLANK)


def _or(value: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """`value` with `other` as one more way; what describes the key stays outside."""
    told: dict[str, Any] = {name: value[name] for name in ("title", "description", "default") if name in value}
    rest = {name: part for name, part in value.items() if name not in told}
    ways = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
    return {**told, "anyOf": [*ways, other]}
