"""What an agent does against the rules inside its workspace reaches nobody (runners.md, 5; security.md, S48)."""

import subprocess
from collections.abc import Callable

from sqlalchemy import select

from app.ledger.schema import publications
from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies
from tests.journeys.world import REPO, World, fix


def test_a_commit_as_somebody_else_is_published_as_ours(a_world: Callable[..., World]) -> None:
    """RN-31, S27: the agent commits under another name; what is pushed is the host's own commit of the proven tree."""
    world = a_world({"agent": [fix(shop.SECOND_TRY)]})
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", run.error
    with world.services.read() as conn:
        (pushed,) = conn.execute(select(publications.c.pushed_sha)).scalars()
    (store,) = (world.settings.data / "repos").glob("*.git")
    command = ("git", "-C", str(store), "log", "-1", "--format=%an %ae %cn", pushed)
    who = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert who.split()[0] == who.split()[-1] == "remedy[bot]" and "example.invalid" not in who


def test_a_workflow_changed_by_shell_is_not_published(a_world: Callable[..., World]) -> None:
    """RN-31, S48: permission rules are guidance; the check of the resulting diff is the wall."""
    escape = {"do": "escape", "path": ".github/workflows/ci.yml"}
    world = a_world({"agent": [[escape, fix(shop.SECOND_TRY)]]})
    number = a_red_pull(world)

    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "BLOCKED", run and run.status
    assert not [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")]
    assert ".github/workflows/ci.yml" in bodies(world, number)[0]
