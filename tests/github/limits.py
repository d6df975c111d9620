"""Rate limits on the injected clock: per hour, points a minute, new content, requests at once (github.md C10)."""

from collections import deque
from dataclasses import dataclass, field

from tests.github.core.clock import Clock
from tests.github.core.messages import Refused

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
PER_HOUR = 5000
POINTS_A_MINUTE = 900
CONTENT_A_MINUTE = 80
CONTENT_AN_HOUR = 500
AT_ONCE = 100
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)
# Operations that make something people are told about (F-R2).
CONTENT = frozenset(
    {
        "issues/create",
        "issues/create-comment",
        "pulls/create",
        "pulls/create-review",
        "pulls/create-review-comment",
        "reactions/create-for-issue",
        "reactions/create-for-issue-comment",
        "reactions/create-for-pull-request-review-comment",
    }
)


@dataclass
class Budget:
    """One installation's hour and its last writes."""

    resets_at: int
    used: int = 0
    points: deque[tuple[int, int]] = field(default_factory=deque)
    content: deque[int] = field(default_factory=deque)


class Limits:
    """Counts every request; off for a GitHub Enterprise Server (F-R9)."""

    def __init__(self, clock: Clock, *, on: bool = True) -> None:
        self._clock = clock
        self.on = on
        self.per_hour = PER_HOUR
        self.at_once = 0
        self._budgets: dict[str, Budget] = {}

    def budget(self, who: str) -> Budget:
        now = self._clock.now_ms()
        found = self._budgets.get(who)
        if found is None or found.resets_at <= now:
            found = self._budgets[who] = Budget(now + HOUR_MS)
        return found

    def charge(self, who: str, method: str, operation: str) -> None:
        """Count one request; raises Refused with GitHub's headers when a limit is passed."""
        if not self.on:
            return
        budget, now = self.budget(who), self._clock.now_ms()
        if budget.used >= self.per_hour:
            raise primary(self, who)
        if self.at_once > AT_ONCE:
            raise secondary()
        _forget(budget, now)
        points = 1 if method in ("GET", "HEAD") else 5
        minute = [at for at in budget.content if at > now - MINUTE_MS]
        if sum(cost for _, cost in budget.points) + points > POINTS_A_MINUTE:
            raise secondary()
        if operation in CONTENT and (len(minute) >= CONTENT_A_MINUTE or len(budget.content) >= CONTENT_AN_HOUR):
            raise secondary()
        budget.used += 1
        budget.points.append((now, points))
        if operation in CONTENT:
            budget.content.append(now)

    def refund(self, who: str) -> None:
        """A 304 costs nothing (F-R5)."""
        if self.on:
            self.budget(who).used -= 1

    def headers(self, who: str) -> dict[str, str]:
        if not self.on:
            return {}
        budget = self.budget(who)
        return {
            "X-RateLimit-Limit": str(self.per_hour),
            "X-RateLimit-Remaining": str(max(self.per_hour - budget.used, 0)),
            "X-RateLimit-Reset": str(budget.resets_at // 1000),
            "X-RateLimit-Used": str(budget.used),
            "X-RateLimit-Resource": "core",
        }


def primary(limits: Limits, who: str) -> Refused:
    """403 with nothing left until the reset."""
    budget = limits.budget(who)
    budget.used = max(budget.used, limits.per_hour)
    return Refused(403, f"API rate limit exceeded for {who}.", headers=limits.headers(who))


def secondary(retry_after_s: int | None = 60) -> Refused:
    """403 with `retry-after`, or with no header at all: the mode that only the body tells (D-37)."""
    headers = {"Retry-After": str(retry_after_s)} if retry_after_s is not None else {}
    return Refused(403, _SECONDARY, headers=headers)


def _forget(budget: Budget, now: int) -> None:
    while budget.points and budget.points[0][0] <= now - MINUTE_MS:
        budget.points.popleft()
    while budget.content and budget.content[0] <= now - HOUR_MS:
        budget.content.popleft()
