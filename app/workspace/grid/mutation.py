"""Run the named tests against changed copies of the fixed tree (proof.md, MM-3 to MM-6)."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from app.integrity.mutants import Mutant, Mutation, mutants_of
from app.workspace.git import Git
from app.workspace.grid.cells import NotRun, Request, run_with_layer
from app.workspace.grid.files import entries_of
from app.workspace.sandbox.model import Limits, Sandbox
from app.workspace.tests.match import match
from app.workspace.tests.model import TestJob
from app.workspace.tests.suite import SuiteRun

ALL_S, LEAST_S, TIMES = 60.0, 5.0, 3


async def run_mutants(
    sandbox: Sandbox, request: Request, normal_s: float, *, whole: bool = True, all_s: float = ALL_S
) -> Mutation:
    """Kill counts of at most 20 mutants in `all_s`. Without `whole` it ends at the first one that is killed.

    `normal_s` is the time of one run of the fixed tree. A mutant that cannot be loaded counts as neither (MM-4).
    """
    git = Git(request.mirror.path)
    deadline = time.monotonic() + all_s
    killed, survivors = 0, []
    for n, mutant in enumerate(mutants_of(request.delta)):
        if time.monotonic() >= deadline or (killed and not whole):
            break
        word = await _word_of(sandbox, request, _tree_with(git, request.trees["fixed"], mutant), (n, normal_s))
        killed += word == "killed"
        if word == "survived":
            survivors.append(mutant)
    return Mutation(killed + len(survivors), killed, tuple(survivors))


def _tree_with(git: Git, tree: str, mutant: Mutant) -> str:
    """Tree id of `tree` with the mutant's file; the tree itself stays as it is."""
    own = git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=mutant.data).decode().strip()
    mode = entries_of(git, tree)[mutant.path].mode
    with tempfile.TemporaryDirectory(prefix="remedy-index-") as folder:
        changed = replace(git, index=Path(folder) / "index")
        changed.run("read-tree", "--end-of-options", tree)
        line = f"{mode} {own}\t{mutant.path}\0"
        changed.run("update-index", "-z", "--index-info", stdin=line.encode("utf-8", "surrogateescape"))
        return changed.text("write-tree")


async def _word_of(sandbox: Sandbox, request: Request, tree: str, run: tuple[int, float]) -> str:
    seed, normal_s = run
    with request.rooms.scratch() as room:
        files = room.path / "mutant"
        request.mirror.tree_files(tree, files, room.uid)
        limits = Limits.for_tests(max(LEAST_S, TIMES * normal_s))
        job = TestJob(
            files, room.uid, request.delta.framework, request.delta.named, limits, request.own, request.tools, seed
        )
        found = await run_with_layer(sandbox, request, job, tree)
    if found.reason:
        raise NotRun(found.reason)
    return _judged(found, request.delta.named)


def _judged(run: SuiteRun, named: tuple[str, ...]) -> str:
    """A test that fails, or hangs until its time, kills; what does not load says nothing."""
    if run.ended == "wall":
        return "killed"
    if not run.complete or run.broken:
        return "neither"
    words = [row.outcome for test in named for row in match(test, run).rows]
    if "failed" in words:
        return "killed"
    return "survived" if words and all(word == "passed" for word in words) else "neither"
