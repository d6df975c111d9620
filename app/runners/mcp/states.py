"""What a gateway's answers say about a session: its id, state, result, pull requests and cost; pure (G15, G23)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from app.runners.codes import plain

TEXT_CHARS = 64 * 1024
ID = re.compile(r"[A-Za-z0-9._-]{1,200}")


class State(StrEnum):
    """The states that all vendors share (G23)."""

    RUNNING = "running"
    WAITING = "waiting_human"
    DONE = "done"
    IDLE = "idle"
    SUSPENDED = "suspended"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = frozenset({State.FAILED, State.CANCELLED})
"""Nothing more comes from such a session, and no message reaches it."""

WORDS: Mapping[str, State] = {
    **dict.fromkeys(("new", "claimed", "queued", "pending", "starting", "resuming", "resumed"), State.RUNNING),
    **dict.fromkeys(("running", "working", "in_progress", "resume_requested"), State.RUNNING),
    **dict.fromkeys(("waiting_for_user", "waiting_for_approval", "blocked", "waiting"), State.WAITING),
    **dict.fromkeys(("finished", "completed", "done", "succeeded", "success"), State.DONE),
    **dict.fromkeys(("inactivity", "sleeping", "user_request", "asleep"), State.IDLE),
    **dict.fromkeys(("error", "errored", "failed", "crashed"), State.FAILED),
    **dict.fromkeys(("cancelled", "canceled", "terminated", "stopped", "expired"), State.CANCELLED),
}


@dataclass(frozen=True)
class Seen:
    """One look at a session. `word` is the vendor's own, for people; `tags` None: the answer lists none."""

    session_id: str
    state: State = State.RUNNING
    word: str = ""
    url: str = ""
    text: str = ""
    structured: object | None = None
    pulls: tuple[str, ...] = ()
    acu: Decimal | None = None
    tags: frozenset[str] | None = None


def payload_of(result: Mapping[str, Any]) -> object | None:
    """The data of a tool result: structured content, else JSON in its text, else what `result` wraps; None: no data."""
    found = result.get("structuredContent") or _json(text_of_result(result))
    if isinstance(found, dict) and set(found) == {"result"}:
        inner = found["result"]
        found = (_json(inner) if isinstance(inner, str) else inner) or None
    return found if isinstance(found, dict | list) else None


def text_of_result(result: Mapping[str, Any]) -> str:
    """All text parts of a tool result."""
    parts = result.get("content")
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _json(text: str) -> object | None:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def sessions_of(payload: object | None, prefix: str) -> list[Seen]:
    """Every session that an answer tells of; those without a readable id are left out (G15, RN-63)."""
    seen = [read_session(row, prefix) for row in _rows(payload)]
    return [one for one in seen if one is not None]


def _rows(payload: object | None) -> Iterator[Mapping[str, Any]]:
    if isinstance(payload, list):
        yield from (row for row in payload if isinstance(row, dict))
    elif isinstance(payload, dict):
        listed = next((payload[key] for key in ("sessions", "items", "results", "data") if key in payload), None)
        if isinstance(listed, list):
            yield from _rows(listed)
        else:
            nested = next((payload[key] for key in ("session", "data") if isinstance(payload.get(key), dict)), payload)
            yield nested


def read_session(row: Mapping[str, Any], prefix: str) -> Seen | None:
    """One session, with ids as the server's other tools want them: they may be listed without their prefix."""
    name = next((row[key] for key in ("session_id", "devin_id", "id") if isinstance(row.get(key), str)), "")
    if not ID.fullmatch(name):
        return None
    structured = row.get("structured_output")
    if isinstance(structured, str):
        structured = _json(structured)
    pulls = tuple(dict.fromkeys(_pulls(row)))
    tags = row.get("tags")
    state, word = _state(row, bool(structured) or bool(pulls))
    return Seen(
        session_id=name if name.startswith(prefix) else f"{prefix}{name}",
        state=state,
        word=word,
        url=_address(row.get("url") or row.get("session_url")),
        text=_text(row),
        structured=structured or None,
        pulls=pulls,
        acu=_number(row.get("acus_consumed", row.get("acu"))),
        tags=frozenset(str(tag) for tag in tags) if isinstance(tags, list) else None,
    )


def _state(row: Mapping[str, Any], has_result: bool) -> tuple[State, str]:
    """Status and its detail together: `finished` is a detail of running. An unknown word is looked at again."""
    status, detail = (_word(row, "status", "status_enum", "state"), _word(row, "status_detail", "detail"))
    word = f"{status}: {detail}" if detail and detail != status else status
    if status == "exit":
        return (State.DONE if has_result else State.CANCELLED), word
    if status.startswith("suspend"):
        return (WORDS.get(detail, State.SUSPENDED) if detail else State.IDLE), word
    first = WORDS.get(status, State.RUNNING)
    return (WORDS.get(detail, first) if first is State.RUNNING else first), word


def _word(row: Mapping[str, Any], *keys: str) -> str:
    found = next((row[key] for key in keys if isinstance(row.get(key), str)), "")
    return re.sub(r"[^a-z0-9_-]", "_", found.strip().lower())[:60]


def _address(value: object) -> str:
    """A link for people, or nothing: what an answer says may be anything."""
    return value if isinstance(value, str) and re.fullmatch(r"https://[!-~]{1,500}", value) else ""


def _pulls(row: Mapping[str, Any]) -> Iterator[str]:
    one = row.get("pull_request")
    listed = row.get("pull_requests")
    for found in [*(listed if isinstance(listed, list) else []), one, row.get("pr_url")]:
        address = (
            next((found[key] for key in ("pr_url", "url", "html_url") if found.get(key)), "")
            if isinstance(found, dict)
            else found
        )
        if isinstance(address, str) and re.fullmatch(r"https?://[!-~]{1,500}", address):
            yield address


def _text(row: Mapping[str, Any]) -> str:
    """The last thing that the agent said, its end kept."""
    said = list(_messages(row.get("messages")))
    other = (row.get(key) for key in ("last_message", "message", "output", "summary"))
    found = said[-1] if said else next((text for text in other if isinstance(text, str)), "")
    return plain(found[-TEXT_CHARS:])


def _messages(listed: object) -> Iterator[str]:
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        by = str(one.get("source") or one.get("role") or one.get("origin") or one.get("type") or "").lower()
        text = next((one[key] for key in ("message", "text", "content") if isinstance(one.get(key), str)), None)
        if text is not None and "user" not in by:
            yield text


def last_message(payload: object | None) -> str:
    """The agent's last words in a list of messages."""
    return _text({"messages": payload} if isinstance(payload, list) else payload if isinstance(payload, dict) else {})


def _number(value: object) -> Decimal | None:
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() and 0 <= found < 10**9 else None


def with_tag(seen: Iterable[Seen], tag: str, but: str = "") -> Seen | None:
    """The session that carries the tag, the one that was made first; `but` is one that is known to be over."""
    return next((one for one in seen if one.session_id != but and (one.tags is None or tag in one.tags)), None)
