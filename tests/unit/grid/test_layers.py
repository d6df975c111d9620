"""What `setup` of a repository leaves for its tests, in a real sandbox (proof.md, PT-10, PX-31, PX-34)."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.integrity.model import Blob
from app.policy import read_policy
from app.policy.model import Policy
from app.proving.commands import commands_of
from app.workspace.checkout import Mirror
from app.workspace.git import Git
from app.workspace.grid.layers import Layers
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.model import Limits, Sandbox
from app.workspace.tests.model import OwnCommand, TestJob
from app.workspace.tests.setup import Layer
from app.workspace.tests.suite import SuiteRun, run_suite
from tests.unit.grid.test_trees import tree
from tests.unit.workspace.tools import a_sandbox

pytestmark = pytest.mark.slow

INSTALL = """
import os, pathlib, secrets, sys
assert not os.path.exists("/report"), "a report can be seen"
layer = pathlib.Path(sys.argv[1])
(layer / "python").mkdir()
wanted = pathlib.Path("requirements.txt").read_text().strip()
assert wanted != "absent", "no such package"
(layer / "python" / "dep.py").write_text(f"name = {wanted!r}")
pathlib.Path("left-in-the-tree").write_text("x")
"""
RUN = """
import dep, os, pathlib, sys
body = "" if dep.name == "one" and not os.path.exists("left-in-the-tree") else "<failure/>"
try:
    pathlib.Path(os.environ["REMEDY_LAYER"], "more").write_text("x")
    body = "<failure message='the layer can be written'/>"
except OSError:
    pass
pathlib.Path(sys.argv[1]).write_text(f"<testsuite><testcase classname='a' name='t'>{body}</testcase></testsuite>")
"""
OWN = OwnCommand(
    "generic", ("python3", "ci/run.py", "{report}"), setup=(("python3", "ci/install.py", "{layer}"), ("true",))
)


@contextmanager
def prepared(tmp_path: Path) -> Iterator[tuple[Sandbox, Rooms, Git, TestJob]]:
    git = Git(tmp_path, index=tmp_path / "own-index")
    git.run("init", "--bare", "--quiet", "--template=", str(tmp_path))
    with a_sandbox() as (sandbox, rooms):
        job = TestJob(Path(), None, "generic", ("a.t",), Limits.for_tests(60), own=(OWN,))
        yield sandbox, rooms, git, job


def files(requirements: str, source: str = "") -> Mapping[str, str]:
    return {"ci/install.py": INSTALL, "ci/run.py": RUN, "requirements.txt": requirements, "a.py": source}


def ran(sandbox: Sandbox, job: TestJob, room: Room) -> SuiteRun:
    return asyncio.run(run_suite(sandbox, replace(job, files=room.path / "files", uid=room.uid)))


def test_a_set_up_runs_once_for_each_state_of_the_manifests(tmp_path: Path) -> None:
    """PT-10, PX-34: on a copy of the tree; read-only for the tests, and gone with the proof."""
    with prepared(tmp_path) as (sandbox, rooms, git, job), rooms.scratch() as room:
        mirror = Mirror(tmp_path)
        trees = [tree(git, files("one")), tree(git, files("one", "changed")), tree(git, files("two"))]
        with Layers(rooms, mirror) as layers:
            first, same, other = [asyncio.run(layers.of(sandbox, job, one)) for one in trees]
            assert (first.problem, first == same) == ("", True)
            assert first.path is not None
            assert first.path != other.path
            mirror.tree_files(trees[0], room.path / "files", room.uid)
            found = ran(sandbox, replace(job, layer=first.path), room)
            assert [(row.id, row.outcome, row.detail) for row in found.rows] == [("a.t", "passed", "")]
        assert not first.path.exists()


def test_a_set_up_that_fails_says_so_and_none_is_needed_without_one(tmp_path: Path) -> None:
    """PX-34."""
    with prepared(tmp_path) as (sandbox, rooms, git, job), Layers(rooms, Mirror(tmp_path)) as layers:
        broken = asyncio.run(layers.of(sandbox, job, tree(git, files("absent"))))
        assert "ci/install.py" in broken.problem
        assert "exit code 1" in broken.problem
        assert b"no such package" in broken.output
        plain = replace(job, own=(replace(OWN, setup=()),))
        assert asyncio.run(layers.of(sandbox, plain, tree(git, files("one")))) == Layer()


def test_what_the_commands_name_steers_the_tests() -> None:
    """PX-31: files of the tree that `setup` names are harness; an entry with a set-up alone counts."""
    text = b"enabled: true\ntests: [{name: a, framework: pytest, setup: [[./ci/install.py, '{layer}']]}]\n"
    policy = read_policy(text)
    assert isinstance(policy, Policy)
    own, moved = commands_of(policy, {"ci/install.py": Blob(b"")})
    assert [(one.run, one.setup) for one in own] == [((), (("./ci/install.py", "{layer}"),))]
    assert moved.harness == ("ci/install.py",)
