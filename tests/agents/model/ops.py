"""Abstract operations of a script as calls of whatever tools a request offers (RN-78)."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.agents.model.asked import Tool

SHELLS = ("bash", "Bash", "exec_command", "shell_command", "shell", "run_shell_command")
FILES: Mapping[str, tuple[str, ...]] = {
    "read": ("read", "Read", "read_file"),
    "write": ("write", "Write", "write_file"),
    "edit": ("edit", "Edit", "replace"),
}
NAMES: Mapping[str, tuple[str, ...]] = {
    "path": ("filePath", "file_path", "path"),
    "old": ("oldString", "old_string"),
    "new": ("newString", "new_string"),
    "content": ("content",),
    "instruction": ("instruction",),
}
REPLACE = (
    "import sys; p, a, b = sys.argv[1:]; t = open(p).read(); assert a in t; open(p, 'w').write(t.replace(a, b, 1))"
)


@dataclass(frozen=True)
class Call:
    """One tool call of a reply; `input` instead of `args` for a custom tool."""

    tool: Tool
    args: Mapping[str, Any]
    input: str | None = None


def call_of(op: str, args: Mapping[str, Any], tools: Sequence[Tool], cwd: str) -> Call | None:
    """The call for one operation, or None when no offered tool can do it."""
    by_name = {tool.name: tool for tool in tools}
    if op == "raw":
        return Call(by_name.get(args["name"], Tool(args["name"])), args.get("args", {}))
    if op == "structured":
        return Call(by_name["StructuredOutput"], args) if "StructuredOutput" in by_name else None
    if op == "mcp":
        found = next((tool for tool in tools if tool.name.endswith(args["tool"])), None)
        return None if found is None else Call(found, args["args"])
    if op != "bash":
        found = next((by_name[name] for name in FILES[op] if name in by_name), None)
        if found is not None:
            return Call(found, _file(found, {**args, "path": f"{cwd}/{args['path']}"}))
    return _shell(by_name, args["command"] if op == "bash" else _by_shell(op, args))


def _file(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    given = {"instruction": "Put it right.", **args}
    return {
        name: given[key] for key, names in NAMES.items() for name in names if name in tool.properties and key in given
    }


def _by_shell(op: str, args: Mapping[str, Any]) -> str:
    path = shlex.quote(args["path"])
    if op == "read":
        return f"cat {path}"
    if op == "write":
        return f"printf %s {shlex.quote(args['content'])} > {path}"
    return f"python3 -c {shlex.quote(REPLACE)} {path} {shlex.quote(args['old'])} {shlex.quote(args['new'])}"


def _shell(by_name: Mapping[str, Tool], command: str) -> Call | None:
    found = next((by_name[name] for name in SHELLS if name in by_name), None)
    if found is None:
        return None
    if found.name == "shell":
        return Call(found, {"command": ["bash", "-lc", command]})
    args = {"cmd" if found.name == "exec_command" else "command": command}
    if "description" in found.properties:
        args["description"] = "Run it"
    return Call(found, args)


def as_json(args: Mapping[str, Any]) -> str:
    return json.dumps(args, separators=(",", ":"))
