"""Run the cells of the grid in fresh trees: what, in which order, how often, until when (proof.md, 3.2 and 6)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.integrity.classes import class_of_change
from app.integrity.model import Cell, Census, Delta, Grid, Seen
from app.integrity.rules.case import Case
from app.workspace.checkout import Mirror
from app.workspace.grid.census import compare, suspects
from app.workspace.grid.layers import Layers
from app.workspace.grid.repeats import runs_needed
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.model import Limits, Sandbox
from app.workspace.tests.match import NO_MOVES, Match, Moves, match, moved_ids
from app.workspace.tests.model import OwnCommand, TestJob
from app.workspace.tests.setup import Layer
from app.workspace.tests.suite import SuiteRun, run_suite

RUNS, LEAST_BEFORE_BLOCK, CAP = 3, 5, 20
LONG_RUN_S, QUICK_RUN_S = 300, 4
FIXED_TESTS = ("fixed", "fixed_without_source", "base_source_with_fixed_tests")


@dataclass(frozen=True)
class Runs:
    """The runs of one tree: of the named tests, and of the whole suite."""

    named: tuple[SuiteRun, ...] = ()
    whole: tuple[SuiteRun, ...] = ()


@dataclass(frozen=True)
class Request:
    """What is proved. `trees` are tree ids by cell name; `cell_s` and `proof_s` are limits in seconds (PN-10).

    `known` are runs of the same tests that were made before in the same environment, by tree id (PT-9).
    `keep` hears of all runs after each one.
    """

    mirror: Mirror
    rooms: Rooms
    trees: Mapping[str, str]
    delta: Delta
    own: tuple[OwnCommand, ...] = ()
    tools: str = ""
    cell_s: float = 600
    proof_s: float = 1800
    known: Mapping[str, Runs] = field(default_factory=dict)
    layers: Layers | None = None
    keep: Callable[[Mapping[str, Runs]], None] = lambda runs: None


@dataclass(frozen=True)
class Measured:
    """The grid, and all runs that it was made from, by tree id."""

    grid: Grid
    runs: Mapping[str, Runs]


class NotRun(Exception):
    """Nothing could be run; the text says why (PG110)."""


async def run_grid(sandbox: Sandbox, request: Request) -> Measured:
    """The cells that the claim needs (PT-11), and the census of head and fixed.

    Raises NotRun and SandboxUnavailable; a cancelled grid leaves no process and no folder behind.
    """
    runner = _Runner(sandbox, request, time.monotonic() + request.proof_s)
    runner.runs = {tree: list(known.named) for tree, known in request.known.items()}
    runner.suites = {tree: list(known.whole) for tree, known in request.known.items()}
    runner.count = sum(len(known.named) + len(known.whole) for known in request.known.values())
    with request.rooms.scratch() as room:
        runner.room = room
        await _head_and_fixed(runner, RUNS - 1)
        census = await _census(runner) if _is_worth_a_census(runner) else None
        runner.adopt_suites()
        await _head_and_fixed(runner, RUNS)
        await _where_it_flakes(runner)
        await _base(runner)
        await _the_rest(runner)
    cells = {name: runner.cell(name) for name in request.trees}
    return Measured(Grid({name: cell for name, cell in cells.items() if cell.runs}, census), runner.made)


async def run_once(sandbox: Sandbox, request: Request, name: str) -> Cell:
    """The named tests in one tree, once, beside the proof: the run is not kept; raises NotRun."""
    alone = replace(request, keep=lambda runs: None)
    runner = _Runner(sandbox, alone, time.monotonic() + request.cell_s)
    with request.rooms.scratch() as room:
        runner.room = room
        run = await runner.run(name)
    moves = _moves_of(request.delta, units_too=False)
    seen = {test: seen_of(test, [run], moves) for test in runner.named}
    return Cell(seen, runs=1, seconds=run.wall_s, output=run.output)


async def run_with_layer(sandbox: Sandbox, request: Request, job: TestJob, tree: str, whole: bool = False) -> SuiteRun:
    """One run, with what the set-up left for its manifests. A set-up that fails in head leaves nothing to run."""
    layer = await request.layers.of(sandbox, job, tree) if request.layers is not None else Layer()
    if layer.problem and tree == request.trees["head"]:
        raise NotRun(layer.problem)
    if layer.problem:
        return SuiteRun(complete=False, output=f"{layer.problem}\n".encode() + layer.output)
    return await run_suite(sandbox, replace(job, layer=layer.path), whole)


@dataclass
class _Runner:
    """The runs so far, by tree id; equal trees are run once (PT-7)."""

    sandbox: Sandbox
    request: Request
    deadline: float
    room: Room | None = None
    runs: dict[str, list[SuiteRun]] = field(default_factory=dict)
    suites: dict[str, list[SuiteRun]] = field(default_factory=dict)
    count: int = 0
    dropped: frozenset[str] = frozenset()
    needed: int = 0

    @property
    def named(self) -> tuple[str, ...]:
        return self.request.delta.named

    def moves(self, name: str) -> Moves:
        return _moves_of(self.request.delta, self.word("head") == "error") if name in FIXED_TESTS else NO_MOVES

    def word(self, name: str) -> str:
        return self.cell(name, NO_MOVES if name == "head" else None).result

    def cell(self, name: str, moves: Moves | None = None) -> Cell:
        tree = self.request.trees[name]
        runs = self.runs.get(tree, [])
        known = moves if moves is not None else self.moves(name)
        twin = next((other for other in self.request.trees if self.request.trees[other] == tree), name)
        seen = {test: seen_of(test, runs, known) for test in self.named}
        if tree == self.request.trees["fixed"] and self.dropped:
            seen = {
                test: Seen(one.runs, missing=one.runs) if test in self.dropped else one for test, one in seen.items()
            }
        mapped = {
            test: found.mapped for test in self.named for run in runs[:1] if (found := match(test, run, known)).mapped
        }
        return Cell(
            tests=seen,
            runs=len(runs),
            reported=all(run.complete for run in runs),
            same_as=twin if twin != name and runs else "",
            seconds=sum(run.wall_s for run in runs),
            exit_codes=tuple(run.rc for run in runs),
            mapped=mapped,
            needed=self.needed if name == "fixed" else 0,
            output=next((run.output for run in reversed(runs) if run.rc != 0), b""),
        )

    async def run(self, name: str, whole: bool = False) -> SuiteRun:
        """One run of the named tests, or of everything, in a fresh copy of the tree (PT-8)."""
        assert self.room is not None
        self.count += 1
        folder = f"t{self.count}"
        tree = self.request.trees[name]
        self.request.mirror.tree_files(tree, self.room.path / folder, self.room.uid)
        left = max(1.0, min(self.request.cell_s, self.deadline - time.monotonic()))
        tests = self._names_in(name)
        job = TestJob(
            files=self.room.path / folder,
            uid=self.room.uid,
            framework=self.request.delta.framework,
            test_ids=tests,
            limits=Limits.for_tests(left),
            own=self.request.own,
            tools=self.request.tools,
            seed=self.count,
        )
        try:
            found = await run_with_layer(self.sandbox, self.request, job, tree, whole)
        finally:
            self.room.remove(folder)
        if found.reason:
            raise NotRun(found.reason)
        (self.suites if whole else self.runs).setdefault(tree, []).append(found)
        self.request.keep(self.made)
        return found

    async def suite(self, name: str, n: int) -> SuiteRun:
        """The n-th run of everything; one that was made before is taken (PT-9)."""
        runs = self.suites.get(self.request.trees[name], [])
        return runs[n - 1] if len(runs) >= n else await self.run(name, whole=True)

    def adopt_suites(self) -> None:
        """A run of everything in which all named tests ran is one of their runs too (PX-9)."""
        for name in ("head", "fixed"):
            tree, moves = self.request.trees[name], self.moves(name)
            for run in self.suites.get(tree, ())[:1]:
                known = self.runs.setdefault(tree, [])
                if run not in known and run.complete and all(_ran(match(test, run, moves)) for test in self.named):
                    known.append(run)

    def _names_in(self, name: str) -> tuple[str, ...]:
        """The named ids, and for the fixed test side those that a rename led to."""
        moves = self.moves(name)
        return tuple(dict.fromkeys(one for test in self.named for one in moved_ids(test, moves)))

    def has(self, name: str, runs: int) -> bool:
        return len(self.runs.get(self.request.trees[name], [])) >= runs

    @property
    def made(self) -> dict[str, Runs]:
        """All runs so far, by tree; a tree of which only the whole suite ran tells nothing."""
        return {tree: Runs(tuple(one), tuple(self.suites.get(tree, ()))) for tree, one in self.runs.items() if one}

    @property
    def late(self) -> bool:
        return time.monotonic() >= self.deadline

    def long(self, name: str) -> bool:
        runs = self.runs.get(self.request.trees[name], [])
        return bool(runs) and runs[-1].wall_s > LONG_RUN_S

    def quick(self, name: str) -> bool:
        """A run is over within seconds, so twenty of them cost little."""
        runs = self.runs.get(self.request.trees[name], [])
        return all(run.wall_s < QUICK_RUN_S for run in runs)

    async def until(self, name: str, runs: int) -> None:
        """Runs of a cell up to a number; a run above 5 minutes is not repeated (PN-2)."""
        while not self.has(name, runs) and not self.late and not self.long(name):
            await self.run(name)


def seen_of(test: str, runs: Sequence[SuiteRun], moves: Moves) -> Seen:
    """What a named test did in the runs of one tree."""
    passes = fails = errors = missing = timeouts = retried = 0
    forged = False
    detail = ""
    for run in runs:
        found = match(test, run, moves)
        words = [row.outcome for row in found.rows]
        retried += any(row.retried for row in found.rows)
        forged |= "" in run.forged or any(row.id in run.forged for row in found.rows)
        if not run.complete and not words:
            errors += 1
        elif not run.complete or "error" in words or (not words and found.broken):
            errors += 1
            detail = detail or found.broken
        elif "failed" in words:
            fails += 1
        elif "skipped" in words or not words:
            missing += 1
        else:
            passes += 1
        bad = next((row for row in found.rows if row.outcome in ("failed", "error")), None)
        detail = detail or (bad.detail if bad is not None else "")
        timeouts += bad is not None and bad.by_time
    return Seen(len(runs), passes, fails, errors, missing, timeouts, retried, forged, detail)


def _moves_of(delta: Delta, units_too: bool) -> Moves:
    """Renamed files, and renamed units where head could load its tests (proof.md, 4.4, steps 4 and 5)."""
    files = {change.old: change.new for change in delta.fix if change.renamed and change.old and change.new}
    case = Case(delta)
    for move in case.moves:
        files.setdefault(move.old_file.path, move.new_file)
    units: dict[str, str] = {}
    if not units_too:
        units = {
            pair.old.own: pair.new.own
            for _, pair in case.pairs
            if pair.renamed and pair.old is not None and pair.new is not None
        }
    return Moves({str(k): str(v) for k, v in files.items()}, units)


async def _head_and_fixed(runner: _Runner, runs: int) -> None:
    """Head and fixed by turns (PN-7). A first failure in fixed ends it (PN-6)."""
    for n in range(1, runs + 1):
        await runner.until("head", n)
        if n == 1 or runner.word("fixed") == "pass":
            await runner.until("fixed", n)


async def _where_it_flakes(runner: _Runner) -> None:
    """More runs where head passes or flakes (PN-3, PN-4)."""
    if runner.word("head") == "pass":
        await runner.until("head", CAP // 2)
    if runner.word("head") == "flaky" and runner.word("fixed") == "pass":
        # Three runs say little of the rate; more of head cost less than the passes that a low bound would ask for.
        cap = CAP if runner.quick("head") else CAP // 2
        await runner.until("head", cap // 2)
        seen = [one for one in runner.cell("head").tests.values() if one.word == "flaky"]
        worst = min(seen, key=lambda one: one.fails + one.errors)
        runner.needed = runs_needed(worst.fails + worst.errors, worst.runs)
        await runner.until("fixed", min(cap, max(RUNS, runner.needed)))


async def _base(runner: _Runner) -> None:
    """Once; as often as the others where the test flakes."""
    await runner.until("base", 1)
    if runner.word("head") == "flaky":
        await runner.until("base", LEAST_BEFORE_BLOCK)


async def _the_rest(runner: _Runner) -> None:
    """S if F passes, then D if S passes, or O if it does not (PX-11); PN-13 before a block."""
    if runner.word("fixed") != "pass" or runner.word("head") in ("pass", "missing"):
        return
    await runner.until("fixed_without_source", 2 if runner.word("head") != "flaky" else LEAST_BEFORE_BLOCK)
    if runner.word("fixed_without_source") != "pass":
        if runner.request.trees["fixed_source_with_original_tests"] != runner.request.trees["fixed"]:
            await runner.until("fixed_source_with_original_tests", 2)
        return
    await runner.until("base_source_with_fixed_tests", 1)
    if runner.word("base_source_with_fixed_tests") == "pass":
        await runner.until("head", LEAST_BEFORE_BLOCK)
        if runner.word("head") == "flaky":
            await runner.until("base", LEAST_BEFORE_BLOCK)


def _is_worth_a_census(runner: _Runner) -> bool:
    """A named id walks around what a configuration leaves out (PX-9), so a changed one is looked at in any case."""
    settings = any(
        class_of_change(change, runner.request.delta.moved) == "harness" for change in runner.request.delta.fix
    )
    return runner.word("fixed") == "pass" or (settings and runner.word("fixed") in ("fail", "error"))


async def _census(runner: _Runner) -> Census | None:
    """The whole suite once in head and once in fixed (PT-12); what changed is tried again before it counts."""
    if runner.late or runner.long("head"):
        return Census(complete=False)
    head, fixed = await runner.suite("head", 1), await runner.suite("fixed", 1)
    moves = runner.moves("fixed")
    ended = fixed.complete or (runner.word("fixed") == "pass" and fixed.ended != "wall")
    runner.dropped = frozenset(
        test for test in runner.named if ended and _ran(match(test, head)) and not _there(match(test, fixed, moves))
    )
    doubtful = suspects(head, fixed, moves) if runner.word("fixed") == "pass" else []
    tries = (2, 3) if doubtful and not runner.late else ()
    again = [(await runner.suite("head", n), await runner.suite("fixed", n)) for n in tries]
    return compare((head, fixed), again, moves, runner.named)


def _ran(found: Match) -> bool:
    return any(row.outcome in ("passed", "failed", "error") for row in found.rows)


def _there(found: Match) -> bool:
    """Executed, or in a file that could not be loaded: then the cell is an error and not missing."""
    return _ran(found) or bool(found.broken)
