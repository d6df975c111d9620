"""One function for each operation of the description that is served, with the operation's own name (github.md C1)."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tests.github.call import Call
from tests.github.core.permissions import NEEDS
from tests.github.ops import (
    actions,
    apps,
    checks,
    deliveries,
    git,
    issues,
    labels,
    logs,
    people,
    person,
    pulls,
    rate,
    reactions,
    repos,
    reviews,
    site,
    suites,
)

Handler = Callable[[Call], Any]

_MODULES = (
    actions,
    apps,
    checks,
    deliveries,
    git,
    issues,
    labels,
    logs,
    people,
    person,
    pulls,
    rate,
    reactions,
    repos,
    reviews,
    site,
    suites,
)


def _collect(modules: tuple[ModuleType, ...]) -> dict[str, Handler]:
    """Handlers by operation id: `create_comment` of a module whose GROUP is `issues` is `issues/create-comment`."""
    found: dict[str, Handler] = {}
    for module in modules:
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") != module.__name__ or name.startswith("_"):
                continue
            groups = (module.GROUP,) if isinstance(module.GROUP, str) else module.GROUP
            for group in groups:
                identity = f"{group}/{name.replace('_', '-')}"
                if identity in NEEDS:
                    found[identity] = value
    return found


HANDLERS: Mapping[str, Handler] = _collect(_MODULES)
