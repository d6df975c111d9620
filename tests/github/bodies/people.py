"""Users, organisations, apps and installations as JSON."""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.github.core.clock import iso
from tests.github.core.state import App, Installation, User

if TYPE_CHECKING:
    from tests.github.world import World

_LINKS = ("organizations", "repos", "received_events", "subscriptions", "followers")
_TEMPLATES = {
    "following_url": "following{/other_user}",
    "gists_url": "gists{/gist_id}",
    "starred_url": "starred{/owner}{/repo}",
    "events_url": "events{/privacy}",
}


def node_id(prefix: str, number: int) -> str:
    return f"{prefix}_kwDO{number:x}"


def user(world: "World", who: User) -> dict[str, Any]:
    """A bot's login is percent-encoded in every URL, or the format `uri` refuses it (github.md, D-3)."""
    login = quote(who.login)
    url = f"{world.api_url}/users/{login}"
    page = (
        f"{world.web_url}/apps/{login.removesuffix('%5Bbot%5D')}" if who.type == "Bot" else f"{world.web_url}/{login}"
    )
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id("U", who.id),
        "avatar_url": f"{world.web_url}/_avatar/{who.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": page,
        "type": who.type,
        "user_view_type": "public",
        "site_admin": False,
        "created_at": iso(0),
        "updated_at": iso(0),
        **{f"{name}_url": f"{url}/{name}" for name in _LINKS},
        **{name: f"{url}/{rest}" for name, rest in _TEMPLATES.items()},
    }


def organization(world: "World", who: User) -> dict[str, Any]:
    url = f"{world.api_url}/orgs/{quote(who.login)}"
    names = ("repos", "events", "hooks", "issues")
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id("O", who.id),
        "url": url,
        **{f"{name}_url": f"{url}/{name}" for name in names},
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{world.web_url}/_avatar/{who.id}",
        "description": None,
    }


def app(world: "World", found: App) -> dict[str, Any]:
    return {
        "id": found.id,
        "slug": found.slug,
        "client_id": found.client_id,
        "node_id": node_id("A", found.id),
        "owner": user(world, found.owner),
        "name": found.name,
        "description": "",
        "external_url": found.url,
        "html_url": f"{world.web_url}/apps/{found.slug}",
        "created_at": iso(found.created_at),
        "updated_at": iso(found.created_at),
        "permissions": found.permissions,
        "events": found.events,
        "installations_count": sum(i.app is found for i in world.state.installations.values()),
    }


def installation(world: "World", found: Installation) -> dict[str, Any]:
    url = f"{world.api_url}/app/installations/{found.id}"
    return {
        "id": found.id,
        "account": user(world, found.account),
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{world.api_url}/installation/repositories",
        "html_url": settings_url(world, found),
        "app_id": found.app.id,
        "app_slug": found.app.slug,
        "client_id": found.app.client_id,
        "target_id": found.account.id,
        "target_type": found.account.type,
        "permissions": found.permissions,
        "events": found.events,
        "created_at": iso(found.created_at),
        "updated_at": iso(found.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user(world, found.account) if found.suspended_at is not None else None,
        "suspended_at": iso(found.suspended_at),
    }


def settings_url(world: "World", found: Installation) -> str:
    if found.account.type == "Organization":
        return f"{world.web_url}/organizations/{found.account.login}/settings/installations/{found.id}"
    return f"{world.web_url}/settings/installations/{found.id}"
