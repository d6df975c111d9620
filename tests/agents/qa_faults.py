"""What agents and hostile code in them can do to the one who drives them: moves of the agent in qa.py."""

import json
import os
import sys
import time

from qa import HERE, Answer, payload, raw, write


def marked(form):
    """An answer in a wrong form; `form` gets the good marker line."""
    return lambda turn, move: Answer(form(turn.marked(payload(turn, move))))


def error(turn, move):
    """A JSON-RPC error as the answer to the prompt."""
    data = json.loads(move["data"]) if isinstance(move.get("data"), str) else move.get("data")
    return Answer(error={"code": int(move.get("code", -32603)), "message": move.get("message", ""), "data": data})


def conflict(turn, move):
    """Two valid results that do not agree."""
    change = {"summary": "Something else"} if turn.role == "agent" else {"decision": "block"}
    return Answer(turn.marked(payload(turn, change)), structured=payload(turn, move))


def crash(turn, move):
    sys.stderr.write("x" * int(move.get("stderr", 0)) + "\nqa: crashed on purpose\n")
    sys.stderr.flush()
    os._exit(int(move.get("code", 3)))


def junk(turn, move):
    raw("this is no protocol\n" * int(move.get("n", 200)))


def huge_line(turn, move):
    raw("x" * (int(move.get("mib", 17)) << 20) + "\n")


def huge_output(turn, move):
    for _ in range(int(move.get("mib", 50)) * 8):
        turn.say("All work and no play makes a long answer.\n" * 3200, size=1 << 17)


def flood(turn, move):
    while not turn.session.cancelled.is_set():
        raw('{"jsonrpc":"2.0","method":"session/update","params":{}}\n' * 1000)


def flood_stderr(turn, move):
    for _ in range(int(move.get("mib", 20))):
        sys.stderr.write("e" * (1 << 20))
    sys.stderr.write("\nthe end of stderr\n")
    sys.stderr.flush()


def unknown_update(turn, move):
    turn.update({"sessionUpdate": "mood", "mood": "fine"})
    turn.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "smell", "data": 1}})
    write({"method": "session/weather", "params": {"sessionId": turn.session.id}})


def update_before_call(turn, move):
    turn.tool_done("never-started", "done")


def late_message(turn, move):
    content = {"type": "text", "text": turn.marked(payload(turn, {"decision": "block"}))}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    turn.update(update, meta={"remedy/turn": turn.session.turn or "an-older-turn.1"})


def permission(turn, move):
    turn.may(move.get("kind", "execute"), move.get("title", "make test"), move.get("path"))
    turn.say(f"chosen: {turn.chosen}\n")


def insist(turn, move):
    while not turn.session.cancelled.is_set():
        turn.may("fetch", "GET http://example.invalid/")
    return Answer(stop="cancelled")


def ask_for_files(turn, move):
    for method in ("fs/read_text_file", "terminal/create", "elicitation/create", "mood/tell"):
        answer = turn.request(method, {"path": "/etc/passwd", "command": "id"})
        turn.say(f"{method}: {answer.get('error', {}).get('code')}\n")


def daemon(turn, move):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", str(move.get("s", 600))])
        os._exit(0)
    os.wait()


def escape(turn, move):
    path = os.path.join(turn.session.cwd, move["path"])
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write("written by the agent\n")
    except OSError as fault:
        turn.say(f"{path}: {fault.strerror}\n")


def dump(turn, move):
    """All that can be seen from here, into a file of the workspace (or of HOME: `~/name`), so that a test can look."""
    seen = [f"argv {sys.argv}", *(f"env {name}={value}" for name, value in sorted(os.environ.items())), turn.text]
    for place in ("/", "/home", os.path.expanduser("~"), "/tmp", "/run", "/etc", "/proc", HERE, turn.session.cwd):
        for folder, folders, names in os.walk(place):
            seen += [os.path.join(folder, name) for name in sorted(folders + names)]
            folders[:] = [] if folder.count("/") > 2 or place in ("/", "/proc") else folders
    for name in filter(str.isdigit, os.listdir("/proc")):
        for part in ("cmdline", "environ"):
            try:
                with open(f"/proc/{name}/{part}", "rb") as file:
                    content = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
                seen.append(f"{name} {part} {content}")
            except OSError as fault:
                seen.append(f"{name} {part}: {fault.strerror}")
    try:
        path = os.path.join(turn.session.cwd, os.path.expanduser(move.get("path", "qa-dump.txt")))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(seen))
    except OSError:
        turn.say("\n".join(seen))


def ignore_cancel(turn, move):
    while True:
        time.sleep(1)


MOVES = {
    "unknown_evidence": lambda turn, move: Answer(turn.marked(payload(turn, {"evidence": ["E-0123456789"], **move}))),
    "no_evidence": lambda turn, move: Answer(turn.marked(payload(turn, {"evidence": [], **move}))),
    "wrong_nonce": lambda turn, move: Answer(turn.marked(payload(turn, move), nonce="A" * 16)),
    "other_word": lambda turn, move: Answer(turn.marked(payload(turn, move), word="SELF_REPAIR")),
    "invalid": lambda turn, move: Answer(turn.marked({**payload(turn, move), "decision": "maybe"})),
    "two_markers": marked(lambda line: f"{line}\n{line}"),
    "marker_not_last": marked(lambda line: f"{line}\nThat is all."),
    "fenced": marked(lambda line: f"```\n{line}\n```"),
    "indented": marked(lambda line: f"  {line}"),
    "doubled_key": marked(lambda line: line[:-1] + ', "feedback": "again"}'),
    "conflict": conflict,
    "stop": lambda turn, move: Answer(move.get("text", ""), stop=move.get("reason", "refusal")),
    "bad_answer": lambda turn, move: Answer(stop=None),
    "error": error,
    "crash": crash,
    "junk_stdout": junk,
    "huge_line": huge_line,
    "huge_output": huge_output,
    "flood": flood,
    "flood_stderr": flood_stderr,
    "unknown_update": unknown_update,
    "update_before_call": update_before_call,
    "late_message": late_message,
    "permission": permission,
    "insist": insist,
    "ask_for_files": ask_for_files,
    "ignore_cancel": ignore_cancel,
    "daemon": daemon,
    "escape": escape,
    "dump": dump,
    "start_crash": crash,
    "start_junk": junk,
    "start_silent": ignore_cancel,
}
