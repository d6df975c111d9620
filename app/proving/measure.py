"""Run a proof: the named tests in base, head and fix, and what earlier steps repaired once more in the fix (PF-3)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from app.ledger.rules import limits_of
from app.proving.case import Case
from app.proving.change import Change
from app.runs.model import ProofOutcome
from app.workspace.checkout import Mirror
from app.workspace.proof.cells import ProofRequest, prove, run_cells
from app.workspace.proof.model import Claim, ProofResult, TreeName
from app.workspace.rooms import Rooms
from app.workspace.sandbox.choose import choose

LOOK_S = 0.2


class Stopped(Exception):
    """The proof was cancelled or its lease was lost; nothing of it is written."""


def measure(case: Case, mirror: Mirror, change: Change, lost: Callable[[], bool]) -> ProofResult:
    """The proof of one change. Raises SandboxUnavailable, and Stopped as soon as `lost` says so (LE-5)."""
    return asyncio.run(_watched(case, mirror, change, lost))


async def _watched(case: Case, mirror: Mirror, change: Change, lost: Callable[[], bool]) -> ProofResult:
    task = asyncio.create_task(_measure(case, mirror, change))
    while not task.done():
        await asyncio.wait({task}, timeout=LOOK_S)
        if lost() and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise Stopped
    return task.result()


async def _measure(case: Case, mirror: Mirror, change: Change) -> ProofResult:
    settings = case.s.settings
    limits = limits_of(case.repository, settings)
    sandbox = await choose(settings, case.repository.full_name, case.scope.is_fork)
    trees = {TreeName.HEAD: mirror.tree_of(case.proof.head_sha), TreeName.FIXED: change.tree}
    base = _base(case, mirror)
    if base:
        trees[TreeName.BASE] = base
    request = ProofRequest(
        mirror=mirror,
        rooms=Rooms.of(settings),
        trees=trees,
        test_ids=tuple(row.test_id for row in case.named),
        framework=case.framework,
        own=case.own,
        tools=settings.proof_tools,
        cell_s=float(limits.cell_s),
        proof_s=float(limits.proof_s),
    )
    result = await prove(sandbox, request)
    if result.outcome is not ProofOutcome.PASSED or not case.earlier:
        return result
    before = tuple(row.test_id for row in case.earlier)
    only_fix = replace(request, trees={TreeName.FIXED: change.tree}, test_ids=before, runs=1)
    kept = (await run_cells(sandbox, only_fix))[TreeName.FIXED]
    if kept.result(before) == "pass":
        return result
    why = "a test that an earlier step repaired fails again with this one"
    return replace(result, outcome=ProofOutcome.FAILED, claim=Claim.NOT_FIXED, reason=why)


def _base(case: Case, mirror: Mirror) -> str:
    """The tree that the pull request grew from; empty where it is not known."""
    base, head = case.proof.base_sha, case.proof.head_sha
    if not base or not mirror.has(base):
        return ""
    fork_point = mirror.merge_base(base, head)
    return mirror.tree_of(fork_point) if fork_point else ""
