"""Decide what follows a call that did not go well: the table of github.md B2, as a pure function."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.errors import Outcome

IN_PLACE_S = (0.5, 2.0, 5.0)
"""The waits before the three more tries in place."""
IN_PLACE_SUM_S = 10.0
"""Longest sum of waits inside one call (GH-6)."""
JITTER = 0.2
UNKNOWN_LIMIT_S = 60
UNKNOWN_LIMIT_MAX_S = 15 * 60


@dataclass(frozen=True)
class Answer:
    """What GitHub answered; `headers` have lower-case names, `json` is None when there is none."""

    status: int
    headers: Mapping[str, str]
    json: object = None
    text: str = ""

    @property
    def message(self) -> str:
        """GitHub's sentence about an error, or the start of the body."""
        if isinstance(self.json, dict) and isinstance(message := self.json.get("message"), str):
            return message[:500]
        return self.text[:500]


@dataclass(frozen=True)
class Lost:
    """No whole answer came: the call never left, or it may have left and nobody knows what it did."""

    kind: Literal["not_connected", "no_answer"]
    cause: str


@dataclass(frozen=True)
class Attempt:
    """One try of one call. `repeatable` calls change nothing when they run twice (GH-5)."""

    repeatable: bool
    tries: int
    waited_s: float
    now_ms: int
    chance: float
    """A random number from 0 to 1, for the jitter (GH-7)."""


@dataclass(frozen=True)
class Wait:
    """Try again in place after `seconds`."""

    seconds: float


@dataclass(frozen=True)
class GiveUp:
    """Try later, outside this call. `limited` speaks of the whole installation."""

    cause: str
    outcome: Outcome
    retry_at: int | None = None
    limited: bool = False
    told: bool = True


def judge(attempt: Attempt, result: Answer | Lost) -> Answer | Wait | GiveUp:
    """The answer itself when it is final, also when it is an error of the caller's making."""
    if isinstance(result, Lost):
        if result.kind == "not_connected":
            return _again(attempt, result.cause, outcome="not_done")
        return _perhaps_again(attempt, result.cause)
    if result.status >= 500:
        return _perhaps_again(attempt, f"GitHub answered {result.status}")
    if (wait_s := limit_wait_s(result, attempt.now_ms)) is not None:
        return _limited(attempt, wait_s, told=_names_a_time(result))
    return result


def limit_wait_s(answer: Answer, now_ms: int) -> float | None:
    """Seconds to wait when the answer is a rate limit, else None (GH-9, F-R3).

    `retry-after`; else the reset time if nothing remains; else 60 s if the body speaks of a rate limit.
    """
    if answer.status not in (403, 429):
        return None
    if (after := _number(answer.headers.get("retry-after"))) is not None:
        return max(after, 1.0)
    reset = _number(answer.headers.get("x-ratelimit-reset"))
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
        return max(reset - now_ms / 1000, 1.0)
    if answer.status == 429 or "rate limit" in answer.message.lower():
        return float(UNKNOWN_LIMIT_S)
    return None


def unknown_limit_wait_s(earlier: int) -> int:
    """Seconds to wait after `earlier` limits in a row for which GitHub named no time (GH-9)."""
    return int(min(UNKNOWN_LIMIT_S * 2 ** min(earlier, 10), UNKNOWN_LIMIT_MAX_S))


def _perhaps_again(attempt: Attempt, cause: str) -> Wait | GiveUp:
    if attempt.repeatable:
        return _again(attempt, cause, outcome="unknown")
    return GiveUp(cause, "unknown")


def _again(attempt: Attempt, cause: str, outcome: Outcome) -> Wait | GiveUp:
    if attempt.tries >= len(IN_PLACE_S):
        return GiveUp(cause, outcome)
    seconds = IN_PLACE_S[attempt.tries] * (1 + JITTER * (2 * attempt.chance - 1))
    if attempt.waited_s + seconds > IN_PLACE_SUM_S:
        return GiveUp(cause, outcome)
    return Wait(seconds)


def _limited(attempt: Attempt, wait_s: float, told: bool) -> Wait | GiveUp:
    # Jitter only adds here: GitHub's time is a minimum.
    seconds = wait_s * (1 + JITTER * attempt.chance)
    if attempt.waited_s + seconds <= IN_PLACE_SUM_S:
        return Wait(seconds)
    retry_at = attempt.now_ms + int(seconds * 1000)
    return GiveUp("GitHub's rate limit is reached", "not_done", retry_at, limited=True, told=told)


def _names_a_time(answer: Answer) -> bool:
    if _number(answer.headers.get("retry-after")) is not None:
        return True
    nothing_left = answer.headers.get("x-ratelimit-remaining") == "0"
    return nothing_left and _number(answer.headers.get("x-ratelimit-reset")) is not None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e11 else None
