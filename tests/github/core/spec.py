"""GitHub's own description as rules: which operation a request means, and what is wrong with a body (github.md C3)."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from tests.github.core.shape import Shaper

FOLDER = Path(__file__).parent.parent / "description"
REST = "urn:rest"
HOOKS = "urn:hooks"
_ITEM_OF_LIST = 12


@dataclass(frozen=True)
class Operation:
    """One operation of the description; `index` is its place, which names its schemas."""

    id: str
    method: str
    path: str
    index: int
    raw: Mapping[str, Any]

    def params(self, place: str) -> list[Mapping[str, Any]]:
        return [param for param in self.raw["params"] if param["in"] == place]

    def describes(self, status: int) -> bool:
        return str(status) in self.raw["responses"]

    def schema(self, status: int) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self.raw["responses"].get(str(status), {}).get("schema")
        return found


@dataclass(frozen=True)
class Match:
    operation: Operation
    params: dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """One disagreement with a schema: where (dotted, empty for the whole), and the validator's sentence."""

    field: str
    message: str
    missing: bool = False


class Spec:
    """Both descriptions, loaded once for a process."""

    def __init__(self) -> None:
        self.rest = _load("rest.json.gz")
        self.hooks = _load("hooks.json.gz")
        self._registry = jsonschema_rs.Registry([(REST, self.rest), (HOOKS, self.hooks)])
        self._shapers = {REST: Shaper(self.rest["$defs"]), HOOKS: Shaper(self.hooks["$defs"])}
        self._validator = lru_cache(maxsize=None)(self._compile)
        self.operations: dict[str, Operation] = {}
        self._routes: dict[tuple[str, int | None], list[tuple[tuple[str, ...], Operation]]] = {}
        for index, raw in enumerate(self.rest["operations"]):
            operation = Operation(raw["id"], raw["method"], raw["path"], index, raw)
            self.operations[operation.id] = operation
            self._add_route(operation)
        for routes in self._routes.values():
            routes.sort(key=lambda route: (-_literals(route[0]), [part.startswith("{") for part in route[0]]))

    def match(self, method: str, path: str) -> Match | None:
        """The operation that `path` (percent-encoded) means; literal paths win over templates (D-7)."""
        parts = tuple(path.strip("/").split("/"))
        routes = [*self._routes.get((method, len(parts)), []), *self._routes.get((method, None), [])]
        for template, operation in routes:
            found = _walk(template, parts, _multi(operation))
            params = None if found is None else _typed(operation, found)
            if params is not None:
                return Match(operation, params)
        return None

    def methods(self, path: str) -> list[str]:
        return [method for method in ("GET", "POST", "PATCH", "PUT", "DELETE") if self.match(method, path)]

    def body_faults(self, operation: Operation, body: object) -> list[Fault]:
        return self._faults(f"{REST}#/operations/{operation.index}/body", body)

    def param_faults(self, operation: Operation, name: str, value: object) -> list[Fault]:
        place = [param["name"] for param in operation.raw["params"]].index(name)
        return self._faults(f"{REST}#/operations/{operation.index}/params/{place}/schema", value)

    def answer_faults(self, operation: Operation, status: int, body: object) -> list[Fault]:
        """Faults of an answer; an undescribed error status is measured by `basic-error` or `validation-error` (D-4)."""
        if operation.describes(status):
            if operation.schema(status) is None:
                return [] if body is None else [Fault("", "the description has no body here")]
            return self._faults(f"{REST}#/operations/{operation.index}/responses/{status}/schema", body)
        if status == 304:
            return []
        if status < 400 and status != 301:
            return [Fault("", f"the description has no {status}")]
        return self._faults(f"{REST}#/$defs/{'validation-error' if status == 422 else 'basic-error'}", body)

    def event_faults(self, key: str, payload: object) -> list[Fault]:
        return self._faults(f"{HOOKS}#/events/{key}", payload)

    def schema_faults(self, name: str, value: object) -> list[Fault]:
        return self._faults(f"{REST}#/$defs/{name}", value)

    def shape_answer(self, operation: Operation, status: int, body: object) -> object:
        """The body cut to what the description names, with the smallest valid value where state says nothing (D-11)."""
        schema = operation.schema(status)
        return body if schema is None else self._shapers[REST].shape(schema, body)

    def shape_event(self, key: str, payload: object) -> object:
        return self._shapers[HOOKS].shape(self.hooks["events"][key], payload)

    def unknown_fields(self, operation: Operation, body: object) -> list[str]:
        schema = operation.raw["body"]
        return [] if schema is None else self._shapers[REST].unknown(schema, body)

    def wants_plain_errors(self, operation: Operation) -> bool:
        """Whether this operation's 422 has sentences in `errors` rather than objects (D-5)."""
        return "validation-error-simple" in json.dumps(operation.schema(422) or {})

    def compile_all(self) -> int:
        """Compile every schema of both files; the number of them. Raises what the compiler raises (D-1)."""
        count = 0
        for operation in self.operations.values():
            for place, _ in enumerate(operation.raw["params"]):
                self._validator(f"{REST}#/operations/{operation.index}/params/{place}/schema")
                count += 1
            for status in operation.raw["responses"]:
                if operation.schema(int(status)) is not None:
                    self._validator(f"{REST}#/operations/{operation.index}/responses/{status}/schema")
                    count += 1
        for key in self.hooks["events"]:
            self._validator(f"{HOOKS}#/events/{key}")
            count += 1
        return count

    def _compile(self, ref: str) -> jsonschema_rs.Draft202012Validator:
        return jsonschema_rs.Draft202012Validator({"$ref": ref}, registry=self._registry, validate_formats=True)

    def _faults(self, ref: str, value: object) -> list[Fault]:
        validator = self._validator(ref)
        if validator.is_valid(value):
            return []
        return [_fault(error) for error in validator.iter_errors(value)][:_ITEM_OF_LIST]

    def _add_route(self, operation: Operation) -> None:
        parts = tuple(operation.path.strip("/").split("/"))
        # The deprecated `{base}...{head}`; `{basehead}` stands for it.
        if any(part.count("{") > 1 for part in parts):
            return
        length = None if _multi(operation) else len(parts)
        self._routes.setdefault((operation.method, length), []).append((parts, operation))


