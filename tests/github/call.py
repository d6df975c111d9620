"""What one operation is given: who asks, for what, with which values; and how it answers lists."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from tests.github.auth import Caller
from tests.github.core.ci import CheckRun, CheckSuite, Job, WorkflowRun
from tests.github.core.messages import Request, not_found
from tests.github.core.spec import Operation
from tests.github.core.state import App, Comment, Pull, Repository, Thread, User

if TYPE_CHECKING:
    from tests.github.world import World

PER_PAGE = 30
PER_PAGE_LIMIT = 100
Item = TypeVar("Item")
Owned = TypeVar("Owned", CheckRun, CheckSuite, WorkflowRun)


@dataclass
class Call:
    """One valid, permitted request. `query` and `body` hold typed values; `headers` go on the answer."""

    world: "World"
    operation: Operation
    request: Request
    caller: Caller
    params: dict[str, Any]
    query: dict[str, Any]
    body: dict[str, Any]
    found: Repository | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Repository:
        if self.found is None:
            raise not_found()
        return self.found

    @property
    def actor(self) -> User:
        return self.caller.actor

    @property
    def author(self) -> tuple[User, App | None]:
        """Whose name a new thing carries, and through which app it was made."""
        return self.caller.actor, self.caller.app

    @property
    def app(self) -> App:
        if self.caller.app is None:
            raise not_found()
        return self.caller.app

    @property
    def thread(self) -> Thread:
        found = self.repository.threads.get(self.params["issue_number"])
        if found is None:
            raise not_found()
        return found

    @property
    def pull(self) -> Pull:
        found = self.repository.threads.get(self.params["pull_number"])
        if found is None or found.pull is None:
            raise not_found()
        return found.pull

    @property
    def comment(self) -> Comment:
        found = self.world.state.comments.get(self.params["comment_id"])
        if found is None or found.thread.repository is not self.repository:
            raise not_found()
        return found

    @property
    def check(self) -> CheckRun:
        return self._owned(self.world.state.checks, "check_run_id")

    @property
    def suite(self) -> CheckSuite:
        return self._owned(self.world.state.suites, "check_suite_id")

    @property
    def run(self) -> WorkflowRun:
        return self._owned(self.world.state.runs, "run_id")

    @property
    def job(self) -> Job:
        found = self.world.state.jobs.get(self.params["job_id"])
        if found is None or found.run.repository is not self.repository:
            raise not_found()
        return found

    def sha(self, name: str) -> str:
        """The commit that a ref of the path names; 404 if there is none."""
        found = self.repository.git.resolve(name)
        if found is None:
            raise not_found()
        return found

    def page(self, items: Sequence[Item], render: Callable[[Item], Any], key: str | None = None) -> Any:
        """One page of a list with its `Link` header; under `key` with `total_count` when the operation wraps it."""
        size = min(self.query.get("per_page", PER_PAGE), PER_PAGE_LIMIT)
        number = max(self.query.get("page", 1), 1)
        last = max((len(items) + size - 1) // size, 1)
        rels = {"prev": number - 1, "first": 1} if number > 1 else {}
        rels |= {"next": number + 1, "last": last} if number < last else {}
        self.link({rel: {"page": str(at)} for rel, at in rels.items()})
        shown = [render(item) for item in items[(number - 1) * size : number * size]]
        return {"total_count": len(items), key: shown} if key is not None else shown

    def link(self, rels: dict[str, dict[str, str]]) -> None:
        """The `Link` header: this request again with the given values changed."""
        url = f"{self.world.api_url}{self.request.path.removeprefix('/api/v3')}"
        links = [f'<{url}?{urlencode(dict(self.request.query) | change)}>; rel="{rel}"' for rel, change in rels.items()]
        if links:
            self.headers["Link"] = ", ".join(links)

    def _owned(self, table: dict[int, Owned], name: str) -> Owned:
        found = table.get(self.params[name])
        if found is None or found.repository is not self.repository:
            raise not_found()
        return found
