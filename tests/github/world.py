"""The one object that all parts of the local GitHub share; a transaction guards the state and lets events leave."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.github import events
from tests.github.core import spec
from tests.github.core.clock import Clock
from tests.github.core.record import Record
from tests.github.core.state import App, Installation, Repository, State
from tests.github.faults import Faults
from tests.github.hooks import Hooks
from tests.github.limits import Limits
from tests.github.runner.queue import Runner


@dataclass(frozen=True)
class Options:
    """`id_rule`: a job's id equals its check run's (F-A1). `auto_ci`: jobs run by themselves on a thread.

    `strict`: leaving the context manager verifies. `seed`: tokens, GUIDs and secrets of one seed are the same.
    """

    ghes: bool = False
    ghes_version: str = "3.19.2"
    id_rule: bool = True
    auto_ci: bool = False
    job_seconds: float = 120
    artifact_days: int = 90
    seed: int = 0
    strict: bool = True


class World:
    """State, clock, webhooks, faults, limits and CI of one local GitHub. `folder` holds its repositories and logs."""

    def __init__(self, folder: Path, clock: Clock, options: Options) -> None:
        self.folder = folder
        self.clock = clock
        self.options = options
        self.spec = spec.load()
        self.state = State(seed=options.seed)
        self.record = Record()
        self.faults = Faults()
        self.limits = Limits(clock, on=not options.ghes)
        self.hooks = Hooks(self)
        self.runner = Runner(self)
        self.app_id = 0
        self.api_url = ""
        self.web_url = ""
        self.store_url = ""
        self.lock = threading.RLock()
        self._depth = 0

    def install(self, app: App, repository: Repository) -> Installation:
        """Add a repository to the account's installation of an app, made when it is the first, with its event."""
        for found in self.state.installations.values():
            if found.app is app and found.account is repository.owner:
                found.repositories.add(repository.id)
                events.installation_repositories(self, found, ([repository], []), repository.owner)
                return found
        made = Installation(
            id=self.state.new_id(),
            app=app,
            account=repository.owner,
            repositories={repository.id},
            permissions=dict(app.permissions),
            events=list(app.events),
            created_at=self.clock.now_ms(),
        )
        self.state.installations[made.id] = made
        events.installation(self, "created", made, repository.owner)
        return made

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the state; the events of the outermost transaction leave together when it ends."""
        with self.lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.hooks.flush()
                    self.runner.wake()