@cache
def load() -> Spec:
    """The one Spec of this process."""
    return Spec()


def _load(name: str) -> dict[str, Any]:
    with gzip.open(FOLDER / name) as stream:
        loaded: dict[str, Any] = json.loads(stream.read())
    return loaded


def _multi(operation: Operation) -> frozenset[str]:
    return frozenset(param["name"] for param in operation.params("path") if param["multi"])


def _literals(template: tuple[str, ...]) -> int:
    return sum(not part.startswith("{") for part in template)


def _walk(template: tuple[str, ...], parts: tuple[str, ...], multi: frozenset[str]) -> dict[str, str] | None:
    """Path parameters by name, or None; one parameter of `multi` takes as many parts as are left over."""
    spare = len(parts) - len(template)
    if spare < 0:
        return None
    found: dict[str, str] = {}
    at = 0
    for piece in template:
        if not piece.startswith("{"):
            if parts[at] != piece:
                return None
            at += 1
            continue
        name = piece[1:-1]
        width = 1 + (spare if name in multi else 0)
        found[name] = unquote("/".join(parts[at : at + width]))
        at += width
    return found if at == len(parts) and all(found.values()) else None


def _typed(operation: Operation, found: dict[str, str]) -> dict[str, Any] | None:
    """Numbers as numbers; None if a number is none, which GitHub answers with 404."""
    typed: dict[str, Any] = dict(found)
    for param in operation.params("path"):
        if param["schema"].get("type") == "integer":
            if not found[param["name"]].isdecimal():
                return None
            typed[param["name"]] = int(found[param["name"]])
    return typed


def _fault(error: jsonschema_rs.ValidationError) -> Fault:
    where = [str(part) for part in error.instance_path]
    missing = error.message.endswith("is a required property")
    if missing:
        where.append(error.message.split('"')[1])
    return Fault(".".join(where), error.message[:300], missing)
