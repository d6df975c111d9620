"""Lay state over a schema: keep what it names, add the smallest valid value for what it requires (github.md D-11)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KEEP = object()
_ANY: Mapping[str, Any] = {}
_SMALLEST: Mapping[str, Any] = {"integer": 0, "number": 0, "boolean": False, "string": "", "array": [], "null": None}
_FORMATS: Mapping[str, str] = {
    "date-time": "1970-01-01T00:00:00Z",
    "date": "1970-01-01",
    "uri": "https://local.invalid/",
    "uuid": "00000000-0000-0000-0000-000000000000",
}


@dataclass(frozen=True)
class Flat:
    """A schema with its `$ref` and `allOf` folded in."""

    types: frozenset[str]
    properties: Mapping[str, Any]
    required: frozenset[str]
    branches: tuple[Any, ...]
    items: Any
    enum: tuple[Any, ...] | None
    format: str | None
    open: bool


class Shaper:
    """Shapes values after the schemas of one description."""

    def __init__(self, defs: Mapping[str, Any]) -> None:
        self._defs = defs
        self._flat: dict[int, Flat] = {}

    def shape(self, schema: Mapping[str, Any], value: object = _KEEP) -> Any:
        """`value` cut and filled after `schema`; without a value the smallest valid one."""
        flat = self._flatten(schema)
        if value is _KEEP:
            return self._smallest(flat)
        if flat.branches:
            branch = self._branch(flat, value)
            if branch is not None:
                return self.shape(branch, value)
        if isinstance(value, Mapping) and flat.properties:
            return self._object(flat, value)
        if isinstance(value, list) and flat.items is not None:
            allowed = self._flatten(flat.items).enum
            return [self.shape(flat.items, item) for item in value if allowed is None or item in allowed]
        return value

    def unknown(self, schema: Mapping[str, Any], value: object, path: str = "") -> list[str]:
        """Dotted names in `value` that `schema` does not describe."""
        flat = self._flatten(schema)
        if isinstance(value, list):
            return [name for item in value for name in self.unknown(flat.items or _ANY, item, path)]
        known = self._known(flat)
        if not isinstance(value, Mapping) or not known:
            return []
        found: list[str] = []
        for key, item in value.items():
            name = f"{path}.{key}" if path else key
            found += self.unknown(known[key], item, name) if key in known else ([] if flat.open else [name])
        return found

    def _known(self, flat: Flat) -> dict[str, Any]:
        known = dict(flat.properties)
        for branch in flat.branches:
            known |= self._known(self._flatten(branch))
        return known

    def _object(self, flat: Flat, value: Mapping[str, Any]) -> dict[str, Any]:
        shaped = {key: self.shape(flat.properties[key], item) for key, item in value.items() if key in flat.properties}
        if flat.open:
            shaped |= {key: item for key, item in value.items() if key not in flat.properties}
        for key in flat.required - shaped.keys():
            shaped[key] = self.shape(flat.properties.get(key, _ANY))
        return shaped

    def _branch(self, flat: Flat, value: object) -> Any:
        """The first branch of the value's type whose enums agree with it."""
        kind = _type_of(value)
        fitting = [branch for branch in flat.branches if kind in (self._flatten(branch).types or {kind})]
        return next((branch for branch in fitting if self._agrees(branch, value)), fitting[0] if fitting else None)

    def _agrees(self, branch: Mapping[str, Any], value: object) -> bool:
        if not isinstance(value, Mapping):
            return True
        flat = self._flatten(branch)
        if flat.branches:
            return any(self._agrees(inner, value) for inner in flat.branches)
        for key, item in value.items():
            if key in flat.properties:
                enum = self._flatten(flat.properties[key]).enum
                if enum is not None and item not in enum:
                    return False
        return True

    def _smallest(self, flat: Flat) -> Any:
        if flat.branches:
            shaped = [self.shape(branch) for branch in flat.branches]
            return None if None in shaped else shaped[0]
        if "null" in flat.types:
            return None
        if flat.enum:
            return flat.enum[0] if flat.types and "null" not in flat.types else None
        if flat.properties or "object" in flat.types:
            return self._object(flat, {})
        kind = next(iter(sorted(flat.types)), "object")
        if kind == "string":
            return _FORMATS.get(flat.format or "", "")
        smallest = _SMALLEST.get(kind, {})
        return list(smallest) if isinstance(smallest, list) else smallest

    def _flatten(self, schema: Mapping[str, Any]) -> Flat:
        known = self._flat.get(id(schema))
        if known is None:
            known = self._flat[id(schema)] = self._fold(schema)
        return known

    def _fold(self, schema: Mapping[str, Any]) -> Flat:
        parts = [schema]
        if "$ref" in schema:
            parts.append(self._defs[schema["$ref"].rsplit("/", 1)[-1]])
        inner = [self._flatten(part) for part in (*parts[1:], *schema.get("allOf", ()))]
        stated = [_types(schema.get("type")), *(flat.types for flat in inner)]
        types = [found for found in stated if found]
        properties: dict[str, Any] = {}
        for source in (*(flat.properties for flat in inner), schema.get("properties", {})):
            for key, item in source.items():
                properties[key] = {"allOf": [properties[key], item]} if key in properties else item
        return Flat(
            types=frozenset.intersection(*types) if types else frozenset(),
            properties=properties,
            required=frozenset(schema.get("required", ())).union(*(flat.required for flat in inner)),
            branches=(*schema.get("oneOf", ()), *schema.get("anyOf", ()), *(b for f in inner for b in f.branches)),
            items=schema.get("items", next((flat.items for flat in inner if flat.items is not None), None)),
            enum=tuple(schema["enum"]) if "enum" in schema else next((f.enum for f in inner if f.enum), None),
            format=schema.get("format", next((flat.format for flat in inner if flat.format), None)),
            open=bool(schema.get("additionalProperties")) or any(flat.open for flat in inner),
        )


def _types(kind: str | list[str] | None) -> frozenset[str]:
    kinds = frozenset([kind] if isinstance(kind, str) else kind or ())
    return kinds | {"integer"} if "number" in kinds else kinds


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
