"""What is left of the hour."""

from typing import Any

from tests.github.call import Call

GROUP = "rate-limit"
_RESOURCES = ("core", "search", "graphql")


def get(call: Call) -> Any:
    budget, limits = call.world.limits.budget(call.caller.who), call.world.limits
    left = {
        "limit": limits.per_hour,
        "used": budget.used,
        "remaining": limits.per_hour - budget.used,
        "reset": budget.resets_at // 1000,
    }
    return {"resources": {name: dict(left) for name in _RESOURCES}, "rate": left}
