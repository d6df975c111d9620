"""What follows when a ref moves: pull requests move, merge or close, suites are made, CI starts (github.md D-25)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.github import events
from tests.github.acts import threads
from tests.github.core.ci import CheckSuite
from tests.github.core.gitstore import NO_SHA
from tests.github.core.permissions import covers
from tests.github.core.state import Pull, Repository, User

if TYPE_CHECKING:
    from tests.github.world import World

BRANCHES = "refs/heads/"


@dataclass(frozen=True)
class Moved:
    """A ref that moved; NO_SHA stands for none. `starts_ci` is false for pushes by a GITHUB_TOKEN (F-L1)."""

    repository: Repository
    ref: str
    old: str
    new: str
    actor: User
    starts_ci: bool = True

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(BRANCHES)


def ref_moved(world: "World", moved: Moved) -> None:
    """Everything that GitHub does after a push; the ref itself is already where it should be."""
    repository = moved.repository
    repository.pushed_at = world.clock.now_ms()
    if moved.starts_ci:
        events.push(world, repository, moved.ref, (moved.old, moved.new), moved.actor)
    if not moved.ref.startswith(BRANCHES):
        return
    if moved.new == NO_SHA:
        _close_orphans(world, moved)
        return
    followed = _follow_heads(world, moved)
    _notice_merges(world, moved)
    if moved.starts_ci:
        make_app_suites(world, moved)
        world.runner.on_push(moved)
        for pull in followed:
            world.runner.on_pull(pull, "synchronize", moved.actor)


def make_app_suites(world: "World", moved: Moved) -> None:
    """Every app with `checks: write` gets an empty suite of its own and hears that it was requested."""
    for installation in world.state.installations_of(moved.repository):
        if covers(installation.permissions, "checks", "write") and installation.suspended_at is None:
            if any(s.app is installation.app for s in world.state.suites_of(moved.repository, moved.new)):
                continue
            now = world.clock.now_ms()
            suite = CheckSuite(
                world.state.new_id(), moved.repository, installation.app, moved.new, moved.branch, moved.old, now, now
            )
            world.state.suites[suite.id] = suite
            events.check_suite(world, "requested", suite, moved.actor)


def point_pull(pull: Pull, sha: str) -> None:
    """The head of a pull request and its `refs/pull/N/head`, with the objects of a fork brought over."""
    pull.head_sha = sha
    ref = f"refs/pull/{pull.number}/head"
    if pull.is_from_fork:
        pull.repository.git.fetch(pull.head_repository.git, f"+{sha}:{ref}")
    else:
        pull.repository.git.set_ref(ref, sha)


def _follow_heads(world: "World", moved: Moved) -> list[Pull]:
    """Open pull requests whose head is this branch, in this repository or in one that it was forked from."""
    found = [
        pull
        for repository in world.state.repositories.values()
        for pull in repository.pulls
        if pull.state == "open" and pull.head_repository is moved.repository and pull.head_ref == moved.branch
    ]
    for pull in found:
        before = pull.head_sha
        point_pull(pull, moved.new)
        threads.touch(world, pull.thread)
        events.pull_request(world, "synchronize", pull, moved.actor, {"before": before, "after": moved.new})
    return found


def _notice_merges(world: "World", moved: Moved) -> None:
    """A base that now holds the head closes the pull request as merged; other pulls only see their base move."""
    for pull in moved.repository.pulls:
        if pull.state != "open" or pull.base_ref != moved.branch:
            continue
        if moved.repository.git.is_ancestor(pull.head_sha, moved.new):
            mark_merged(world, pull, moved.new, moved.actor)
        else:
            pull.base_sha = moved.new


def mark_merged(world: "World", pull: Pull, sha: str, actor: User) -> None:
    pull.merged_at = world.clock.now_ms()
    pull.merged_by = actor
    pull.merge_commit_sha = sha
    threads.set_state(world, pull.thread, "closed", actor)


def _close_orphans(world: "World", moved: Moved) -> None:
    """A branch is gone: pull requests from it close, those onto it go to the branch that it was merged into."""
    for repository in world.state.repositories.values():
        for pull in [pull for pull in repository.pulls if pull.state == "open"]:
            if pull.head_repository is moved.repository and pull.head_ref == moved.branch:
                threads.set_state(world, pull.thread, "closed", moved.actor)
            elif repository is moved.repository and pull.base_ref == moved.branch:
                _retarget(world, pull, moved)


def _retarget(world: "World", pull: Pull, moved: Moved) -> None:
    outer = [p for p in moved.repository.pulls if p.head_ref == moved.branch and p.merged_at is not None]
    if not outer:
        threads.set_state(world, pull.thread, "closed", moved.actor)
        return
    set_base(world, pull, outer[-1].base_ref, moved.actor)


def set_base(world: "World", pull: Pull, base: str, actor: User) -> None:
    """Another base branch, with its `edited` event."""
    sha = pull.repository.git.resolve(base)
    if sha is None or base == pull.base_ref:
        return
    changes = {"base": {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}}
    pull.base_ref, pull.base_sha = base, sha
    threads.touch(world, pull.thread)
    events.pull_request(world, "edited", pull, actor, {"changes": changes})
