"""A fork from the red check to the patch that its author takes away (FK-1 to FK-4, W62, I10, UX-X4)."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from app.runs.projection import State
from tests.journeys.threads.place import FORK, Place
from tests.journeys.threads.shown import assert_as_agreed, shown
from tests.journeys.threads.test_states_of_runs import RIGHT, state_of, walk
from tests.journeys.world import MAINTAINER, REPO


@pytest.mark.timeout(300)
def test_a_fork_waits_then_gets_a_patch_that_applies(a_red_place: Callable[..., Place], tmp_path: Path) -> None:
    place, number = a_red_place({"agent": [RIGHT]}, fork=True), 1
    told: dict[State, str] = {}
    walk(place, told)
    assert state_of(place) is State.PLAN_REVIEW and place.runs() == []
    assert not [job for job, _ in place.world.did if job in ("turn", "prove", "publish")], "nothing of it ran"

    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    walk(place, told, State.TAKE_AWAY)
    assert_as_agreed("run-15-take-away-of-a-fork", shown(place, number))

    pushes = [asked for asked in place.github.log() if asked.path.endswith("/git-receive-pack")]
    assert not [asked for asked in pushes if asked.who.startswith("installation:")], "never a push"
    assert [pull.thread.number for pull in place.github.pulls(REPO)] == [number]
    _takes_it_away(place, place.comments(number)[0], tmp_path)


def _takes_it_away(place: Place, comment: str, folder: Path) -> None:
    """What the author does: check the branch out, paste the command, push; CI is green then."""
    (script,) = re.findall(r"```sh\n(git am.*?)```", comment, re.DOTALL)
    clone = folder / "clone"
    fork = place.github.world.state.find_repository(FORK).git.path
    subprocess.run(["git", "clone", "-q", "-b", "patch-1", fork, clone], check=True)
    for name in ("user.name", "user.email"):
        subprocess.run(["git", "config", name, "eve@example.invalid"], cwd=clone, check=True)
    subprocess.run(["bash", "-c", script], cwd=clone, check=True, capture_output=True)
    assert "max(1, -(-total // size))" in (clone / "listing" / "pages.py").read_text()
