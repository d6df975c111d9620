"""Who the person of a token is."""

from typing import Any

from tests.github import bodies
from tests.github.call import Call

GROUP = "users"


def get_authenticated(call: Call) -> Any:
    return bodies.user(call.world, call.actor)
