"""Which tool of a gateway is meant, and how its arguments look; pure (G12, G14, A18)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from jsonschema_rs import Draft202012Validator, ReferencingError
from jsonschema_rs import ValidationError as SchemaError

from app.runners.codes import Code, failure

SEPARATORS = ("__", "-", "_", ".", "/", ":")
PROMPT_BYTES = 1024 * 1024
NAMES_SHOWN = 30

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool as a gateway lists it. `owners`: all names that the gateway itself gives to the tool's server."""

    name: str
    schema: Schema = field(default_factory=dict)
    owners: frozenset[str] = frozenset()
    server_id: str = ""


@dataclass(frozen=True)
class Order:
    """A session to be made. `tags` end with the one by which it is found again (G9)."""

    prompt: str
    title: str
    tags: tuple[str, ...]
    repository: str = ""
    schema: Schema | None = None
    max_acu: int | None = None


def pick(tools: Iterable[Tool], wanted: str, server: str, owner_known: bool) -> Tool:
    """The one tool that is meant: its exact name, else the server's name, a separator and it.

    `owner_known`: everything listed is of this server (a URL of its own). Without that a bare name needs an owner that
    the gateway names. Raises `gateway.tool` with the names seen; two that fit are none (A18, A19).
    """
    listed = tuple(tools)
    ours = [tool for tool in listed if not tool.owners or server in tool.owners]
    exact = [tool for tool in ours if tool.name == wanted and (owner_known or tool.owners)]
    names = {f"{server}{separator}{wanted}" for separator in SEPARATORS}
    found = exact or [tool for tool in ours if tool.name in names]
    if len(found) == 1:
        return found[0]
    why = "more than one tool fits" if found else "no tool of this server fits"
    raise failure(Code.GATEWAY_TOOL, f"{wanted} of {server}: {why}; seen: {_names(listed)}")


def _names(tools: Iterable[Tool]) -> str:
    shown = [_line("/".join([*sorted(tool.owners)[:1], tool.name])) for tool in tools]
    more = f" and {len(shown) - NAMES_SHOWN} more" if len(shown) > NAMES_SHOWN else ""
    return ", ".join(shown[:NAMES_SHOWN]) + more if shown else "none"


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:80]


def create_arguments(tool: Tool, order: Order) -> dict[str, Any]:
    """The arguments of the create tool, flat or as `sessions: [{...}]`, as its schema wants them.

    Raises `gateway.arguments` before any call where the tags cannot be passed: servers drop unknown arguments in
    silence, and a session without its tag cannot be found again (G14).
    """
    if len(order.prompt.encode()) > PROMPT_BYTES:
        _refuse(tool, f"the prompt is longer than {PROMPT_BYTES} bytes")
    whole = _properties(tool.schema, tool.schema)
    flat = "prompt" in whole
    items = _part(tool.schema, whole.get("sessions")).get("items")
    inner = whole if flat else _properties(tool.schema, items)
    if "prompt" not in inner:
        _refuse(tool, "its schema has no prompt")
    placed: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    for name, value in _values(order).items():
        if _takes(tool.schema, inner, name, value):
            placed[name] = value
        elif _takes(tool.schema, whole, name, value):
            beside[name] = value
    if "tags" not in placed | beside:
        _refuse(tool, "its schema takes no list of tags, and a session without its tag cannot be found again")
    return _valid(tool, placed if flat else {**beside, "sessions": [placed]})


def _values(order: Order) -> dict[str, Any]:
    values = {
        "prompt": order.prompt,
        "title": order.title,
        "tags": list(order.tags),
        "repos": [order.repository] if order.repository else None,
        "structured_output_schema": None if order.schema is None else dict(order.schema),
        "max_acu_limit": order.max_acu,
    }
    return {name: value for name, value in values.items() if value is not None}


def search_arguments(tool: Tool, tag: str) -> dict[str, Any]:
    """The arguments of the search tool; raises `gateway.arguments` where it cannot search by tag."""
    whole = _properties(tool.schema, tool.schema)
    if not _takes(tool.schema, whole, "tags", [tag]):
        _refuse(tool, "its schema takes no list of tags")
    return _valid(tool, {"tags": [tag]})


ACTIONS: Mapping[str, tuple[str, ...]] = {
    "get": ("get", "status", "get_status"),
    "message": ("message", "send_message", "send"),
    "terminate": ("terminate", "stop", "cancel"),
    "messages": ("get_messages", "messages", "read_messages"),
}
"""What we do with a session, and the words that servers have for it, first the common one."""


def interact_arguments(tool: Tool, what: str, session_id: str, text: str | None = None) -> dict[str, Any] | None:
    """The arguments of the interact tool for one of `ACTIONS`; None where its schema has no such action."""
    whole = _properties(tool.schema, tool.schema)
    words = _part(tool.schema, whole.get("action", {})).get("enum")
    known = [word for word in ACTIONS[what] if not isinstance(words, list) or word in words]
    if not known:
        return None
    arguments: dict[str, Any] = {"action": known[0]}
    arguments[_first(tool, whole, ("session_id", "devin_id", "id"))] = session_id
    if text is not None:
        if len(text.encode()) > PROMPT_BYTES:
            _refuse(tool, f"the message is longer than {PROMPT_BYTES} bytes")
        arguments[_first(tool, whole, ("message", "text", "content", "prompt"))] = text
    return _valid(tool, arguments)


def _first(tool: Tool, properties: Schema, names: tuple[str, ...]) -> str:
    found = next((name for name in names if name in properties), None)
    if found is None:
        _refuse(tool, f"its schema has none of {', '.join(names)}")
    return found


def _valid(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The server would fail later, or worse: drop what it does not know."""
    try:
        Draft202012Validator(dict(tool.schema), offline=True).validate(arguments)
    except SchemaError as error:
        where = ".".join(str(part) for part in error.instance_path) or "arguments"
        _refuse(tool, f"{where}: {error.message[-200:]}")
    except (ReferencingError, ValueError) as error:
        _refuse(tool, f"its schema cannot be read: {str(error)[:200]}")
    return arguments


def _refuse(tool: Tool, why: str) -> NoReturn:
    raise failure(Code.GATEWAY_ARGUMENTS, f"{_line(tool.name)}: {why}")


def _takes(root: Schema, properties: Schema, name: str, value: object) -> bool:
    """Whether a property is there and is of this kind of value; one without a type takes all."""
    if name not in properties:
        return False
    kind = {dict: "object", list: "array", str: "string", int: "integer"}[type(value)]
    types = _part(root, properties[name]).get("type", kind)
    return kind in types if isinstance(types, list) else types == kind or (types, kind) == ("number", "integer")


def _properties(root: Schema, schema: object) -> Schema:
    found = _part(root, schema).get("properties")
    return found if isinstance(found, dict) else {}


def _part(root: Schema, schema: object) -> Schema:
    """A part of a schema with its local reference followed, and `X or null` as X."""
    for _ in range(10):
        if not isinstance(schema, dict):
            return {}
        choices = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(choices, list):
            schema = next((one for one in choices if one != {"type": "null"}), {})
        elif isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/"):
            schema = _at(root, reference)
        else:
            return schema
    return {}


def _at(root: Schema, reference: str) -> object:
    found: object = root
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
