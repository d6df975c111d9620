"""The verbs over HTTP, for a local GitHub that runs as a process: `POST /_double/<verb>` with named values as JSON."""

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from tests.github.core.ci import CheckRun, Job, WorkflowRun
from tests.github.core.gitstore import GitFailed
from tests.github.core.messages import Answer, Request
from tests.github.core.state import App, Pull, Repository, Thread, User
from tests.github.verbs.verb import NAMES

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub

PREFIX = "/_double/"
_JSON = {"Content-Type": "application/json"}
_MISUSE = (LookupError, TypeError, ValueError, GitFailed, TimeoutError)


def handle(github: "LocalGitHub", request: Request) -> Answer:
    """The verb's result as plain data; 400 with a sentence for a wrong use, 404 for an unknown verb."""
    name = request.path.removeprefix(PREFIX).strip("/")
    if name in ("", "_double"):
        return _answer(200, sorted(NAMES | {"complaints"}))
    if name == "complaints":
        return _answer(200, github.complaints())
    if name not in NAMES:
        return _answer(404, {"error": f"no verb {name}"})
    try:
        given = json.loads(request.body) if request.body else dict(request.query)
        return _answer(200, plain(getattr(github, name)(**given)))
    except _MISUSE as error:
        return _answer(400, {"error": f"{type(error).__name__}: {error}"})


def plain(value: Any) -> Any:
    """State as JSON: objects that point at each other become their control names."""
    if isinstance(value, Repository | Thread | Pull):
        return {"name": str(value), **_flat(value)}
    if isinstance(value, User):
        return value.login
    if isinstance(value, App):
        return value.slug
    if isinstance(value, CheckRun | WorkflowRun | Job):
        return _flat(value)
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _flat(value: Any) -> dict[str, Any]:
    """Only what is plain by itself, and people."""
    shown: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if isinstance(item, str | int | float | bool | None | User | App):
            shown[field.name] = plain(item)
        elif isinstance(item, Repository | Thread | Pull):
            shown[field.name] = str(item)
    if isinstance(value, CheckRun):
        shown |= {"head_sha": value.head_sha, "app": value.app.slug, "actions": value.actions}
    if isinstance(value, WorkflowRun):
        shown |= {"head_sha": value.suite.head_sha, "status": value.status, "conclusion": value.conclusion}
    return shown


def _answer(status: int, value: Any) -> Answer:
    return Answer(status, json.dumps(value, ensure_ascii=False).encode(), dict(_JSON))
