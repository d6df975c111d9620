"""Apps, installations and tokens."""

from typing import Any

from tests.github import auth, bodies, events
from tests.github.call import Call
from tests.github.core.messages import Answer, Refused, invalid, not_found
from tests.github.core.permissions import covers
from tests.github.core.state import Installation, Repository

GROUP = "apps"
TOKEN_REPOSITORIES = 500


def get_authenticated(call: Call) -> Any:
    return bodies.app(call.world, call.app)


def list_installations(call: Call) -> Any:
    found = [found for found in call.world.state.installations.values() if found.app is call.app]
    return call.page(found, lambda one: bodies.installation(call.world, one))


def get_installation(call: Call) -> Any:
    return bodies.installation(call.world, _installation(call))


def get_repo_installation(call: Call) -> Any:
    found = call.world.state.find_repository(f"{call.params['owner']}/{call.params['repo']}")
    return bodies.installation(call.world, _of(call, found))


def get_org_installation(call: Call) -> Any:
    return _of_account(call, call.params["org"])


def get_user_installation(call: Call) -> Any:
    return _of_account(call, call.params["username"])


def create_installation_access_token(call: Call) -> Any:
    """A token for the asked repositories and permissions; asking for more than was granted is 422 (F-T3)."""
    found = _installation(call)
    if found.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    repositories = _chosen(call, found)
    wanted: dict[str, str] = call.body.get("permissions") or found.permissions
    for permission, level in wanted.items():
        if not covers(found.permissions, permission, level):
            raise Refused(422, "The permissions requested are not granted to this installation.")
    numbers = frozenset(repository.id for repository in repositories)
    token = auth.mint(call.world, found, numbers, {"metadata": "read", **wanted})
    return {
        "token": token.value,
        "expires_at": auth.expires(token),
        "permissions": token.permissions,
        "repository_selection": "selected",
        **({"repositories": [bodies.repository(call.world, one) for one in repositories]} if call.body else {}),
    }


def list_repos_accessible_to_installation(call: Call) -> Any:
    assert call.caller.token is not None
    found = [call.world.state.repositories[number] for number in sorted(call.caller.token.repositories)]
    return call.page(found, lambda one: bodies.repository(call.world, one), "repositories")


def revoke_installation_access_token(call: Call) -> Any:
    assert call.caller.token is not None
    del call.world.state.tokens[call.caller.token.value]
    return Answer(204)


def suspend_installation(call: Call) -> Any:
    found = _installation(call)
    found.suspended_at = call.world.clock.now_ms()
    events.installation(call.world, "suspend", found, found.account)
    return Answer(204)


def unsuspend_installation(call: Call) -> Any:
    found = _installation(call)
    found.suspended_at = None
    events.installation(call.world, "unsuspend", found, found.account)
    return Answer(204)


def delete_installation(call: Call) -> Any:
    found = _installation(call)
    events.installation(call.world, "deleted", found, found.account)
    del call.world.state.installations[found.id]
    return Answer(204)


def get_webhook_config_for_app(call: Call) -> Any:
    return _hook_config(call)


def update_webhook_config_for_app(call: Call) -> Any:
    call.app.hook_url = call.body.get("url", call.app.hook_url)
    call.app.webhook_secret = call.body.get("secret", call.app.webhook_secret)
    return _hook_config(call)


def _hook_config(call: Call) -> Any:
    return {"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": call.app.hook_url or ""}


def _installation(call: Call) -> Installation:
    found = call.world.state.installations.get(call.params["installation_id"])
    if found is None or found.app is not call.app:
        raise not_found()
    return found


def _of(call: Call, repository: Repository | None) -> Installation:
    if repository is not None:
        for found in call.world.state.installations_of(repository):
            if found.app is call.app:
                return found
    raise not_found()


def _of_account(call: Call, login: str) -> Any:
    for found in call.world.state.installations.values():
        if found.app is call.app and found.account.login.lower() == login.lower():
            return bodies.installation(call.world, found)
    raise not_found()


def _chosen(call: Call, installation: Installation) -> list[Repository]:
    """The repositories of the body, all of the installation without one; an unknown one is 422."""
    held = {number: call.world.state.repositories[number] for number in sorted(installation.repositories)}
    by_name = {repository.name: repository for repository in held.values()}
    numbers, names = call.body.get("repository_ids"), call.body.get("repositories")
    if numbers is None and names is None:
        return list(held.values())
    asked: list[Repository | None] = [held.get(number) for number in numbers or []]
    asked += [by_name.get(name) for name in names or []]
    if len(asked) > TOKEN_REPOSITORIES:
        raise invalid("InstallationAccessToken", "repository_ids")
    chosen = [repository for repository in asked if repository is not None]
    if len(chosen) != len(asked):
        text = "There is at least one repository that does not exist or is not accessible to the parent installation."
        raise Refused(422, text)
    return chosen
