#!/usr/bin/env python3
"""An agent without a model: speaks the Agent Client Protocol over stdio and does what its scenario says.

Standard library only, any Python from 3.9 on. The same prompt gives the same moves in every process, so a killed turn
that is started again repeats them. Where the scenario comes from, first found: `[[qa:NAME key=value ...]]` in the
prompt (one move), `_meta["remedy/config"]["scenario"]` of the session, the file named by QA_SCENARIO, `scenario.json`
beside this file. A scenario is an object:

    {"agent": [MOVE, ...], "plan": [...], "review": [...], "self_repair": [...], "final": [...], "reask": [...],
     "start": "crash" | "silent" | "junk"}

The first entry of a list is for attempt 1, the second for attempt 2; the last is repeated. A MOVE is a name (MOVES
here, in qa_faults.py and in qa_tools.py), an object {"do": NAME, ...}, or a list of them, done in order; the last
answer counts. An object with "when" is taken for prompts that hold that text, whatever the attempt. Without an entry
the answer is the good one of the role: an agent reports no change, a supervisor approves with the ids it must cite, a
self-repair needs a user.

With QA_STATE (a folder, `~` is HOME) sessions are kept there and `session/load` is offered.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import uuid

ROLES = (
    ("final", "Write the last words"),
    ("self_repair", "A repair run stopped"),
    ("plan", "You read the plan"),
    ("review", "You are the supervisor of"),
    ("agent", "You repair one failure"),
)
WORDS = {"plan": "VERDICT", "review": "VERDICT", "self_repair": "SELF_REPAIR", "agent": "RESULT"}
GIT = ("git", "-c", "user.name=QA", "-c", "user.email=qa@example.invalid", "-c", "commit.gpgsign=false")
GIT += ("-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null")
HERE = os.path.dirname(os.path.abspath(__file__))
STATE = os.path.expanduser(os.environ.get("QA_STATE", ""))

write_lock = threading.Lock()
sessions = {}
waiting = {}


def raw(text):
    with write_lock:
        sys.stdout.write(text)
        sys.stdout.flush()


def write(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def load_scenario(params):
    given = ((params.get("_meta") or {}).get("remedy/config") or {}).get("scenario")
    if isinstance(given, dict):
        return given
    path = os.environ.get("QA_SCENARIO") or os.path.join(HERE, "scenario.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    return {}


def state_file(session_id):
    return os.path.join(STATE, os.path.basename(session_id) + ".json")


class Session:
    """What is remembered of a conversation: how many prompts, and which role and attempt came last."""

    def __init__(self, session_id, cwd, scenario):
        self.id, self.cwd, self.scenario = session_id, cwd, scenario
        self.prompts, self.role, self.attempt, self.turn = 0, "", 0, ""
        self.servers = []
        self.cancelled = threading.Event()

    def save(self):
        if STATE:
            os.makedirs(STATE, exist_ok=True)
            with open(state_file(self.id), "w", encoding="utf-8") as file:
                json.dump([self.prompts, self.role, self.attempt, self.turn], file)


class Turn:
    """One prompt: what it says about role, attempt, nonce and evidence, and the ways to act."""

    def __init__(self, session, text, meta):
        self.session, self.text, self.meta = session, text, meta
        self.key = str(meta.get("remedy/turn", ""))
        markers = re.findall(r"REMEDY_(RESULT|VERDICT|SELF_REPAIR):([A-Z2-7]{16})", text)
        self.word, self.nonce = markers[-1] if markers else ("", "")
        self.role = self.find_role()
        self.attempt = self.find_attempt()
        self.word = self.word or WORDS.get(self.role, "")
        self.calls = 0

    def find_role(self):
        head = self.text[:600]
        named = next((role for role, words in ROLES if words in head), "")
        by_word = {"RESULT": "agent", "SELF_REPAIR": "self_repair", "VERDICT": "review"}.get(self.word, "final")
        return named or self.session.role or by_word

    def find_attempt(self):
        ours = re.sub(r"(?ms)^(`{3,})\w*$.*?^\1$", "", self.text)
        stated = re.search(r"^Attempt: (\d+)", ours, re.MULTILINE)
        earlier = re.search(r"Attempt (\d+) was proved|hold for attempt (\d+)", ours)
        if stated:
            return int(stated.group(1))
        return int(earlier.group(1) or earlier.group(2)) + 1 if earlier else self.session.attempt or 1

    def is_reask(self):
        return "Hand in only the result" in self.text or "held no valid verdict" in self.text

    def moves(self):
        marked = re.search(r"\[\[qa:(.+?)\]\]", self.text)
        if marked:
            name, *pairs = shlex.split(marked.group(1))
            return [{"do": name, **dict(pair.split("=", 1) for pair in pairs)}]
        entries = self.session.scenario.get("reask" if self.is_reask() else self.role, [])
        entries = entries if isinstance(entries, list) else [entries]
        fitting = [one for one in entries if isinstance(one, dict) and one.get("when") and one["when"] in self.text]
        counted = [one for one in entries if not (isinstance(one, dict) and "when" in one)]
        chosen = fitting[0] if fitting else counted[min(self.attempt, len(counted)) - 1] if counted else []
        chosen = chosen if isinstance(chosen, list) else [chosen]
        return [{"do": one} if isinstance(one, str) else one for one in chosen]

    def required_ids(self):
        """The ids that `approve` must cite, else the first row of the table that may carry a decision."""
        line = re.search(r"`approve` must cite (.+)", self.text)
        cited = re.findall(r"E-[0-9a-f]{10,}", line.group(1)) if line else []
        rows = re.findall(r"^(?:\| |- )(E-[0-9a-f]{10,})(?: \| |, )(\w+)", self.text, re.MULTILINE)
        first = [row[0] for row in rows if row[1] in ("failure", "log", "blame")][:1] or [row[0] for row in rows][:1]
        return cited or first

    def update(self, update, meta=None):
        params = {"sessionId": self.session.id, "update": update, "_meta": meta or {"remedy/turn": self.key}}
        write({"method": "session/update", "params": params})

    def say(self, text, size=4000):
        for at in range(0, len(text), size):
            content = {"type": "text", "text": text[at : at + size]}
            self.update({"sessionUpdate": "agent_message_chunk", "content": content})

    def tool(self, title, kind="execute", **more):
        self.calls += 1
        call = f"{self.key}-{self.calls}"
        self.update({"sessionUpdate": "tool_call", "toolCallId": call, "title": title, "kind": kind, **more})
        return call

    def tool_done(self, call, output, ok=True):
        update = {"sessionUpdate": "tool_call_update", "toolCallId": call, "rawOutput": output}
        self.update({**update, "status": "completed" if ok else "failed"})

    def request(self, method, params):
        """Asks the client and waits for its answer (or for the cancel)."""
        request_id = str(uuid.uuid4())
        waiting[request_id] = [threading.Event(), None]
        write({"id": request_id, "method": method, "params": {"sessionId": self.session.id, **params}})
        while not waiting[request_id][0].wait(0.05):
            if self.session.cancelled.is_set():
                return {}
        return waiting.pop(request_id)[1]

    def may(self, kind, title, path=None):
        """A permission request as known agents make it: with `allow_always` as the first option. True when allowed."""
        options = ("allow_always", "allow_once", "reject_once")
        call = {"toolCallId": f"{self.key}-p{self.calls}", "title": title, "kind": kind}
        if path:
            call["locations"] = [{"path": os.path.join(self.session.cwd, path)}]
        offered = [{"optionId": "o-" + one, "name": one, "kind": one} for one in options]
        answer = self.request("session/request_permission", {"toolCall": call, "options": offered})
        outcome = answer.get("result", {}).get("outcome", {})
        self.chosen = outcome.get("optionId", outcome.get("outcome", "none"))
        return self.chosen == "o-allow_once"

    def git(self, *arguments, **more):
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run((*GIT, *arguments), cwd=self.session.cwd, env=env, capture_output=True, text=True, **more)

    def marked(self, payload, nonce=None, word=None):
        return f"REMEDY_{word or self.word}:{nonce or self.nonce} {json.dumps(payload)}"


class Answer:
    """The end of a prompt: text to say, a structured result, the stop reason, or a JSON-RPC error."""

    def __init__(self, text="", structured=None, stop="end_turn", error=None):
        self.text, self.structured, self.stop, self.error = text, structured, stop, error


def payload(turn, move):
    """The good result of the role, changed by the keys of the move."""
    if turn.role == "agent":
        summary = move.get("summary") or "Leave the files as they are\nCause: not found.\nOpen: everything."
        named = re.findall(r"^### \d+\. (.+)$", turn.text, re.MULTILINE)
        tests = [{"name": name, "outcome": move.get("outcome", "passed")} for name in named]
        return {"summary_markdown": summary, "tests": tests}
    if turn.role == "self_repair":
        decision = move.get("decision", "needs_user")
        addendum = move.get("addendum", "The task text is right as it is." if decision == "fixed" else "")
        feedback = move.get("feedback", "The run stopped because two sources disagree.")
        return {"decision": decision, "feedback": feedback, "prompt_addendum": addendum}
    decision = move.get("decision", "approve")
    feedback = move.get("feedback") or {
        "approve": "One line was wrong; the change removes that for every input.\nSide: code; the test is right.",
        "correct": "An edge case is missing. 1. The empty input still fails.\nSide: code; the test is right.",
        "block": "A person must choose what the total means.\nSide: unknown; two sources disagree.",
    }.get(decision, "No decision of the list.")
    result = {"decision": decision, "feedback": feedback, "evidence": move.get("evidence", turn.required_ids())}
    if "prompts" in move:
        result["prompts"] = move["prompts"]
    return result


def good(turn, move):
    if turn.role == "final":
        return Answer(move.get("text", "The sum was wrong; the fix puts it right."))
    if not turn.nonce and "ends in `submit_result`" in turn.text:
        return move_named("submit")(turn, move)
    return Answer("Here is what I found.\n\n" + turn.marked(payload(turn, move)) + "\n")


def decided(decision, **more):
    return lambda turn, move: good(turn, {"decision": decision, **more, **move})


GOOD_SUMMARY = "Put the sum right\nCause: one line was wrong.\nChange: that line.\nChecked: read it.\nOpen: none"


def fix(turn, move):
    """`edits`: [{"path", "find", "replace"} or {"path", "write"} or {"path", "delete": true}], or `patch`: a diff.

    In a marker the one edit is written as `path=P find=A replace=B`. `run` is a command to run after the edits.
    """
    edits = move.get("edits", [move] if "path" in move else [])
    missed = [one["path"] for one in edits if not edit(turn, one)]
    if move.get("patch") and turn.git("apply", "--whitespace=nowarn", "-", input=move["patch"]).returncode:
        missed.append("the patch")
    summary = move.get("summary") or GOOD_SUMMARY
    if move.get("commit", True):
        turn.git("add", "-A")
        turn.git("commit", "-q", "-m", summary.split("\n")[0])
    if move.get("run"):
        call = turn.tool(" ".join(move["run"]))
        done = subprocess.run(move["run"], cwd=turn.session.cwd, capture_output=True, text=True)
        turn.tool_done(call, (done.stdout + done.stderr)[-4000:], done.returncode == 0)
    if missed:
        summary = "Change nothing\nCause: not found.\nOpen: could not edit " + ", ".join(missed)
    return good(turn, {**move, "summary": summary})


def edit(turn, one):
    path = os.path.join(turn.session.cwd, one["path"])
    call = turn.tool("Edit " + one["path"], "edit", locations=[{"path": path}])
    if not turn.may("edit", "Edit " + one["path"], one["path"]):
        turn.tool_done(call, "not allowed", ok=False)
        return False
    try:
        changed = change(path, one)
    except OSError as fault:
        turn.tool_done(call, str(fault), ok=False)
        return False
    turn.tool_done(call, "edited" if changed else "nothing to replace", ok=changed)
    return changed


def change(path, one):
    if one.get("delete"):
        subprocess.run(["rm", "-f", "--", path], check=True)
        return True
    content = one.get("write")
    if content is None:
        with open(path, encoding="utf-8") as file:
            before = file.read()
        if one["find"] not in before:
            return one["replace"] in before  # done by a turn that was interrupted after it
        content = before.replace(one["find"], one["replace"], 1)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    return True


MOVES = {
    "good": good,
    "nothing": good,
    "fix": fix,
    "approve": decided("approve"),
    "correct": decided("correct"),
    "block": decided("block"),
    "fixed": decided("fixed"),
    "needs_user": decided("needs_user"),
    "meta": lambda turn, move: Answer("See the result.", structured=move.get("structured", payload(turn, move))),
    "prose": lambda turn, move: Answer(move.get("text", "Looks good to me. Approved!")),
    "no_verdict": lambda turn, move: Answer("I approve."),
    "no_result": lambda turn, move: Answer(),
    "say": lambda turn, move: turn.say(move["text"]),
    "hang": lambda turn, move: turn.session.cancelled.wait(3600) and None,
    "sleep": lambda turn, move: turn.session.cancelled.wait(float(move["s"])) and None,
}


def move_named(name):
    """The faults and the host tools stand in files of their own beside this one."""
    if name in MOVES:
        return MOVES[name]
    sys.path.insert(0, HERE)
    sys.modules.setdefault("qa", sys.modules[__name__])
    import qa_faults
    import qa_tools

    return {**qa_faults.MOVES, **qa_tools.MOVES}[name]


def prompt(request_id, session, params):
    try:
        answer_prompt(request_id, session, params)
    except Exception as fault:  # a mistake in a scenario must show, not hang
        write({"id": request_id, "error": {"code": -32603, "message": f"qa: {fault!r}"}})


def answer_prompt(request_id, session, params):
    turn = Turn(session, "".join(part.get("text", "") for part in params["prompt"]), params.get("_meta") or {})
    answer = None
    for move in turn.moves():
        answer = move_named(move["do"])(turn, move) or answer
    answer = answer or good(turn, {})
    session.prompts += 1
    session.role, session.attempt, session.turn = turn.role, turn.attempt, turn.key
    session.save()
    if answer.error:
        write({"id": request_id, "error": answer.error})
        return
    turn.say(answer.text)
    stopped = "cancelled" if session.cancelled.is_set() else answer.stop
    used = {"totalTokens": 120 * session.prompts, "inputTokens": 100 * session.prompts}
    result = {"stopReason": stopped, "usage": {**used, "outputTokens": 20 * session.prompts}}
    if answer.structured is not None:
        result["_meta"] = {"remedy/structured": answer.structured}
    write({"id": request_id, "result": {key: value for key, value in result.items() if value is not None}})


def initialize(request_id, params):
    scenario = load_scenario({})
    offers = {"loadSession": bool(STATE), "mcpCapabilities": {"http": True}, **scenario.get("offers", {})}
    info = {"name": "qa", "version": scenario.get("version", "1.0.0")}
    protocol = scenario.get("protocol", params.get("protocolVersion", 1))
    write({"id": request_id, "result": {"protocolVersion": protocol, "agentCapabilities": offers, "agentInfo": info}})


def new_session(request_id, params):
    session = Session("qa-" + uuid.uuid4().hex[:12], params["cwd"], load_scenario(params))
    session.servers = params.get("mcpServers") or []
    sessions[session.id] = session
    session.save()
    offered = [
        {"type": "select", "name": name, "id": name, **rest}
        for name, rest in session.scenario.get("choices", {}).items()
    ]
    write({"id": request_id, "result": {"sessionId": session.id, "configOptions": offered}})


def load_session(request_id, params):
    session = Session(params["sessionId"], params["cwd"], load_scenario(params))
    if not os.path.exists(state_file(session.id)):
        write({"id": request_id, "error": {"code": -32603, "message": "Internal error"}})
        return
    with open(state_file(session.id), encoding="utf-8") as file:
        session.prompts, session.role, session.attempt, session.turn = json.load(file)
    session.servers = params.get("mcpServers") or []
    sessions[session.id] = session
    Turn(session, "", {}).say("This was said in an earlier process.")
    write({"id": request_id, "result": {}})


def choose(request_id, params):
    """One of the scenario's `choices`: {"model": {"currentValue": "a", "options": [{"value": "a", "name": "A"}]}}."""
    choice = sessions[params["sessionId"]].scenario["choices"][params["configId"]]
    if params["value"] not in [one["value"] for one in choice["options"]]:
        write({"id": request_id, "error": {"code": -32602, "message": "no such value"}})
        return
    choice["currentValue"] = params["value"]
    write({"id": request_id, "result": {"configOptions": []}})


def start_prompt(request_id, params):
    session = sessions[params["sessionId"]]
    session.cancelled.clear()
    threading.Thread(target=prompt, args=(request_id, session, params), daemon=True).start()


def cancel(request_id, params):
    if params["sessionId"] in sessions:
        sessions[params["sessionId"]].cancelled.set()


METHODS = {"initialize": initialize, "session/new": new_session, "session/load": load_session}
METHODS.update({"session/prompt": start_prompt, "session/cancel": cancel, "session/set_config_option": choose})


def main():
    start = load_scenario({}).get("start")
    if start:
        move_named(f"start_{start}")(None, {})
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message:
            METHODS[message["method"]](message.get("id"), message.get("params") or {})
        elif message.get("id") in waiting:
            waiting[message["id"]][1] = message
            waiting[message["id"]][0].set()


if __name__ == "__main__":
    main()
