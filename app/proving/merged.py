"""Whether failing tests of a head that is behind pass once it is merged with the tip of its base (IT-26, BL-8)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from app.ledger.rows import Row
from app.ledger.rules import limits_of
from app.policy import Policy
from app.proving.commands import commands_of
from app.services import Services
from app.watched import while_ours
from app.workspace.checkout import Mirror
from app.workspace.git import Git
from app.workspace.grid.cells import LONG_RUN_S, RUNS, NotRun, Request, run_once
from app.workspace.grid.layers import Layers
from app.workspace.grid.trees import Three, delta_of
from app.workspace.rooms import Rooms
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Sandbox

EXPECTED: Mapping[str, tuple[str, ...]] = {"merged": ("pass",), "head": ("fail", "error")}
"""By tree, and in this order: most tests fail merged too, and then the head need not be run."""


@dataclass(frozen=True)
class Behind:
    """A head that lacks commits of `tip`, the base; `tests` are ids by framework. `policy` is the base's."""

    repository: Row
    head: str
    tip: str
    policy: Policy
    tests: Mapping[str, Sequence[str]]


def cured_by_merge(s: Services, mirror: Mirror, behind: Behind, lost: Callable[[], bool]) -> dict[str, int]:
    """Runs by test id, for tests that failed in each run of the head and passed in each run of the merged tree.

    Empty where a person has to merge. Raises UserError, where there is no sandbox too, and Stopped when `lost` says so.
    """
    merged = mirror.merged(behind.head, behind.tip)
    if merged is None:
        return {}
    trees = {"head": mirror.tree_of(behind.head), "merged": merged}
    return asyncio.run(while_ours(_measure(s, mirror, behind, trees), lost))


async def _measure(s: Services, mirror: Mirror, behind: Behind, trees: Mapping[str, str]) -> dict[str, int]:
    sandbox = await choose(s.settings, behind.repository.full_name)
    limits = limits_of(behind.repository, s.settings)
    git, tip = Git(mirror.path), mirror.tree_of(behind.tip)
    cured: dict[str, int] = {}
    for framework, tests in behind.tests.items():
        delta = delta_of(git, Three(tip, trees["head"], trees["head"]), tuple(tests), framework)
        own, moved = commands_of(behind.policy, delta.base)
        request = Request(
            mirror=mirror,
            rooms=Rooms.of(s.settings),
            trees=trees,
            delta=replace(delta, moved=moved),
            own=own,
            tools=s.settings.proof_tools,
            cell_s=float(limits.cell_s),
        )
        # Tests of a kind that cannot be run here say nothing about those of another kind.
        with suppress(NotRun), Layers(request.rooms, mirror, moved) as layers:
            cured |= await _by_turns(sandbox, replace(request, layers=layers))
    return cured


async def _by_turns(sandbox: Sandbox, request: Request) -> dict[str, int]:
    """A test is dropped with its first run that is not the expected one; no new round begins after some minutes."""
    left, rounds, spent_s = request.delta.named, 0, 0.0
    while left and rounds < RUNS and spent_s < LONG_RUN_S:
        for name, words in EXPECTED.items():
            if left:
                cell = await run_once(sandbox, replace(request, delta=replace(request.delta, named=left)), name)
                left = tuple(test for test in left if cell.tests[test].word in words)
                spent_s += cell.seconds
        rounds += 1
    return dict.fromkeys(left, rounds)
