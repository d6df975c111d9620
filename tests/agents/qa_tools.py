"""How the agent in qa.py asks its host over MCP: moves that call a host tool, over HTTP or over stdio."""

import json
import subprocess
import urllib.error
import urllib.request

from qa import Answer, payload

VERSION = "2025-06-18"


class Client:
    """One MCP server of the session. `token` replaces the right one, for a thief."""

    def __init__(self, server, token=None):
        self.server, self.number, self.process = server, 0, None
        self.headers = {one["name"]: one["value"] for one in server.get("headers", ())}
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
        if "command" in server:
            env = {"PATH": "/usr/local/bin:/usr/bin:/bin", **{one["name"]: one["value"] for one in server["env"]}}
            pipe = subprocess.PIPE
            argv = [server["command"], *server["args"]]
            self.process = subprocess.Popen(argv, env=env, stdin=pipe, stdout=pipe, text=True)

    def ask(self, method, params):
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        if self.process:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self.headers}
        request = urllib.request.Request(self.server["url"], line.encode(), headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as response:
            return json.loads(response.read())

    def start(self):
        hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "qa", "version": "1"}}
        return self.ask("initialize", hello)["result"]

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(10)


def client(turn, token=None):
    found = Client(turn.session.servers[0], token)
    found.start()
    return found


def call(turn, name, arguments):
    """The text and whether it was refused."""
    mcp = client(turn)
    answer = mcp.ask("tools/call", {"name": name, "arguments": arguments})["result"]
    mcp.close()
    return answer["content"][0]["text"], answer["isError"]


def tool(turn, move):
    """Any tool: `tool=run_log args={"text": "x"}`."""
    arguments = json.loads(move["args"]) if isinstance(move.get("args"), str) else move.get("args", {})
    text, refused = call(turn, move["tool"], arguments)
    turn.say(f"{move['tool']}: {'refused: ' if refused else ''}{text}\n")


def tools(turn, move):
    """What is offered."""
    mcp = client(turn)
    listed = mcp.ask("tools/list", {})["result"]["tools"]
    mcp.close()
    turn.say("offered: " + " ".join(one["name"] for one in listed) + "\n")


def submit(turn, move):
    """A good result by the tool, and no other word."""
    text, refused = call(turn, "submit_result", payload(turn, move))
    turn.say(f"submit_result: {text}\n") if refused else None
    return Answer("Done.")


def bad_then_good(turn, move):
    """An invalid result that is refused, then a valid one: the agent corrects itself."""
    text, refused = call(turn, "submit_result", {"decision": "maybe"})
    turn.say(f"refused: {text}\n" if refused else "accepted?\n")
    return submit(turn, move)


def thief(turn, move):
    """A token that is not the turn's own."""
    try:
        client(turn, move.get("token", "another"))
    except urllib.error.HTTPError as error:
        turn.say(f"status {error.code}\n")


def plan(turn, move):
    """Two steps, as agents tell what they mean to do."""
    steps = (("Read it", "completed"), ("Put it right", "in_progress"))
    entries = [{"content": what, "priority": "medium", "status": status} for what, status in steps]
    turn.update({"sessionUpdate": "plan", "entries": entries})


def chosen(turn, move):
    """What was chosen of the scenario's `choices`."""
    turn.say("".join(f"{name}={one['currentValue']}\n" for name, one in turn.session.scenario["choices"].items()))


MOVES = {
    "chosen": chosen,
    "plan": plan,
    "tool": tool,
    "tools": tools,
    "submit": submit,
    "bad_then_good": bad_then_good,
    "thief": thief,
}
