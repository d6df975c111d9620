"""The keys of the policy with what each is for and its default, for the file that Remedy proposes."""

from typing import Any

import yaml
from pydantic import BaseModel

from app.policy.model import Policy


def starter_keys() -> list[dict[str, str]]:
    """Every key but `enabled`, in the order of the model: a new key cannot be forgotten."""
    properties: dict[str, Any] = Policy.model_json_schema()["properties"]
    return [
        {
            "name": name,
            "text": field.description or "",
            "choices": ", ".join(properties[name].get("enum", ())),
            "default": _yaml(field.get_default(call_default_factory=True)),
        }
        for name, field in Policy.model_fields.items()
        if name != "enabled"
    ]


def _yaml(value: Any) -> str:
    plain = value.model_dump(mode="json", exclude_none=True) if isinstance(value, BaseModel) else value
    if isinstance(plain, tuple):
        plain = list(plain)
    if plain is None:
        return ""
    text: str = yaml.safe_dump(plain, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("...\n").strip()
