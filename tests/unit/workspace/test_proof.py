"""A proof: from an agent's work to an outcome, with real repositories, sandboxes and test runs."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.runs.model import ProofOutcome
from app.settings import Settings
from app.workspace.checkout import Mirror
from app.workspace.commits import Commit
from app.workspace.patch import take_patch
from app.workspace.proof.cells import ProofRequest, prove, run_cells
from app.workspace.proof.claims import claim_of, strictest
from app.workspace.proof.model import Cell, Claim, ProofResult, TreeName
from app.workspace.rooms import Rooms
from app.workspace.sandbox import model
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Limits, Sandbox, Spec, Tier, Workspace
from app.workspace.tests.model import CellResult, Outcome, TestRow
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


@dataclass(frozen=True)
class World:
    sandbox: Sandbox
    rooms: Rooms
    mirror: Mirror
    origin: Origin
    tools: Path

    def tree(self, files: dict[str, bytes | None], branch: str) -> str:
        sha = self.origin.commit(files, branch=branch)
        self.mirror.fetch(self.origin.url, "", [sha])
        return self.mirror.tree_of(sha)

    def request(self, trees: Mapping[TreeName, str], **more: Any) -> ProofRequest:
        usual = {"framework": "pytest", "tools": str(self.tools), "runs": 2}
        return ProofRequest(self.mirror, self.rooms, trees, NAMED, **{**usual, **more})

    def prove(self, trees: Mapping[TreeName, str], **more: Any) -> ProofResult:
        return asyncio.run(prove(self.sandbox, self.request(trees, **more)))


@pytest.fixture(scope="module")
def tools() -> Iterator[Path]:
    with reachable_folder() as folder:
        yield make_venv(folder / "venv")


@pytest.fixture
def world(origin: Origin, mirror: Mirror, tools: Path) -> Iterator[World]:
    with a_sandbox() as (sandbox, rooms):
        yield World(sandbox, rooms, mirror, origin, tools)
        assert os.listdir(rooms.data / "workspaces") == []


def test_a_fix_is_proven_by_the_named_tests(world: World) -> None:
    """PF-5, PF-6, PN-12: head fails, fixed passes, base passed; counts for each test."""
    trees = {
        TreeName.BASE: world.tree({"cart.py": RIGHT, "test_cart.py": TESTS}, "b"),
        TreeName.HEAD: world.tree({"cart.py": WRONG}, "b"),
        TreeName.FIXED: world.tree({"cart.py": b"# fixed\n" + RIGHT}, "b"),
    }
    proof = world.prove(trees)
    assert (proof.outcome, proof.claim, proof.reason) == (ProofOutcome.PASSED, Claim.SOURCE_REGRESSION, "")
    assert (proof.tier, proof.failing) == (Tier.STRONG, [])
    grid: Any = proof.grid()
    assert {name: (cell["result"], cell["runs"]) for name, cell in grid.items()} == {
        "base": ("pass", 1),
        "head": ("fail", 2),
        "fixed": ("pass", 2),
    }
    assert grid["head"]["tests"][NAMED[0]] == {
        "result": "fail",
        "runs": 2,
        "pass": 0,
        "fail": 2,
        "error": 0,
        "missing": 0,
    }


CASES: list[tuple[str, dict[str, bytes | None], ProofOutcome, Claim]] = [
    ("still red", {"cart.py": b"def total(p):\n    return 0\n"}, ProofOutcome.FAILED, Claim.NOT_FIXED),
    ("cannot be imported", {"cart.py": b"def total(p:\n"}, ProofOutcome.FAILED, Claim.NOT_FIXED),
    ("test deleted", {"test_cart.py": None}, ProofOutcome.FAILED, Claim.TEST_SILENCED),
    (
        "test renamed away",
        {"test_cart.py": TESTS.replace(b"test_", b"check_")},
        ProofOutcome.FAILED,
        Claim.TEST_SILENCED,
    ),
    (
        "test skipped",
        {"test_cart.py": b"import pytest\npytestmark = pytest.mark.skip\n" + TESTS},
        ProofOutcome.FAILED,
        Claim.TEST_SILENCED,
    ),
    (
        "expected to fail",
        {"test_cart.py": b"import pytest\npytestmark = pytest.mark.xfail\n" + TESTS},
        ProofOutcome.FAILED,
        Claim.TEST_SILENCED,
    ),
    (
        "ends with 0 and no report",
        {"cart.py": b"import os\ndef total(p):\n    os._exit(0)\n"},
        ProofOutcome.FAILED,
        Claim.NO_REPORT,
    ),
    ("one of two", {"cart.py": b"def total(p):\n    return 3\n"}, ProofOutcome.FAILED, Claim.NOT_FIXED),
    ("nothing done", {}, ProofOutcome.FAILED, Claim.NOT_FIXED),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_no_fix(case: tuple[str, dict[str, bytes | None], ProofOutcome, Claim], world: World) -> None:
    """PG103, PG105, PG107, PX-1: exit code 0 is never a pass."""
    _, change, outcome, claim = case
    head = world.tree({"cart.py": WRONG, "test_cart.py": TESTS}, "h")
    proof = world.prove({TreeName.HEAD: head, TreeName.FIXED: world.tree(change, "h")}, runs=1)
    assert (proof.outcome, proof.claim) == (outcome, claim)
    assert proof.reason
    assert proof.failing


def test_a_failure_that_does_not_happen_here_is_never_fixed(world: World) -> None:
    """PG102: `fixed` is not even run."""
    head = world.tree({"cart.py": RIGHT, "test_cart.py": TESTS}, "h")
    proof = world.prove({TreeName.HEAD: head, TreeName.FIXED: world.tree({"x": b"x"}, "h")})
    assert (proof.outcome, proof.claim) == (ProofOutcome.NOT_RUN, Claim.NOT_REPRODUCED)
    assert (len(proof.cells[TreeName.HEAD].runs), len(proof.cells[TreeName.FIXED].runs)) == (2, 0)


def test_tests_that_cannot_be_run_here_are_said_and_not_guessed(world: World) -> None:
    """PG101, PG110, PF-12: no repeats of what says the same."""
    head = world.tree({"cart.py": WRONG, "test_cart.py": TESTS}, "h")
    trees = {TreeName.HEAD: head, TreeName.FIXED: world.tree({"cart.py": RIGHT}, "h")}
    proof = world.prove(trees, framework="rspec")
    assert (proof.outcome, proof.claim) == (ProofOutcome.NOT_RUN, Claim.HEAD_NOT_RUN)
    assert "no command for rspec; set `tests` in .github/remedy.yml" in proof.reason
    assert len(proof.cells[TreeName.HEAD].runs) == 1


def test_equal_trees_run_once_and_known_cells_not_again(world: World) -> None:
    """PT-7, PT-9, decisions.md rows 59 and 90: the baseline of the diagnosis is used again."""
    base = world.tree({"cart.py": RIGHT, "test_cart.py": TESTS}, "h")
    head = world.tree({"cart.py": WRONG}, "h")
    cells = asyncio.run(run_cells(world.sandbox, world.request({TreeName.BASE: base, TreeName.HEAD: head}, runs=1)))
    assert (cells[TreeName.BASE].result(NAMED), cells[TreeName.HEAD].result(NAMED)) == ("pass", "fail")
    known = {cell.tree: cell for cell in cells.values()}
    trees = {TreeName.BASE: base, TreeName.HEAD: head, TreeName.FIXED: base}
    proof = world.prove(trees, known=known)
    assert proof.cells[TreeName.FIXED].same_as is TreeName.BASE
    assert proof.cells[TreeName.HEAD].runs == cells[TreeName.HEAD].runs
    assert proof.outcome is ProofOutcome.PASSED


def test_nothing_of_one_run_is_there_in_the_next(world: World) -> None:
    """PT-8: a test that leaves a file to pass the second time fails each time."""
    leaves = (
        b"import os\nseen = os.path.exists('seen')\nopen('seen', 'w')\ndef total(p): return sum(p) if seen else 0\n"
    )
    head = world.tree({"cart.py": WRONG, "test_cart.py": TESTS}, "h")
    proof = world.prove({TreeName.HEAD: head, TreeName.FIXED: world.tree({"cart.py": leaves}, "h")})
    assert proof.outcome is ProofOutcome.FAILED


def test_a_cancelled_proof_leaves_nothing(world: World) -> None:
    """LE-5; the fixture looks for folders."""
    slow = b"import time\ndef test_total(): time.sleep(600)\ndef test_empty(): assert 0\n"
    head = world.tree({"cart.py": WRONG, "test_cart.py": slow}, "h")
    request = world.request({TreeName.HEAD: head, TreeName.FIXED: head})

    async def scenario() -> None:
        await asyncio.wait_for(prove(world.sandbox, request), 3)

    with pytest.raises(TimeoutError):
        asyncio.run(scenario())


def test_out_of_time_is_not_a_proof(world: World) -> None:
    """PN-11: never `passed`."""
    head = world.tree({"cart.py": WRONG, "test_cart.py": TESTS}, "h")
    trees = {TreeName.HEAD: head, TreeName.FIXED: world.tree({"cart.py": RIGHT}, "h")}
    proof = world.prove(trees, proof_s=0.001)
    assert proof.outcome is not ProofOutcome.PASSED


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
    trees = {TreeName.HEAD: mirror.tree_of(head), TreeName.FIXED: commit.tree}
    proof = await prove(sandbox, ProofRequest(mirror, rooms, trees, NAMED, "pytest", tools=str(tools), runs=1))
    assert (proof.outcome, proof.reason, proof.tier) == (ProofOutcome.PASSED, "", Tier.STRONG)
    rooms.remove("run-1")
    assert os.listdir(data / "workspaces") == []
    return commit.tree, proof.cells[TreeName.FIXED].tree


# The table alone


def cell(*words: str) -> Cell:
    """A cell whose only test had these outcomes."""
    outcomes: dict[str, Outcome] = {"p": "passed", "f": "failed", "e": "error", "s": "skipped", "n": "not_run"}
    runs = [CellResult({"t": TestRow(outcomes[word])}, Tier.STRONG, "bwrap") for word in words]
    return Cell("tree", tuple(runs))


TABLE = [
    ("PG101 missing in head", "n", "p", "", Claim.HEAD_NOT_RUN),
    ("PG102 passes in head", "pp", "p", "", Claim.NOT_REPRODUCED),
    ("PG105 silenced", "ff", "s", "", Claim.TEST_SILENCED),
    ("PG106 still flaky", "ff", "pf", "", Claim.STILL_FLAKY),
    ("PG107 not fixed", "ff", "f", "", Claim.NOT_FIXED),
    ("PG107 broken", "ff", "e", "", Claim.NOT_FIXED),
    ("flaky in head", "fp", "pp", "", Claim.FLAKY_UNPROVEN),
    ("PG115 new in this pull request", "ff", "pp", "n", Claim.UNFINISHED_FEATURE),
    ("PG116 red on base", "ff", "pp", "f", Claim.PRE_EXISTING_FAILURE),
    ("PG117 green on base", "ff", "pp", "p", Claim.SOURCE_REGRESSION),
    ("collection error in head", "e", "p", "", Claim.FIXED),
    ("PN-11 never measured", "f", "", "", Claim.OUT_OF_TIME),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_the_claim_table(row: tuple[str, str, str, str, Claim]) -> None:
    """Proof.md, section 7, as far as base, head and fixed decide."""
    _, head, fixed, base, claim = row
    cells = {TreeName.HEAD: cell(*head), TreeName.FIXED: cell(*fixed)}
    assert claim_of({**cells, TreeName.BASE: cell(*base)} if base else cells, "t") is claim


def test_the_strictest_claim_counts() -> None:
    assert strictest({"a": Claim.FIXED, "b": Claim.NOT_REPRODUCED, "c": Claim.NOT_FIXED}) is Claim.NOT_FIXED
    assert strictest({"a": Claim.FIXED, "b": Claim.NOT_REPRODUCED}) is Claim.NOT_REPRODUCED
    assert strictest({}) is Claim.HEAD_NOT_RUN


def test_equal_failures_have_equal_keys() -> None:
    """T29."""
    cells = {TreeName.HEAD: cell("f"), TreeName.FIXED: cell("f")}
    one = ProofResult(ProofOutcome.FAILED, Claim.NOT_FIXED, {"t": Claim.NOT_FIXED}, cells, "", Tier.STRONG, "bwrap")
    assert one.failing_key == replace(one, reason="other words").failing_key
    assert one.failing_key != replace(one, claim=Claim.STILL_FLAKY).failing_key
    assert sys.getsizeof(one.grid()) > 0
