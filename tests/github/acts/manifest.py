"""Register an app by manifest: the form becomes an app, its code is exchanged once within an hour (F-M1, F-M2)."""

import itertools
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.github import auth, events
from tests.github.core.messages import Refused, not_found
from tests.github.core.state import App, User

if TYPE_CHECKING:
    from tests.github.world import World

CODE_LIFE_MS = 3_600_000
# Never the same twice in a process: githubkit caches tokens by app id for the whole of one.
_APP_IDS = itertools.count(900_001)


def new_app(world: "World", owner: User, name: str, manifest: dict[str, Any], pem: str | None = None) -> App:
    """An app with its bot user; `manifest` is `app.yml` or what a form sent."""
    slug = name.lower().replace(" ", "-")
    number = next(_APP_IDS)
    app = App(
        id=number,
        slug=slug,
        name=name,
        owner=owner,
        bot=world.state.user(f"{slug}[bot]"),
        pem=pem or auth.new_private_key(),
        webhook_secret=world.state.random.randbytes(20).hex(),
        permissions=dict(manifest.get("default_permissions") or {}),
        events=list(manifest.get("default_events") or []),
        hook_url=(manifest.get("hook_attributes") or {}).get("url"),
        url=manifest.get("url") or "https://remedy.example",
        client_id=f"Iv23li{number}",
        client_secret=world.state.random.randbytes(20).hex(),
        callback_urls=list(manifest.get("callback_urls") or []),
        setup_url=manifest.get("setup_url") or "",
        created_at=world.clock.now_ms(),
    )
    world.state.apps[app.id] = app
    return app


def register(world: "World", owner: User, name: str, manifest: dict[str, Any]) -> str:
    """The one-time code for an app that a person has just agreed to."""
    problems = [
        f"{field.field}: {field.message}"
        for field in world.spec.schema_faults("app-permissions", manifest.get("default_permissions") or {})
    ]
    unknown = set(manifest.get("default_permissions") or {}) - set(
        world.spec.rest["$defs"]["app-permissions"]["properties"]
    )
    problems += [f"default_permissions: unknown {name}" for name in sorted(unknown)]
    if not manifest.get("url"):
        problems.append("url: missing")
    if problems:
        raise Refused(422, "; ".join(problems))
    hook = (manifest.get("hook_attributes") or {}).get("url") or ""
    if urlsplit(hook).hostname == "localhost":
        raise Refused(422, "hook_attributes.url: Hook URL is not supported because it isn't reachable")  # F-M4
    app = new_app(world, owner, name, manifest)
    if hook:
        events.ping(world, app)
    code = world.state.random.randbytes(20).hex()
    world.state.manifests[code] = (app.id, world.clock.now_ms() + CODE_LIFE_MS)
    return code


def convert(world: "World", code: str) -> App:
    number, expires_at = world.state.manifests.pop(code, (0, 0))
    if expires_at <= world.clock.now_ms():
        raise not_found()
    return world.state.apps[number]
