"""Say what is wrong with a policy file: line, column, key, and what would be right (A16)."""

import difflib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from app.policy.model import Policy
from app.policy.tree import Tree


@dataclass(frozen=True)
class PolicyError:
    """The first mistake of a file. `line` and `column` count from 1, `excerpt` is the line as it stands.

    `wants_remedy` is true when the file nevertheless says exactly `enabled: true`: only then may anybody be told (A1).
    """

    line: int
    column: int
    field: str
    text: str
    excerpt: str = ""
    wants_remedy: bool = False
    path: str = ""


_SENTENCES: Mapping[str, str] = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "string_type": "must be text: put it in quotes",
    "tuple_type": "must be a list",
    "dict_type": "must have keys of its own",
    "mapping_type": "must have keys of its own",
    "model_type": "must have keys of its own",
    "missing": "is missing",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_long": "has more than {max_length} entries",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "string_too_long": "has more than {max_length} characters",
    "string_pattern_mismatch": "holds a sign that does not belong there",
}


@dataclass(frozen=True)
class Found:
    """One mistake in the data: its path, its place and a sentence."""

    place: tuple[int, int]
    field: str
    text: str


def first_mistake(errors: Sequence[ErrorDetails], tree: Tree) -> Found:
    """The mistake that stands first in the file."""
    return min((_found(error, tree) for error in errors), key=lambda found: found.place)


def _found(error: ErrorDetails, tree: Tree) -> Found:
    path = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] not in ("missing", "extra_forbidden"):
        # One word may stand for a whole part (`commanders: admin`): speak of what is written.
        path = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in tree.values), path)
    field = ".".join(str(part) for part in path) or "the file"
    context: dict[str, Any] = error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        return Found(tree.place(path, of_key=True), field, _unknown(path))
    if error["type"] == "literal_error":
        choices = str(context.get("expected", "")).replace("'", "").replace(" or ", ", ")
        return Found(tree.place(path), field, f"{_named(path)} must be one of: {choices}")
    if error["type"] == "value_error":
        return Found(tree.place(path), field, f"{_named(path)}: {context.get('error', error['msg'])}")
    sentence = _SENTENCES.get(error["type"], error["msg"]).format_map(context)
    return Found(tree.place(path), field, f"{_named(path)} {sentence}")


def _named(path: tuple[str | int, ...]) -> str:
    """What a sentence calls the place: a key with its parents, or an entry of a list, counted from 1."""
    if not path:
        return "the file"
    keys = ".".join(str(part) for part in path if isinstance(part, str))
    entry = f"entry {path[-1] + 1} of " if isinstance(path[-1], int) else ""
    return f"{entry}`{keys}`"


def _unknown(path: tuple[str | int, ...]) -> str:
    known = _keys_at(path[:-1])
    near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"the keys here are: {', '.join(known)}"
    return f"`{str(path[-1])[:60]}` is no key; {hint}"


def _keys_at(path: tuple[str | int, ...]) -> list[str]:
    """The keys that the model knows below `path`."""
    model: type[BaseModel] | None = Policy
    for part in path:
        if model is None:
            return []
        if isinstance(part, str):
            found = model.model_fields.get(part)
            model = _model_in(found.annotation) if found else None
    return sorted(model.model_fields) if model else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation speaks of: itself, in a union, or as the item of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (tuple, Union, types.UnionType):
        return next((model for part in get_args(annotation) if (model := _model_in(part))), None)
    return None
