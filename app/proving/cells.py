"""Run named tests in one tree, several times, in a fresh checkout; what is known of the very same tree is reused."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.ledger import proofs
from app.ledger.proofs import Cell
from app.ledger.words import TreeName
from app.runs.grid import REPEATS, Seen
from app.services import Services
from app.workspace.checkout import Mirror
from app.workspace.rooms import Rooms
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Sandbox, test_limits
from app.workspace.tests.model import CellResult, OwnCommand, TestJob
from app.workspace.tests.run import run_tests


@dataclass(frozen=True)
class Trial:
    """What is run: named tests of one framework, with the commands that the base's policy gives for them."""

    repository: str
    is_fork: bool
    framework: str
    own: tuple[OwnCommand, ...] = ()

    def environment(self, s: Services, sandbox: Sandbox) -> str:
        """A digest of what may change the answer beside the tree; cells are reused within it (CR-6)."""
        facts = (self.framework, repr(self.own), s.settings.proof_tools, sandbox.name, str(int(sandbox.tier)))
        return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class TreeSeen:
    """One tree after its runs; `output` is the end of what the last failing run printed, `reason` why nothing ran."""

    name: TreeName
    tree: str
    env: str
    seen: Mapping[str, Seen]
    output: bytes
    reason: str
    tier: str


def look(
    s: Services, mirror: Mirror, trial: Trial, tree: tuple[TreeName, str, Sequence[str]], lost: Callable[[], bool]
) -> TreeSeen:
    """Run the tests `tree[2]` in the tree `tree[1]`; raises SandboxUnavailable, and InterruptedError when `lost`."""
    return asyncio.run(_look(s, mirror, trial, tree, lost))


async def _look(
    s: Services, mirror: Mirror, trial: Trial, tree: tuple[TreeName, str, Sequence[str]], lost: Callable[[], bool]
) -> TreeSeen:
    name, tree_id, tests = tree
    sandbox = await choose(s.settings, trial.repository, trial.is_fork)
    env = trial.environment(s, sandbox)
    known = _known(s, tree_id, tests, env)
    if known is not None:
        return TreeSeen(name, tree_id, env, known, b"", "", sandbox.tier.name)
    results: list[CellResult] = []
    for seed in range(REPEATS):
        if lost():
            raise InterruptedError
        results.append(await _once(s, mirror, sandbox, trial, (tree_id, tests, seed)))
    last = next((r for r in reversed(results) if r.rc), results[-1])
    reason = next((r.reason for r in results if r.reason), "")
    seen = {test: _count(results, test) for test in tests}
    return TreeSeen(name, tree_id, env, seen, last.output_tail, reason, sandbox.tier.name)


async def _once(
    s: Services, mirror: Mirror, sandbox: Sandbox, trial: Trial, what: tuple[str, Sequence[str], int]
) -> CellResult:
    tree_id, tests, seed = what
    with Rooms.of(s.settings).scratch() as room:
        files = room.path / "tree"
        mirror.tree_files(tree_id, files, room.uid)
        limits = test_limits(float(s.settings.limits.cell_s))
        job = TestJob(files, room.uid, trial.framework, tuple(tests), limits, trial.own, s.settings.proof_tools, seed)
        return await run_tests(sandbox, job)


def _known(s: Services, tree_id: str, tests: Sequence[str], env: str) -> Mapping[str, Seen] | None:
    """All tests of this very tree and environment, if every one of them was run before."""
    with s.read() as conn:
        rows = {test: proofs.known_cell(conn, tree_id, test, env) for test in tests}
    found = {test: Seen(r.runs, r.passes, r.fails, r.not_run) for test, r in rows.items() if r is not None}
    complete = len(found) == len(tests) and all(seen.ran and seen.runs >= REPEATS for seen in found.values())
    return found if complete else None


def _count(results: Sequence[CellResult], test: str) -> Seen:
    rows = [result.rows[test] for result in results]
    passes = sum(row.outcome == "passed" and not row.retried for row in rows)
    fails = sum(row.outcome in ("failed", "error") or row.retried for row in rows)
    return Seen(len(rows), passes, fails, len(rows) - passes - fails)


def keep(conn: Connection, proof_id: str, found: TreeSeen, expected: str, evidence_id: str | None) -> None:
    """The cells of one tree as rows."""
    for test, seen in found.seen.items():
        cell = Cell(
            tree_name=found.name,
            test_id=test,
            tree=found.tree,
            env=found.env,
            runs=seen.runs,
            passes=seen.passes,
            fails=seen.fails,
            not_run=seen.not_run,
            expected=expected,
            evidence_id=evidence_id,
        )
        proofs.store_cell(conn, proof_id, cell)
