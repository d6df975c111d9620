"""One function for each webhook: which parts its payload has and who hears it."""

from typing import TYPE_CHECKING, Any

from tests.github import bodies
from tests.github.core.ci import CheckRun, CheckSuite, Job, WorkflowRun
from tests.github.core.gitstore import NO_SHA
from tests.github.core.state import App, Comment, Installation, Pull, Repository, Review, ReviewComment, Thread, User
from tests.github.hooks import Event

if TYPE_CHECKING:
    from tests.github.world import World

# These are sent to the app that owns the check and to nobody else (github.md, F-E2).
_OWNER_ONLY = {"requested_action", "rerequested", "requested"}


def check_run(world: "World", action: str, check: CheckRun, sender: User, identifier: str | None = None) -> None:
    def parts() -> dict[str, Any]:
        extra = {"requested_action": {"identifier": identifier}} if identifier is not None else {}
        return {"check_run": bodies.check_run(world, check, hook=True), **extra}

    only = check.app if action in _OWNER_ONLY else None
    world.hooks.emit(Event("check_run", action, check.repository, sender, parts, only))


def check_suite(world: "World", action: str, suite: CheckSuite, sender: User) -> None:
    only = suite.app if action in _OWNER_ONLY else None
    event = Event("check_suite", action, suite.repository, sender, lambda: _suite(world, suite), only)
    world.hooks.emit(event)


def workflow_run(world: "World", action: str, run: WorkflowRun) -> None:
    def parts() -> dict[str, Any]:
        return {
            "workflow_run": bodies.workflow_run(world, run),
            "workflow": bodies.workflow(world, run.repository, run),
        }

    world.hooks.emit(Event("workflow_run", action, run.repository, run.actor, parts))


def workflow_job(world: "World", action: str, job: Job) -> None:
    event = Event(
        "workflow_job", action, job.run.repository, job.run.actor, lambda: {"workflow_job": bodies.job(world, job)}
    )
    world.hooks.emit(event)


def push(world: "World", repository: Repository, ref: str, moved: tuple[str, str], sender: User) -> None:
    old, new = moved

    def parts() -> dict[str, Any]:
        git = repository.git
        known = old != NO_SHA and new != NO_SHA
        listed = git.commits(f"{old}..{new}" if known else new, 20) if new != NO_SHA else []
        page = f"{world.web_url}/{repository.full_name}"
        return {
            "ref": ref,
            "before": old,
            "after": new,
            "created": old == NO_SHA,
            "deleted": new == NO_SHA,
            "forced": known and not git.is_ancestor(old, new),
            "base_ref": None,
            "compare": f"{page}/compare/{old[:12]}...{new[:12]}",
            "commits": [bodies.simple_commit(world, repository, found.sha) for found in reversed(listed)],
            "head_commit": bodies.simple_commit(world, repository, new) if new != NO_SHA else None,
            "pusher": {"name": sender.login, "email": sender.email},
        }

    world.hooks.emit(Event("push", None, repository, sender, parts))


def pull_request(world: "World", action: str, pull: Pull, sender: User, extra: dict[str, Any] | None = None) -> None:
    def parts() -> dict[str, Any]:
        return {"number": pull.number, "pull_request": bodies.pull(world, pull), **(extra or {})}

    world.hooks.emit(Event("pull_request", action, pull.repository, sender, parts))


def issues(world: "World", action: str, thread: Thread, sender: User, extra: dict[str, Any] | None = None) -> None:
    event = Event(
        "issues", action, thread.repository, sender, lambda: {"issue": bodies.issue(world, thread), **(extra or {})}
    )
    world.hooks.emit(event)


def issue_comment(
    world: "World", action: str, comment: Comment, sender: User, extra: dict[str, Any] | None = None
) -> None:
    def parts() -> dict[str, Any]:
        body = {"issue": bodies.issue(world, comment.thread), "comment": bodies.comment(world, comment)}
        return {**body, **(extra or {})}

    world.hooks.emit(Event("issue_comment", action, comment.thread.repository, sender, parts))


def review(world: "World", found: Review) -> None:
    def parts() -> dict[str, Any]:
        return {"review": bodies.review(world, found, hook=True), "pull_request": bodies.pull(world, found.pull)}

    world.hooks.emit(Event("pull_request_review", "submitted", found.pull.repository, found.user, parts))


def review_comment(world: "World", found: ReviewComment) -> None:
    def parts() -> dict[str, Any]:
        return {"comment": bodies.review_comment(world, found), "pull_request": bodies.pull(world, found.pull)}

    world.hooks.emit(Event("pull_request_review_comment", "created", found.pull.repository, found.user, parts))


def merge_group(world: "World", repository: Repository, group: dict[str, str], sender: User) -> None:
    """`group` has head_sha, head_ref, base_sha and base_ref."""

    def parts() -> dict[str, Any]:
        return {"merge_group": {**group, "head_commit": bodies.simple_commit(world, repository, group["head_sha"])}}

    world.hooks.emit(Event("merge_group", "checks_requested", repository, sender, parts))


def installation(world: "World", action: str, found: Installation, sender: User) -> None:
    def parts() -> dict[str, Any]:
        listed = [world.state.repositories[number] for number in sorted(found.repositories)]
        return {
            "installation": bodies.installation(world, found),
            "repositories": [_short(repository) for repository in listed],
            "requester": None,
        }

    world.hooks.emit_to(found, Event("installation", action, None, sender, parts))


def installation_repositories(
    world: "World", found: Installation, changed: tuple[list[Repository], list[Repository]], sender: User
) -> None:
    added, removed = changed

    def parts() -> dict[str, Any]:
        return {
            "installation": bodies.installation(world, found),
            "repository_selection": "selected",
            "repositories_added": [_short(repository) for repository in added],
            "repositories_removed": [_short(repository) for repository in removed],
            "requester": None,
        }

    action = "added" if added else "removed"
    world.hooks.emit_to(found, Event("installation_repositories", action, None, sender, parts))


def ping(world: "World", app: App) -> None:
    """The first delivery of an app: it has no installation yet."""

    def parts() -> dict[str, Any]:
        return {"zen": "Design for failure.", "hook_id": app.id + 1000, "hook": {"type": "App", "app_id": app.id}}

    world.hooks.emit_to_app(app, Event("ping", None, None, app.owner, parts))


def _suite(world: "World", suite: CheckSuite) -> dict[str, Any]:
    return {"check_suite": bodies.check_suite(world, suite)}


def _short(repository: Repository) -> dict[str, Any]:
    return {
        "id": repository.id,
        "node_id": bodies.node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
    }
