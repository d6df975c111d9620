"""How a verb runs: in a transaction, then waiting until its webhooks are delivered; and what names it takes."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from tests.github.core.ci import CheckRun, WorkflowRun
from tests.github.core.messages import Refused
from tests.github.core.state import Comment, Pull, Repository, Thread, User

if TYPE_CHECKING:
    from tests.github.world import World

Args = ParamSpec("Args")
Result = TypeVar("Result")
RepositoryName = Repository | str
ThreadName = Thread | Pull | str
CheckName = CheckRun | int
NAMES: set[str] = set()


class Verbs:
    """Finds what a verb's arguments name: objects as they are, or text and numbers from the control API."""

    world: "World"

    def _repository(self, name: RepositoryName) -> Repository:
        found = name if isinstance(name, Repository) else self.world.state.find_repository(name)
        if found is None:
            raise LookupError(f"no repository {name}")
        return found

    def _thread(self, name: ThreadName) -> Thread:
        """`owner/name#7`, or the object."""
        if isinstance(name, Pull):
            return name.thread
        if isinstance(name, Thread):
            return name
        repository, _, number = name.partition("#")
        return self._repository(repository).threads[int(number)]

    def _pull(self, name: ThreadName) -> Pull:
        pull = self._thread(name).pull
        if pull is None:
            raise LookupError(f"{name} is an issue")
        return pull

    def _check(self, name: CheckName) -> CheckRun:
        return name if isinstance(name, CheckRun) else self.world.state.checks[name]

    def _comment(self, name: Comment | int) -> Comment:
        return name if isinstance(name, Comment) else self.world.state.comments[name]

    def _run(self, name: WorkflowRun | int) -> WorkflowRun:
        return name if isinstance(name, WorkflowRun) else self.world.state.runs[name]

    def _user(self, name: User | str) -> User:
        return name if isinstance(name, User) else self.world.state.user(name)


def verb(function: Callable[Args, Result]) -> Callable[Args, Result]:
    """Run in one transaction, then wait for the deliveries that it caused."""
    return _named(function, in_transaction=True)


def free_verb(function: Callable[Args, Result]) -> Callable[Args, Result]:
    """The same without a transaction, for what takes long."""
    return _named(function, in_transaction=False)


def reading(function: Callable[Args, Result]) -> Callable[Args, Result]:
    """Only offered to the control API; changes nothing, waits for nothing."""
    NAMES.add(function.__name__)
    return function


def _named(function: Callable[Args, Result], *, in_transaction: bool) -> Callable[Args, Result]:
    NAMES.add(function.__name__)

    @functools.wraps(function)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Result:
        world: World = args[0].world  # type: ignore[attr-defined]
        try:
            if not in_transaction:
                result = function(*args, **kwargs)
            else:
                with world.transaction():
                    result = function(*args, **kwargs)
        except Refused as refused:
            raise ValueError(f"GitHub refuses: {refused.status} {refused.message} {refused.errors or ''}") from refused
        world.hooks.settle()
        return result

    return run
