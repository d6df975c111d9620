"""Answer an agent's permission request: recognise what is asked, rule, choose an option that holds once."""

import re
from collections.abc import Iterator, Mapping

from acp import schema
from pydantic import ValidationError

from app.runners.acp.turn import Prompted
from app.runners.codes import plain
from app.runners.paths import inside
from app.runners.permissions import HOST_TOOLS, TOOL_KINDS, PermissionRequest, Ruling, choose_option
from app.runners.runner import Decide, EventType, SessionSpec

PATH_KEYS = ("path", "file_path", "filePath", "abs_path", "notebook_path")
DENIALS_ALLOWED = 20
"""Rejected requests before a turn is stopped (domain.md, 6)."""

TOOL_TITLES = tuple(
    re.compile(form).fullmatch
    for form in (r"mcp__remedy__(\w+)", r"remedy_(\w+)", r"(\w+) \(remedy MCP Server\)", r"Tool: remedy/(\w+)")
)
"""How Claude, OpenCode, Gemini and Codex name a tool of the server `remedy` (measured; runners.md, 5.2)."""

CANCELLED: Mapping[str, object] = {"outcome": {"outcome": "cancelled"}}


def answer(
    params: Mapping[str, object], prompted: Prompted | None, spec: SessionSpec, decide: Decide
) -> dict[str, object]:
    """The result of one `session/request_permission`, always at once and never an `always` (RN-29, RN-30, RN-34).

    Without a prompt in flight, or for a request that cannot be read, the outcome is `cancelled`.
    """
    asked = _read(params)
    if prompted is None or asked is None:
        return dict(CANCELLED)
    request = _request(asked.tool_call, prompted, spec)
    ruling = _rule(request, decide)
    told = {"call": request.call_id, "kind": request.kind, "title": request.title, "rule": ruling.rule}
    prompted.tell(EventType.PERMISSION_DECIDED, {**told, "decision": "allow_once" if ruling.allow else "reject_once"})
    if not ruling.allow:
        prompted.denials += 1
        prompted.tell(EventType.TOOL_DENIED, told)
    chosen = choose_option([(option.kind, option.option_id) for option in asked.options], ruling.allow)
    return dict(CANCELLED) if chosen is None else {"outcome": {"outcome": "selected", "optionId": chosen}}


def _read(params: Mapping[str, object]) -> schema.RequestPermissionRequest | None:
    """Options of kinds that we do not know are left out, so that they cannot make the rest unreadable."""
    options = params.get("options")
    known = [one for one in options if _is_known(one)] if isinstance(options, list) else []
    try:
        return schema.RequestPermissionRequest.model_validate({**params, "options": known})
    except ValidationError:
        return None


def _is_known(option: object) -> bool:
    return isinstance(option, dict) and option.get("kind") in (
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    )


def _rule(request: PermissionRequest, decide: Decide) -> Ruling:
    try:
        return decide(request)
    except Exception:  # RN-34: an unanswered request hangs the agent, so a bug in a rule answers reject
        return Ruling(False, "rule_failed")


def _request(call: schema.ToolCallUpdate, prompted: Prompted, spec: SessionSpec) -> PermissionRequest:
    call_id = plain(call.tool_call_id)[:200]
    title = plain(call.title or prompted.calls.get(call_id, ""))[:500]
    kind = call.kind if call.kind in TOOL_KINDS else "other"
    tool = host_tool(title, call.raw_input, prompted.calls.get(call_id, ""))
    paths = tuple(inside(path, spec) for path in _paths(call))
    return PermissionRequest(call_id, kind, title, tool, paths)


def host_tool(title: str, raw_input: object, earlier_title: str = "") -> str:
    """The name of our host tool that a request means, or "" (runners.md, 5.2).

    Whole titles only: a shell command's title is the command itself, and the model may write our names into it.
    """
    named = next((found[1] for text in (earlier_title, title) for form in TOOL_TITLES if (found := form(text))), "")
    raw = raw_input if isinstance(raw_input, dict) else {}
    if not named and raw.get("server_name") == "remedy":
        request = raw.get("request")
        said = str(request.get("message", "")) if isinstance(request, dict) else ""
        named = next((name for name in HOST_TOOLS if re.search(rf"\b{name}\b", said)), "")
    return named if named in HOST_TOOLS else ""


def _paths(call: schema.ToolCallUpdate) -> Iterator[str]:
    for location in call.locations or ():
        yield location.path
    for content in call.content or ():
        if isinstance(content, schema.FileEditToolCallContent):
            yield content.path
    raw = call.raw_input
    if isinstance(raw, dict):
        yield from (raw[key] for key in PATH_KEYS if isinstance(raw.get(key), str))
