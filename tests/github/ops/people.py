"""What an app asks in a person's name: where she and the app both are."""

from typing import Any

from tests.github import bodies
from tests.github.auth import can_read
from tests.github.call import Call
from tests.github.core.messages import not_found
from tests.github.core.state import Installation, Repository

GROUP = "apps"


def list_installations_for_authenticated_user(call: Call) -> Any:
    found = [
        one for one in call.world.state.installations.values() if one.app is call.caller.app and _shared(call, one)
    ]
    return call.page(found, lambda one: bodies.installation(call.world, one), "installations")


def list_installation_repos_for_authenticated_user(call: Call) -> Any:
    found = call.world.state.installations.get(call.params["installation_id"])
    if found is None or found.app is not call.caller.app or not _shared(call, found):
        raise not_found()
    return call.page(_shared(call, found), lambda one: bodies.repository(call.world, one), "repositories")


def _shared(call: Call, installation: Installation) -> list[Repository]:
    held = [call.world.state.repositories[number] for number in sorted(installation.repositories)]
    return [repository for repository in held if can_read(repository, call.actor)]
