"""The app's installation: where it is, what it may, whether it is suspended; the clock; raw events."""

from collections.abc import Callable
from typing import Any

from tests.github import events
from tests.github.core.state import Installation
from tests.github.hooks import Delivery, Event
from tests.github.verbs.verb import RepositoryName, Verbs, free_verb, verb


class InstallationVerbs(Verbs):
    @verb
    def install(self, repo: RepositoryName) -> Installation:
        """Add the repository to the owner's installation, which is made when it is the first one."""
        return self.world.install(self.world.state.apps[self.world.app_id], self._repository(repo))

    @verb
    def uninstall(self, repo: RepositoryName) -> None:
        """Take the repository out again."""
        repository = self._repository(repo)
        found = self._installation(repo)
        found.repositories.discard(repository.id)
        events.installation_repositories(self.world, found, ([], [repository]), found.account)

    @verb
    def remove(self, repo: RepositoryName) -> None:
        """The app is taken off the whole account; `install` makes a new installation, with a new number."""
        found = self._installation(repo)
        del self.world.state.installations[found.id]
        events.installation(self.world, "deleted", found, found.account)

    @verb
    def suspend(self, repo: RepositoryName) -> None:
        """The installation is suspended: its tokens die, its events stop."""
        found = self._installation(repo)
        found.suspended_at = self.world.clock.now_ms()
        events.installation(self.world, "suspend", found, found.account)

    @verb
    def unsuspend(self, repo: RepositoryName) -> None:
        found = self._installation(repo)
        found.suspended_at = None
        events.installation(self.world, "unsuspend", found, found.account)

    @verb
    def grant(self, repo: RepositoryName, permission: str, level: str | None) -> None:
        """The owner accepts a permission, or (None) the app loses it; tokens that are out lose it too."""
        found = self._installation(repo)
        held = [
            found.permissions,
            *(t.permissions for t in self.world.state.tokens.values() if t.installation is found),
        ]
        for permissions in held:
            permissions.pop(permission, None)
        if level is not None:
            found.permissions[permission] = level
        events.installation(self.world, "new_permissions_accepted", found, found.account)

    @verb
    def expire_tokens(self) -> None:
        """Every token that is out dies now; a new one can be minted."""
        self.world.state.tokens.clear()

    @verb
    def set_hook(self, url: str | None) -> None:
        """Where the app's webhooks go from now on."""
        self.world.state.apps[self.world.app_id].hook_url = url

    @free_verb
    def clock(self, seconds: float) -> int:
        """Move the clock on; now in UTC milliseconds."""
        self.world.clock.advance(seconds)
        return self.world.clock.now_ms()

    @verb
    def emit(self, repo: RepositoryName, event: str, action: str | None, parts: dict[str, Any]) -> None:
        """Any event, with these parts over the smallest valid payload."""
        repository = self._repository(repo)
        self.world.hooks.emit(Event(event, action, repository, repository.owner, lambda: parts))

    @verb
    def redeliver(self, guid: str) -> Delivery:
        """The button "Redeliver" on the app's page of deliveries."""
        found = next(delivery for delivery in reversed(self.world.hooks.log) if delivery.guid == guid)
        return self.world.hooks.redeliver(found)

    def receive_with(self, receiver: Callable[..., int] | None) -> None:
        """In a test of one process: hand deliveries (headers, body) to a function that returns a status."""
        self.world.hooks.receiver = receiver

    def _installation(self, repo: RepositoryName) -> Installation:
        for found in self.world.state.installations_of(self._repository(repo)):
            if found.app.id == self.world.app_id:
                return found
        raise LookupError(f"the app is not installed on {repo}")
