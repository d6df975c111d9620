"""What a model says, by script: which script a conversation follows, and which of its steps comes next."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.agents import qa
from tests.agents.model.asked import Asked
from tests.agents.model.ops import Call, call_of

Step = Mapping[str, Any]
Script = Sequence[Step]
"""Steps, one for each reply. Keys of a step:

`text`, `reasoning`; `ops`: [[operation, arguments], ...]; `hand_in`: changes to the good result of the role, handed in
by the best way that the request offers; `usage`: [input, output, cached]; `finish`; faults: `http` with `body`,
`headers` and `times`; `hang` and `drip` (seconds before the answer and between its pieces); `cut`; `junk`.
"""

MARKED = re.compile(r"\[\[script:([\w.-]+)\]\]")
OURS = re.compile(
    "|".join([MARKED.pattern, *(re.escape(words) for _, words in qa.ROLES), r"REMEDY_(RESULT|VERDICT|SELF_REPAIR):"])
)


@dataclass(frozen=True)
class Reply:
    """One answer of the model, before it is put into a format."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    usage: tuple[int, int, int] = (100, 20, 0)
    finish: str = ""


@dataclass(frozen=True)
class Place:
    """Where a conversation stands: the script's name and the number of the step."""

    script: str
    number: int
    prompt: str


def place_of(asked: Asked) -> Place | None:
    """None for a request without tools, as titles and summaries are: it gets any text and uses no step (RN-77).

    The number counts the assistant's turns after the last prompt of ours; items in a row are one turn (RN-76).
    """
    if not asked.tools:
        return None
    ours = [n for n, (role, text) in enumerate(asked.messages) if role == "user" and OURS.search(text)]
    if not ours:
        return None
    roles = [role == "assistant" for role, _ in asked.messages[ours[-1] + 1 :]]
    turns = sum(now and not before for before, now in zip([False, *roles], roles, strict=False))
    prompt = asked.messages[ours[-1]][1]
    whole = "\n".join(text for role, text in asked.messages if role == "user")
    marked = MARKED.findall(prompt) or MARKED.findall(whole)
    turn = prompt_of(prompt)
    return Place(marked[-1] if marked else "reask" if turn.is_reask() else turn.role, turns, prompt)


def prompt_of(text: str) -> qa.Turn:
    """A prompt as the QA agent reads it: role, nonce, ids to cite."""
    return qa.Turn(qa.Session("model", "", {}), text, {})


def reply_of(step: Step, place: Place, asked: Asked, cwd: str) -> Reply:
    """A step in terms of the tools of this request."""
    text, calls = str(step.get("text", "")), []
    for op, args in step.get("ops", ()):
        call = call_of(op, args, asked.tools, cwd)
        if call is None:
            raise LookupError(f"no tool for {op} among {', '.join(tool.name for tool in asked.tools)}")
        calls.append(call)
    if "hand_in" in step:
        handed = _hand_in(step["hand_in"], place, asked)
        text, calls = (f"{text}\n{handed}".strip(), calls) if isinstance(handed, str) else (text, [*calls, handed])
    usage = tuple(step.get("usage", (100, 20, 0)))
    return Reply(text, str(step.get("reasoning", "")), tuple(calls), usage, str(step.get("finish", "")))


def _hand_in(changes: Mapping[str, Any], place: Place, asked: Asked) -> Call | str:
    turn = prompt_of(place.prompt)
    if turn.role == "final":
        return str(changes.get("text", "The sum was wrong; the fix puts it right."))
    payload = changes.get("raw") or qa.payload(turn, dict(changes))
    for op, args in (("structured", payload), ("mcp", {"tool": "submit_result", "args": payload})):
        if call := call_of(op, args, asked.tools, ""):
            return call
    return "Here is what I found.\n\n" + turn.marked(payload)
