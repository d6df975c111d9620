"""The two kinds of error that are not our bug: one a person can act on, one that passes with time."""

from typing import Literal

Outcome = Literal["not_done", "unknown"]


class UserError(Exception):
    """A person can act on it; its text is shown to people as it is, without a traceback."""


class TransientError(Exception):
    """Try later: the work goes back to its row with a delay, people hear of it on the last try only.

    `retry_at` is UTC milliseconds or None for the caller's own backoff. `outcome` says what happened to a write:
    `not_done` means it surely did not happen, `unknown` means look before you repeat.
    """

    def __init__(self, cause: str, retry_at: int | None = None, outcome: Outcome = "not_done") -> None:
        super().__init__(cause)
        self.cause = cause
        self.retry_at = retry_at
        self.outcome = outcome
