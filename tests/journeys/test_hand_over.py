"""A proven fix that is not pushed: as suggestions at its lines, or as a patch to take away (PB-3)."""

from collections.abc import Callable

import pytest

from app.ledger.views import scope_view
from app.runs.projection import State, project
from tests.demo import shop
from tests.journeys import quick
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, TIMES, World, fix


def state_of(world: World, number: int) -> State:
    s = world.services
    with s.read() as conn:
        found = project(scope_view(conn, s.store, world.scope(number).id, s.settings))
    assert found is not None
    return found.state


@pytest.mark.long
def test_a_fix_at_lines_of_the_pull_request_is_suggested_there_PB_3_T37(a_world: Callable[..., World]) -> None:
    world = a_world()
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": f"{quick.POLICY}publish: suggestions\n"})
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


def test_no_push_follows_a_persons_push_within_the_quiet_time_PB_6_W50(a_world: Callable[..., World]) -> None:
    """Mode commit alone: the author's own branch. A head that moves begins the time anew."""
    world = a_world(times={**TIMES, "push_quiet_s": 3600})
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": f"{quick.POLICY}publish: commit\n"})
    number = a_red_pull(world)
    waiting = world.step_to("publish")
    assert world.run("publish", waiting) == "waiting"

    world.github.push(AUTHOR, REPO, "one-page-minimum", {"README.md": "# Listing\n\nNew words.\n"})
    moved = world.github.pull(f"{REPO}#{number}").head_sha
    world.pass_time(3600)
    world.step_until_quiet()
    again = next(item for job, item in reversed(world.did) if job == "publish")
    assert again != waiting, "the whole was proved on the new head"
    assert world.github.pull(f"{REPO}#{number}").head_sha == moved

    world.pass_time(3600)
    assert world.step_to("publish") == again
    assert world.run("publish", again) == "pushed"
    assert world.github.pull(f"{REPO}#{number}").head_sha != moved


def test_a_protected_path_is_proposed_and_never_pushed_PB_3_PB_6(a_world: Callable[..., World]) -> None:
    """The agent goes around the permission to edit; the whole fix is a patch for a person then."""
    commit = "git -c user.name=q -c user.email=q@example.invalid commit -qm notes"
    by_shell = ["sh", "-c", f"echo changed > NOTES.md && git add -A && {commit}"]
    world = a_world({"agent": [{**fix(shop.SECOND_TRY), "run": by_shell}]})
    policy = f"{quick.POLICY}protected: [NOTES.md]\n"
    world.github.push(AUTHOR, REPO, "main", {".github/remedy.yml": policy, "NOTES.md": "kept\n"})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.result.value) == ("COMPLETED", "handed_over"), run
    assert state_of(world, number) is State.TAKE_AWAY
    assert "git am --3way" in bodies(world, number)[0]
    assert "return max(1, -(-total // size))" in bodies(world, number)[0]
    assert [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")] == []
