"""A proven fix that is not pushed: as suggestions at its lines, or as a patch to take away (PB-3)."""

from collections.abc import Callable

import pytest

from app.ledger.views import scope_view
from app.runs.projection import State, project
from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World, fix


def state_of(world: World, number: int) -> State:
    s = world.services
    with s.read() as conn:
        found = project(scope_view(conn, s.store, world.scope(number).id, s.settings))
    assert found is not None
    return found.state


@pytest.mark.long
def test_a_fix_at_lines_of_the_pull_request_is_suggested_there_PB_3_T37(a_world: Callable[..., World]) -> None:
    world = a_world()
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": "enabled: true\npublish: suggestions\n"})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.result.value) == ("COMPLETED", "handed_over"), run
    assert state_of(world, number) is State.SUGGESTION
    assert check_of(world, number).title == "Fix ready: apply 1 suggestion"
    (review,) = world.github.pull(f"{REPO}#{number}").reviews
    assert review.body.startswith("<!-- remedy:review ")
    (remark,) = [one for one in world.github.world.state.review_comments.values() if one.review is review]
    assert remark.body == "```suggestion\n    return max(1, -(-total // size))\n```"
    assert remark.path == "listing/pages.py"
    assert [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")] == []


def test_a_protected_path_is_proposed_and_never_pushed_PB_3_PB_6(a_world: Callable[..., World]) -> None:
    """The agent goes around the permission to edit; the whole fix is a patch for a person then."""
    commit = "git -c user.name=q -c user.email=q@example.invalid commit -qm notes"
    by_shell = ["sh", "-c", f"echo changed > NOTES.md && git add -A && {commit}"]
    world = a_world({"agent": [{**fix(shop.SECOND_TRY), "run": by_shell}]})
    policy = "enabled: true\nprotected: [NOTES.md]\n"
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": policy, "NOTES.md": "kept\n"})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.result.value) == ("COMPLETED", "handed_over"), run
    assert state_of(world, number) is State.TAKE_AWAY
    assert "git am --3way" in bodies(world, number)[0]
    assert "return max(1, -(-total // size))" in bodies(world, number)[0]
    assert [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")] == []
