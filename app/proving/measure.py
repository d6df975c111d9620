"""Measure a proof: the cells of the grid, mutants of the changed lines, and what the gate says about both."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from app.integrity.combine import Judgement, judge
from app.integrity.model import Delta, Finding, Grid
from app.integrity.mutants import Mutation, finding_of
from app.integrity.sentences import SENTENCES
from app.ledger.rules import limits_of
from app.proving.case import Case
from app.proving.change import Change
from app.proving.commands import commands_of
from app.proving.draft import draft_of
from app.proving.known import known_runs
from app.watched import while_ours
from app.workspace.checkout import Mirror
from app.workspace.git import Git
from app.workspace.grid.apart import problem_of
from app.workspace.grid.cells import Measured, NotRun, Request, run_grid, run_once
from app.workspace.grid.known import environment_of
from app.workspace.grid.layers import Layers
from app.workspace.grid.mutation import run_mutants
from app.workspace.grid.stripped import offer
from app.workspace.grid.trees import Three, delta_of, six
from app.workspace.rooms import Rooms
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Sandbox


@dataclass(frozen=True)
class Proved:
    """What was measured and what follows from it. `environment` is the digest under which runs may be used again."""

    measured: Measured
    judgement: Judgement
    trees: Mapping[str, str]
    environment: str
    sandbox: Sandbox
    mutation: Mutation | None = None

    @property
    def grid(self) -> Grid:
        return self.measured.grid


def measure(case: Case, mirror: Mirror, change: Change, lost: Callable[[], bool]) -> Proved:
    """The proof of one change. Raises SandboxUnavailable, NotRun, and Stopped as soon as `lost` says so (LE-5)."""
    return asyncio.run(while_ours(_measure(case, mirror, change), lost))


async def _measure(case: Case, mirror: Mirror, change: Change) -> Proved:
    settings = case.s.settings
    limits = limits_of(case.repository, settings)
    sandbox = await choose(settings, case.repository.full_name, case.scope.is_fork)
    git = Git(mirror.path)
    three = Three(_base(case, mirror), mirror.tree_of(case.proof.head_sha), change.tree)
    delta = delta_of(git, three, tuple(row.test_id for row in case.named), case.framework, change.title)
    own, moved = commands_of(case.policy, delta.base)
    if problem := await asyncio.to_thread(problem_of, git, three, replace(delta, moved=moved)):
        raise NotRun(problem)
    environment = environment_of(sandbox, settings.proof_tools, case.framework, own)
    trees = six(git, three, moved)
    draft = draft_of(settings.data, case.run.id, environment, delta.named)
    request = Request(
        mirror=mirror,
        rooms=Rooms.of(settings),
        trees=trees,
        delta=replace(delta, moved=moved, waived=frozenset(case.policy.waive)),
        own=own,
        tools=settings.proof_tools,
        cell_s=float(limits.cell_s),
        proof_s=float(limits.proof_s),
        known={**known_runs(case, set(trees.values()), environment), **draft.read(set(trees.values()))},
        keep=draft.write,
    )
    with Layers(request.rooms, mirror, moved) as layers:
        return await _proved(case, sandbox, replace(request, layers=layers), environment)


async def _proved(case: Case, sandbox: Sandbox, request: Request, environment: str) -> Proved:
    measured = await run_grid(sandbox, request)
    grid, mutation = measured.grid, None
    judgement = await _judged(request.delta, grid)
    offered = await offer(sandbox, request, grid, judgement)
    said: tuple[Finding, ...] = () if offered is None else (offered,)
    if judgement.verdict != "block" and grid.word("fixed") == "pass":
        more, mutation = await _more(case, sandbox, request, grid)
        said += more
    if said:
        judgement = await _judged(request.delta, grid, *said)
    return Proved(measured, judgement, request.trees, environment, sandbox, mutation)


async def _judged(delta: Delta, grid: Grid, *more: Finding) -> Judgement:
    """In a thread: reading many files must not keep the watch over the lease waiting."""
    return await asyncio.to_thread(judge, delta, grid, more)


async def _more(
    case: Case, sandbox: Sandbox, request: Request, grid: Grid
) -> tuple[tuple[Finding, ...], Mutation | None]:
    """What is worth its time only where nothing blocks yet: tests of earlier steps (PF-3), then mutants (MM-6)."""
    if gone := await _lost_again(case, sandbox, request):
        title, sentence = SENTENCES["PG108"]
        return tuple(
            Finding("PG108", "block", unit=t, title=title, explanation=sentence, source="grid") for t in gone
        ), None
    fixed = grid.cells["fixed"]
    all_s = float(limits_of(case.repository, case.s.settings).mutants_s)
    mutation = await run_mutants(sandbox, request, fixed.seconds / max(1, fixed.runs), all_s=all_s)
    said = finding_of(mutation)
    return (said,) if said is not None else (), mutation if mutation.mutants else None


async def _lost_again(case: Case, sandbox: Sandbox, request: Request) -> list[str]:
    """Tests that an earlier step repaired and that do not pass in the fix of this one."""
    lost: list[str] = []
    for framework in sorted({row.framework for row in case.earlier}):
        tests = tuple(row.test_id for row in case.earlier if row.framework == framework)
        delta = replace(request.delta, named=tests, framework=framework)
        cell = await run_once(sandbox, replace(request, delta=delta), "fixed")
        lost += [test for test, seen in cell.tests.items() if seen.word != "pass"]
    return lost


def _base(case: Case, mirror: Mirror) -> str:
    """The tree that the pull request grew from; the head itself where it is not known, so that it says nothing new."""
    base, head = case.proof.base_sha, case.proof.head_sha
    fork_point = mirror.merge_base(base, head) if base and mirror.has(base) else None
    return mirror.tree_of(fork_point or head)
