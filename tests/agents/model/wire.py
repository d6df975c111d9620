"""A reply as each of the four formats has it: one JSON body, or the events of a stream."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from tests.agents.model.ops import as_json
from tests.agents.model.script import Reply

Event = tuple[str, Mapping[str, Any]]
"""Name of a server-sent event ("" for none) and its data."""


def pieces(text: str, size: int = 24) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid4().hex[:24]}"


def chat(reply: Reply, model: str) -> Iterator[Event]:
    """Chunks of /v1/chat/completions."""
    head = {"id": _id("chatcmpl"), "object": "chat.completion.chunk", "created": int(time.time()), "model": model}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> Event:
        return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(reply.text):
        yield chunk({"content": piece})
    for n, call in enumerate(reply.calls):
        named = {"name": call.tool.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": n, "id": _id("call"), "type": "function", "function": named}]})
        for piece in pieces(as_json(call.args)):
            yield chunk({"tool_calls": [{"index": n, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    yield "", {**head, "choices": [], "usage": chat_usage(reply)}


def chat_usage(reply: Reply) -> dict[str, Any]:
    given, made, cached = reply.usage
    used = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    return {**used, "prompt_tokens_details": {"cached_tokens": cached}}


def chat_body(reply: Reply, model: str) -> dict[str, Any]:
    calls = [
        {"id": _id("call"), "type": "function", "function": {"name": call.tool.name, "arguments": as_json(call.args)}}
        for call in reply.calls
    ]
    message = {"role": "assistant", "content": reply.text or None, **({"tool_calls": calls} if calls else {})}
    finish = reply.finish or ("tool_calls" if calls else "stop")
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    head = {"id": _id("chatcmpl"), "object": "chat.completion", "created": int(time.time()), "model": model}
    return {**head, "choices": choices, "usage": chat_usage(reply)}


def responses_body(reply: Reply, model: str) -> dict[str, Any]:
    """The whole answer of /v1/responses."""
    output: list[dict[str, Any]] = []
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        output.append(
            {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": content}
        )
    for call in reply.calls:
        place = {"namespace": call.tool.namespace} if call.tool.namespace else {}
        common = {"call_id": _id("call"), "name": call.tool.name, **place}
        if call.input is not None:
            output.append({"type": "custom_tool_call", "id": _id("ctc"), **common, "input": call.input})
        else:
            output.append({"type": "function_call", "id": _id("fc"), **common, "arguments": as_json(call.args)})
    given, made, cached = reply.usage
    usage = {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + made,
    }
    return {"id": _id("resp"), "object": "response", "status": "completed", "model": model, "output": output} | {
        "usage": usage
    }


def responses(reply: Reply, model: str) -> Iterator[Event]:
    """Events of /v1/responses."""
    body = responses_body(reply, model)
    number = 0

    def event(kind: str, **data: Any) -> Event:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **data}

    yield event("response.created", response={**body, "status": "in_progress", "output": [], "usage": None})
    for n, item in enumerate(body["output"]):
        yield event("response.output_item.added", output_index=n, item={**item, "status": "in_progress"})
        if item["type"] == "message":
            where = {"item_id": item["id"], "output_index": n, "content_index": 0}
            for piece in pieces(reply.text):
                yield event("response.output_text.delta", **where, delta=piece)
            yield event("response.output_text.done", **where, text=reply.text)
        yield event("response.output_item.done", output_index=n, item=item)
    yield event("response.completed", response=body)


def anthropic_body(reply: Reply, model: str) -> dict[str, Any]:
    """The whole answer of /v1/messages."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": _id("toolu"), "name": call.tool.name, "input": dict(call.args)}
        for call in reply.calls
    ]
    stop = reply.finish or ("tool_use" if reply.calls else "end_turn")
    head = {"id": _id("msg"), "type": "message", "role": "assistant", "model": model}
    given, made, cached = reply.usage
    usage = {"input_tokens": given, "output_tokens": made, "cache_read_input_tokens": cached}
    return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def anthropic(reply: Reply, model: str) -> Iterator[Event]:
    """Events of /v1/messages."""
    body = anthropic_body(reply, model)
    yield "message_start", {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}
    for n, block in enumerate(body["content"]):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield "content_block_start", {"type": "content_block_start", "index": n, "content_block": empty}
        for piece in pieces(block["text"] if is_text else as_json(block["input"])):
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield "content_block_delta", {"type": "content_block_delta", "index": n, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": n}
    end = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": body["usage"]}
    yield "message_stop", {"type": "message_stop"}


def gemini_body(reply: Reply, model: str) -> dict[str, Any]:
    """The whole answer of :generateContent, and the one event of its stream."""
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": call.tool.name, "args": dict(call.args)}} for call in reply.calls]
    given, made, cached = reply.usage
    used = {"promptTokenCount": given, "candidatesTokenCount": made, "totalTokenCount": given + made}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": reply.finish or "STOP"}
    return {
        "candidates": [candidate],
        "usageMetadata": {**used, "cachedContentTokenCount": cached},
        "modelVersion": model,
        "responseId": _id("r"),
    }


def gemini(reply: Reply, model: str) -> Iterator[Event]:
    """Events of :streamGenerateContent."""
    yield "", gemini_body(reply, model)


BODIES = {"chat": chat_body, "responses": responses_body, "anthropic": anthropic_body, "gemini": gemini_body}
STREAMS = {"chat": chat, "responses": responses, "anthropic": anthropic, "gemini": gemini}


def encoded(event: Event) -> bytes:
    name, data = event
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"
