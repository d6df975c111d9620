"""A proof: from an agent's work to an outcome, with real repositories, sandboxes and test runs (proof.md, 3 to 7)."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.integrity.combine import Judgement, judge
from app.integrity.model import Grid
from app.proving.outcome import failing_key, outcome_of, reason_of
from app.runs.model import ProofOutcome
from app.settings import Settings
from app.workspace.checkout import Mirror
from app.workspace.commits import Commit
from app.workspace.git import Git
from app.workspace.grid import cells
from app.workspace.grid.cells import Measured, NotRun, Request, run_grid
from app.workspace.grid.known import as_json, environment_of, from_json
from app.workspace.grid.trees import Three, delta_of, six
from app.workspace.patch import take_patch
from app.workspace.rooms import Rooms
from app.workspace.sandbox import model
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Limits, Sandbox, Spec, Tier, Workspace
from app.workspace.tests.model import TestJob
from app.workspace.tests.suite import SuiteRun
from tests.unit.workspace.ordinary import NOBODY, as_ordinary_user, reachable_folder, user_reads_us
from tests.unit.workspace.origin import Origin
from tests.unit.workspace.tools import IS_ROOT, a_sandbox, make_venv

pytestmark = pytest.mark.slow

WRONG = b"def total(prices):\n    return sum(prices) - 1\n"
RIGHT = b"def total(prices):\n    return sum(prices)\n"
TESTS = (
    b"from cart import total\ndef test_total(): assert total([1, 2]) == 3\ndef test_empty(): assert total([1]) == 1\n"
)
NAMED = ("test_cart.py::test_total", "test_cart.py::test_empty")


Files = dict[str, bytes | None]


@dataclass(frozen=True)
class Proof:
    measured: Measured
    judgement: Judgement

    @property
    def grid(self) -> Grid:
        return self.measured.grid

    @property
    def words(self) -> dict[str, tuple[str, int]]:
        return {name: (cell.result, cell.runs) for name, cell in self.grid.cells.items() if not cell.same_as}

    @property
    def outcome(self) -> ProofOutcome:
        return outcome_of(self.judgement, allow_test_only=False)


@dataclass(frozen=True)
class World:
    sandbox: Sandbox
    rooms: Rooms
    mirror: Mirror
    origin: Origin
    tools: Path

    def tree(self, files: Files, branch: str = "b") -> str:
        sha = self.origin.commit(files, branch=branch)
        self.mirror.fetch(self.origin.url, "", [sha])
        return self.mirror.tree_of(sha)

    def three(self, base: Files, head: Files, fixed: Files) -> Three:
        return Three(self.tree(base), self.tree(head), self.tree(fixed))

    def request(self, three: Three, **more: Any) -> Request:
        git = Git(self.mirror.path)
        delta = delta_of(git, three, NAMED, more.pop("framework", "pytest"))
        return Request(self.mirror, self.rooms, six(git, three), delta, **{"tools": str(self.tools), **more})

    def prove(self, three: Three, **more: Any) -> Proof:
        request = self.request(three, **more)
        measured = asyncio.run(run_grid(self.sandbox, request))
        return Proof(measured, judge(request.delta, measured.grid))


@pytest.fixture(scope="module")
def tools() -> Iterator[Path]:
    with reachable_folder() as folder:
        yield make_venv(folder / "venv")


@pytest.fixture
def world(origin: Origin, mirror: Mirror, tools: Path) -> Iterator[World]:
    with a_sandbox() as (sandbox, rooms):
        yield World(sandbox, rooms, mirror, origin, tools)
        assert os.listdir(rooms.data / "workspaces") == []


BASE: Files = {"cart.py": RIGHT, "test_cart.py": TESTS}
HEAD: Files = {"cart.py": WRONG}


def test_a_fix_is_proven_in_its_trees(world: World) -> None:
    """PF-5, PF-6, PN-12, PT-7, PT-12: head fails, fixed passes, base passed; equal trees are run once."""
    proof = world.prove(world.three(BASE, HEAD, {"cart.py": b"# fixed\n" + RIGHT}))
    assert (proof.outcome, proof.judgement.claim) == (ProofOutcome.PASSED, "source_regression")
    assert reason_of(proof.judgement, proof.outcome) == ""
    assert proof.words == {"base": ("pass", 1), "head": ("fail", 3), "fixed": ("pass", 3)}
    assert proof.grid.cells["fixed_without_source"].same_as == "head"
    assert proof.grid.census is not None and proof.grid.census.ran_in_fixed == set(NAMED)
    seen = proof.grid.cells["head"].tests[NAMED[0]]
    assert (seen.runs, seen.passes, seen.fails, seen.errors, seen.missing) == (3, 0, 3, 0, 0)


CASES: list[tuple[str, Files, str]] = [
    ("still red", {"cart.py": b"def total(p):\n    return 0\n"}, "not_fixed"),
    ("cannot be imported", {"cart.py": b"def total(p:\n"}, "not_fixed"),
    ("test deleted", {"test_cart.py": None}, "test_silenced"),
    ("test renamed away", {"test_cart.py": TESTS.replace(b"test_", b"check_")}, "test_silenced"),
    ("test skipped", {"test_cart.py": b"import pytest\npytestmark = pytest.mark.skip\n" + TESTS}, "test_silenced"),
    ("ends with 0 and no report", {"cart.py": b"import os\ndef total(p):\n    os._exit(0)\n"}, "no_report"),
    ("one of two", {"cart.py": b"def total(p):\n    return 3\n"}, "not_fixed"),
    ("asks for less", {"test_cart.py": TESTS.replace(b"== ", b">= 0 or ")}, "test_no_longer_discriminates"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_no_fix(case: tuple[str, Files, str], world: World) -> None:
    """PG103, PG105, PG107, PG122, PX-1: exit code 0 is never a pass."""
    _, change, claim = case
    proof = world.prove(world.three(BASE, HEAD, change))
    assert (proof.outcome, proof.judgement.claim) == (ProofOutcome.FAILED, claim)
    assert reason_of(proof.judgement, proof.outcome)


def test_a_failure_that_does_not_happen_here_is_never_fixed(world: World) -> None:
    """PG102."""
    proof = world.prove(world.three(BASE, {"x": b"x"}, {"x": b"y"}))
    assert (proof.outcome, proof.judgement.claim) == (ProofOutcome.NOT_RUN, "not_reproduced")


def test_tests_that_cannot_be_run_here_are_said_and_not_guessed(world: World) -> None:
    """PG110, PF-12, PX-33."""
    with pytest.raises(NotRun, match="no command for phpunit; set `tests`"):
        world.prove(world.three(BASE, HEAD, {"cart.py": RIGHT}), framework="phpunit")


def test_known_runs_are_not_made_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """PT-9: an equal tree of an equal environment, read back from what was kept."""
    three = world.three(BASE, HEAD, {"cart.py": b"# fixed\n" + RIGHT})
    first = world.prove(three)
    known = {tree: from_json(as_json(runs)) for tree, runs in first.measured.runs.items()}

    async def never(sandbox: Sandbox, job: TestJob, whole: bool = False) -> SuiteRun:
        raise AssertionError("this was run before")

    monkeypatch.setattr(cells, "run_suite", never)
    again = world.prove(three, known=known)
    assert (again.words, again.judgement) == (first.words, first.judgement)


def test_an_environment_is_another_one_when_a_tool_changes(world: World) -> None:
    """PT-9."""
    before = environment_of(world.sandbox, str(world.tools), "pytest", ())
    assert environment_of(world.sandbox, str(world.tools), "pytest", ()) == before
    (site,) = world.tools.glob("lib/python*/site-packages")
    (site / "new_package.py").write_text("")
    after = environment_of(world.sandbox, str(world.tools), "pytest", ())
    (site / "new_package.py").unlink()
    assert after != before != environment_of(world.sandbox, str(world.tools), "unittest", ())


def test_nothing_of_one_run_is_there_in_the_next(world: World) -> None:
    """PT-8: a test that leaves a file to pass the second time fails each time."""
    leaves = (
        b"import os\nseen = os.path.exists('seen')\nopen('seen', 'w')\ndef total(p): return sum(p) if seen else 0\n"
    )
    proof = world.prove(world.three(BASE, HEAD, {"cart.py": leaves}))
    assert (proof.outcome, proof.words["fixed"][0]) == (ProofOutcome.FAILED, "fail")


def test_a_cancelled_proof_leaves_nothing(world: World) -> None:
    """LE-5; the fixture looks for folders."""
    slow = b"import time\ndef test_total(): time.sleep(600)\ndef test_empty(): assert 0\n"
    request = world.request(world.three(BASE, {**HEAD, "test_cart.py": slow}, {"cart.py": RIGHT}))

    async def scenario() -> None:
        await asyncio.wait_for(run_grid(world.sandbox, request), 3)

    with pytest.raises(TimeoutError):
        asyncio.run(scenario())


def test_out_of_time_is_not_a_proof(world: World) -> None:
    """PN-11: never `passed`."""
    proof = world.prove(world.three(BASE, HEAD, {"cart.py": RIGHT}), proof_s=0.001)
    assert proof.outcome is not ProofOutcome.PASSED


def test_equal_failures_have_equal_keys(world: World) -> None:
    """T29."""
    three = world.three(BASE, HEAD, {"cart.py": b"def total(p):\n    return 0\n"})
    one, other = world.prove(three), world.prove(three)
    assert failing_key(one.judgement, one.grid) == failing_key(other.judgement, other.grid)
    loose = world.prove(world.three({}, {}, {"cart.py": WRONG, "test_cart.py": TESTS.replace(b"== ", b">= 0 or ")}))
    assert failing_key(loose.judgement, loose.grid) != failing_key(one.judgement, one.grid)


# From the agent's work to the proof, for a root app and for an ordinary user


@contextmanager
def as_app(who: str) -> Iterator[tuple[Path, Callable[[Callable[[], Any]], Any]]]:
    if who == "user" and not user_reads_us():
        pytest.skip("this checkout lies where an ordinary user cannot read it")
    with reachable_folder(NOBODY if who == "user" else None) as data:
        yield data, (lambda work: as_ordinary_user(work) if who == "user" and IS_ROOT else work())


@pytest.mark.parametrize("who", ["root", "user"] if IS_ROOT else ["user"])
def test_the_whole_way_of_a_fix(who: str, tools: Path) -> None:
    """The proven tree is the pushed tree (S13): fetch, work, patch, commit, proof, push; SX-2 for both kinds of app."""
    with reachable_folder() as public:
        origin = Origin(public / "o")
        head = origin.commit({"cart.py": WRONG, "test_cart.py": TESTS})
        if who == "user" and IS_ROOT:
            # git reads a repository of one's own only; a real origin is reached over HTTPS.
            for path in public.rglob("*"):
                os.lchown(path, NOBODY, NOBODY)
        with as_app(who) as (data, do):
            tree, pushed = do(lambda: asyncio.run(the_way(data, origin.url, head, tools)))
    assert tree == pushed


async def the_way(data: Path, url: str, head: str, tools: Path) -> tuple[str, str]:
    settings = Settings(data=data)
    sandbox = await choose(settings, "acme/shop")
    rooms, mirror = Rooms.of(settings), Mirror(data / "repos" / "7.git")
    mirror.fetch(url, "", [head])
    with rooms.enter("run-1") as room:
        mirror.workspace(head, room.path / "tree", room.uid)
        place = Workspace(room.path / "tree", room.uid, home=room.folder("home"))
        work = "printf 'def total(prices):\\n    return sum(prices)\\n' > cart.py; git commit -qam 'fix: x'"
        done = await model.run(sandbox, Spec("agent", ("sh", "-ec", work), place, Limits(30, 30)))
        assert done.rc == 0, done.stderr_tail
        patch = await take_patch(sandbox, mirror, place, head)
    assert isinstance(patch, bytes), patch
    commit = mirror.commit(head, patch, "fix: count every price", {"Remedy-Run": "01J"})
    assert isinstance(commit, Commit), commit
    three = Three(mirror.tree_of(head), mirror.tree_of(head), commit.tree)
    git = Git(mirror.path)
    trees, delta = six(git, three), delta_of(git, three, NAMED, "pytest")
    measured = await run_grid(sandbox, Request(mirror, rooms, trees, delta, tools=str(tools)))
    judgement = judge(delta, measured.grid)
    assert (judgement.verdict, judgement.claim, sandbox.tier) == ("allow", "pre_existing_failure", Tier.STRONG)
    rooms.remove("run-1")
    assert os.listdir(data / "workspaces") == []
    return commit.tree, trees["fixed"]
