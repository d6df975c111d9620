"""What one HTTP request came to, in one of six words; the same for every server that a runner speaks to (A23)."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.runners.codes import plain

TIMEOUT_S = 30.0
BODY_CHARS = 2000


class Word(StrEnum):
    SUCCESS = "success"
    NETWORK = "network"
    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"
    VALIDATION = "validation"
    STATUS = "status"


@dataclass(frozen=True)
class Outcome:
    """`sent` is False only where the request surely never left; `retry_after_s` as the server said it."""

    word: Word
    status: int = 0
    body: str = ""
    data: object | None = None
    retry_after_s: float | None = None
    sent: bool = True

    def __str__(self) -> str:
        """The word first: it is found again in the events of a run."""
        status = f" HTTP {self.status}" if self.status else ""
        return f"{self.word.value}:{status} {self.body}".strip()

    @property
    def retry_at(self) -> int | None:
        """UTC milliseconds, at most a day from now."""
        if self.retry_after_s is None:
            return None
        return time.time_ns() // 1_000_000 + int(min(self.retry_after_s, 86_400) * 1000)


def answered(status: int, body: bytes, headers: Mapping[str, str]) -> Outcome:
    """The outcome of an answer. A body that is no JSON under a good status is `validation`."""
    text = plain(body[: BODY_CHARS * 4].decode("utf-8", "replace"))[:BODY_CHARS]
    if status in (401, 403):
        return Outcome(Word.UNAUTHORIZED, status, text)
    if status == 429:
        return Outcome(Word.RATE_LIMITED, status, text, retry_after_s=_seconds(headers.get("retry-after")))
    if not 200 <= status < 300:
        return Outcome(Word.STATUS, status, text)
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return Outcome(Word.VALIDATION, status, f"no JSON: {text}")
    return Outcome(Word.SUCCESS, status, text, data)


def unreached(why: str, sent: bool) -> Outcome:
    """No answer came; `sent`: the server may have seen the request."""
    return Outcome(Word.NETWORK, body=plain(why)[:BODY_CHARS], sent=sent)


def _seconds(value: str | None) -> float | None:
    """`retry-after` in seconds; its form as a date is left to the caller's own back-off."""
    return float(value) if value is not None and value.strip().isdigit() else None
