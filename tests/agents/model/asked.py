"""A model request in any of the four formats, read into one shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool that the request offers: `custom` ones take plain text, `namespace` must be repeated in a call."""

    name: str
    namespace: str = ""
    custom: bool = False
    properties: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Asked:
    """`messages` are (role, text): user, assistant, or tool for what a tool answered."""

    family: str
    model: str
    messages: tuple[tuple[str, str], ...]
    tools: tuple[Tool, ...]
    stream: bool
    body: Json = field(repr=False)


def chat(body: Json) -> Asked:
    """POST /v1/chat/completions."""
    messages = [(one["role"], text_of(one.get("content"))) for one in body["messages"]]
    tools = [tool_of(one["function"], "parameters") for one in body.get("tools") or ()]
    return Asked("chat", body["model"], tuple(messages), tuple(tools), bool(body.get("stream")), body)


def responses(body: Json) -> Asked:
    """POST /v1/responses."""
    given = body["input"]
    items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
    messages = [_item(one) for one in items]
    tools: list[Tool] = []
    for one in body.get("tools") or ():
        if one.get("type") == "namespace":
            tools += [tool_of(inner, "parameters", one["name"]) for inner in one.get("tools") or ()]
        elif "name" in one:
            tools.append(tool_of(one, "parameters"))
    return Asked("responses", body["model"], tuple(messages), tuple(tools), bool(body.get("stream")), body)


def _item(item: Json) -> tuple[str, str]:
    kind = item.get("type", "message")
    if kind == "message":
        role = "assistant" if item["role"] == "assistant" else "user"
        return role, text_of(item["content"])
    if kind.endswith("_output"):
        return "tool", text_of(item.get("output"))
    return "assistant", ""


def anthropic(body: Json) -> Asked:
    """POST /v1/messages."""
    messages: list[tuple[str, str]] = []
    for one in body["messages"]:
        content = one["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            role = "tool" if part["type"] == "tool_result" else one["role"]
            messages.append((role, part.get("text", "") if role != "tool" else text_of(part.get("content"))))
    tools = [tool_of(one, "input_schema") for one in body.get("tools") or ()]
    return Asked("anthropic", body["model"], tuple(messages), tuple(tools), bool(body.get("stream")), body)


def gemini(body: Json, model: str, stream: bool) -> Asked:
    """POST /v1beta/models/{model}:generateContent and :streamGenerateContent."""
    messages: list[tuple[str, str]] = []
    for one in body["contents"]:
        for part in one.get("parts") or ():
            role = "assistant" if one.get("role") == "model" else "tool" if "functionResponse" in part else "user"
            messages.append((role, str(part.get("text", ""))))
    declared = [one for group in body.get("tools") or () for one in group.get("functionDeclarations") or ()]
    tools = [
        tool_of(one, "parametersJsonSchema" if "parametersJsonSchema" in one else "parameters") for one in declared
    ]
    return Asked("gemini", model, tuple(messages), tuple(tools), stream, body)


def tool_of(one: Json, schema: str, namespace: str = "") -> Tool:
    properties = (one.get(schema) or {}).get("properties") or {}
    return Tool(one["name"], namespace, one.get("type") == "custom", frozenset(properties))


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content or ()
    return "\n".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts)
