"""What journeys say again and again: how a pull request turns red, and what people see on it."""

from typing import Any, Protocol

from tests.demo import shop
from tests.github import LocalGitHub
from tests.journeys.world import AUTHOR, REPO


class Place(Protocol):
    """Where people and Remedy meet: a stepped world, or a stage with real processes."""

    github: LocalGitHub


def a_red_pull(world: Place, branch: str = "one-page-minimum") -> int:
    """Ann proposes a change that breaks full pages; CI turns red. The number of the pull request."""
    world.github.push(AUTHOR, REPO, branch, shop.CHANGE)
    pull = world.github.open_pull(AUTHOR, REPO, branch)
    world.github.run_ci()
    return int(pull.thread.number)


def bodies(world: Place, number: int) -> list[str]:
    """The comments of Remedy on a pull request, oldest first."""
    login = f"{world.github.app.slug}[bot]"
    return [comment.body for comment in world.github.comments(f"{REPO}#{number}", login)]


def check_of(world: Place, number: int) -> Any:
    """Remedy's one check on the head of a pull request."""
    ours = world.github.our_checks(f"{REPO}#{number}")
    assert len(ours) == 1, f"{len(ours)} checks of ours on one head"
    return ours[0]


def reactions(comment: Any) -> list[str]:
    """What stands below a comment now."""
    return sorted(reaction.content for reaction in comment.reactions)
