"""Run the named tests in each tree, in which order and how often, and prove or not (proof.md, 3.2, 6 and 7)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.workspace.checkout import Mirror
from app.workspace.proof.claims import OUTCOMES, claims_of, strictest
from app.workspace.proof.model import Cell, Claim, ProofResult, TreeName
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.model import Limits, Sandbox
from app.workspace.tests.model import OwnCommand, TestJob
from app.workspace.tests.run import run_tests

LONG_RUN_S = 300


@dataclass(frozen=True)
class ProofRequest:
    """What to prove. `trees` are tree ids by name; `known` are earlier cells of the same tests, by tree id (PT-9).

    `runs` is how often head and fixed are repeated (PN-1, PN-2), a run above 5 minutes is not; base runs once. `cell_s`
    and `proof_s` are limits of one run and of all, in seconds.
    """

    mirror: Mirror
    rooms: Rooms
    trees: Mapping[TreeName, str]
    test_ids: tuple[str, ...]
    framework: str
    own: tuple[OwnCommand, ...] = ()
    tools: str = ""
    runs: int = 3
    cell_s: float = 600
    proof_s: float = 1800
    known: Mapping[str, Cell] = field(default_factory=dict)


async def prove(sandbox: Sandbox, request: ProofRequest) -> ProofResult:
    """The proof of `fixed` against `head`, and `base` if it is given; no model takes part.

    Raises SandboxUnavailable; a cancelled proof leaves no process and no folder behind.
    """
    cells = await run_cells(sandbox, request)
    claims = claims_of(cells, request.test_ids)
    claim = strictest(claims)
    return ProofResult(
        outcome=OUTCOMES[claim],
        claim=claim,
        claims=claims,
        cells=cells,
        reason=_why(claim, cells),
        tier=sandbox.tier,
        backend=sandbox.name,
    )


async def run_cells(sandbox: Sandbox, request: ProofRequest) -> dict[TreeName, Cell]:
    """The cells of all trees of the request, equal trees run once (PT-7, decisions.md row 90).

    Runs of different trees alternate (PN-7). Head comes first; `fixed` starts when head was not well once.
    """
    grid = _Grid(sandbox, request, time.monotonic() + request.proof_s)
    order = [name for name in (TreeName.HEAD, TreeName.FIXED, TreeName.BASE) if name in request.trees]
    with request.rooms.scratch() as room:
        for n in range(request.runs):
            for name in order:
                if grid.wants(name, n):
                    await grid.run(name, n, room)
    return {name: grid.cell(name) for name in order}


@dataclass
class _Grid:
    sandbox: Sandbox
    request: ProofRequest
    deadline: float
    cells: dict[str, Cell] = field(default_factory=dict)

    def cell(self, name: TreeName) -> Cell:
        """The cell of a tree under its name, with the name of the twin that ran."""
        tree = self.request.trees[name]
        found = self.cells.get(tree) or self.request.known.get(tree) or Cell(tree)
        twin = next(other for other in self.request.trees if self.request.trees[other] == tree)
        return found if twin is name else replace(found, same_as=twin)

    def wants(self, name: TreeName, n: int) -> bool:
        """Whether the n-th run of this tree can still say something."""
        cell = self.cell(name)
        if cell.same_as is not None or self.request.trees[name] in self.request.known or len(cell.runs) > n:
            return False
        if time.monotonic() >= self.deadline or self._cannot_run():
            return False
        if cell.runs and (name is TreeName.BASE or cell.runs[-1].wall_s > LONG_RUN_S):
            return False
        tests = self.request.test_ids
        if name is TreeName.HEAD or TreeName.HEAD not in self.request.trees:
            return True
        if self.cell(TreeName.HEAD).result(tests) == "pass":
            return False
        return name is not TreeName.FIXED or cell.result(tests) in ("pass", "n/a")

    def _cannot_run(self) -> bool:
        """Nothing of the named tests ran in head and a reason is known: more runs say the same."""
        if TreeName.HEAD not in self.request.trees:
            return False
        head = self.cell(TreeName.HEAD)
        return bool(head.runs) and bool(head.reason) and head.result(self.request.test_ids) == "missing"

    async def run(self, name: TreeName, n: int, room: Room) -> None:
        """One run in a fresh copy of the tree, which is gone afterwards (PT-8)."""
        tree = self.request.trees[name]
        folder = f"{name}-{n}"
        files = room.path / folder
        self.request.mirror.tree_files(tree, files, room.uid)
        try:
            result = await run_tests(self.sandbox, self._job(files_of=room, folder=folder, seed=n))
        finally:
            room.remove(folder)
        known = self.cells.get(tree) or Cell(tree)
        self.cells[tree] = replace(known, runs=(*known.runs, result))

    def _job(self, files_of: Room, folder: str, seed: int) -> TestJob:
        left = max(1.0, min(self.request.cell_s, self.deadline - time.monotonic()))
        return TestJob(
            files=files_of.path / folder,
            uid=files_of.uid,
            framework=self.request.framework,
            test_ids=self.request.test_ids,
            limits=Limits.for_tests(left),
            own=self.request.own,
            tools=self.request.tools,
            seed=seed,
        )


# What a person reads when a proof did not pass; the rest of the story is the grid.
_WHY: Mapping[Claim, str] = {
    Claim.HEAD_NOT_RUN: "the named tests did not run on the head commit",
    Claim.NOT_REPRODUCED: "the failure does not happen here on the head commit",
    Claim.NO_REPORT: "the test command did not come to its end on the fix",
    Claim.TEST_SILENCED: "a named test no longer runs on the fix",
    Claim.STILL_FLAKY: "a named test passes only sometimes on the fix",
    Claim.NOT_FIXED: "a named test still fails on the fix",
    Claim.OUT_OF_TIME: "the time of the proof was over before the fix was measured",
    Claim.FLAKY_UNPROVEN: "the failure comes and goes on the head commit, so a pass proves little",
}


def _why(claim: Claim, cells: Mapping[TreeName, Cell]) -> str:
    """A sentence, with the reason of the run behind it where one is known; empty for a proof that passed."""
    said = _WHY.get(claim, "")
    more = next((cell.reason for cell in cells.values() if cell.reason), "") if said else ""
    return f"{said}: {more}" if more else said
