"""Compare the whole suite of head and fixed (proof.md, 4.3)."""

from collections.abc import Sequence

from app.integrity.model import Census
from app.workspace.tests.match import Moves, match
from app.workspace.tests.suite import SuiteRun


def suspects(head: SuiteRun, fixed: SuiteRun, moves: Moves) -> list[str]:
    """Ids that passed in head and do not pass in fixed."""
    passed = [row.id for row in head.rows if row.outcome == "passed"]
    return [name for name in dict.fromkeys(passed) if _word(name, fixed, moves) != "passed"]


def _word(name: str, run: SuiteRun, moves: Moves) -> str:
    found = match(name, run, moves)
    words = [row.outcome for row in found.rows]
    if "error" in words or (not words and found.broken):
        return "error"
    return "failed" if "failed" in words else "passed" if "passed" in words else "missing"


def compare(
    first: tuple[SuiteRun, SuiteRun], again: Sequence[tuple[SuiteRun, SuiteRun]], moves: Moves, named: Sequence[str]
) -> Census:
    """PX-20 to PX-25. What failed in head by chance, or passes in fixed at another try, is no evidence."""
    head, fixed = first
    if "wall" in (head.ended, fixed.ended):
        return Census(complete=False, ran_in_fixed=_ran(fixed))
    if not head.complete or not head.rows:
        # A head that cannot load its tests tells nothing to compare with.
        return Census(ran_in_fixed=_ran(fixed))
    known = {row.id for row in head.rows}
    fresh = [row for row in fixed.rows if row.id not in known]
    broken, lost, moved = [], [], []
    for name in suspects(head, fixed, moves):
        words = [_word(name, fixed, moves), *(_word(name, later, moves) for _, later in again)]
        if "passed" in words or any(_word(name, earlier, Moves()) != "passed" for earlier, _ in again):
            continue
        if words[0] in ("failed", "error"):
            broken.append(name)
        elif any(_successor(name, row.id) for row in fresh):
            moved.append(name)
        elif name not in named:
            lost.append(name)
    failing = [row.id for row in fresh if row.outcome in ("failed", "error") and _always(row.id, again, moves)]
    return Census(tuple(lost), tuple(broken), tuple(moved), tuple(failing), _ran(fixed))


def _always(name: str, again: Sequence[tuple[SuiteRun, SuiteRun]], moves: Moves) -> bool:
    return all(_word(name, fixed, moves) != "passed" for _, fixed in again)


def _ran(run: SuiteRun) -> frozenset[str]:
    return frozenset(row.id for row in run.rows if row.outcome == "passed")


def _successor(old: str, new: str) -> bool:
    """A row of the same test with other arguments, the same title elsewhere, or a new test beside it."""
    bare_old, bare_new = old.partition("[")[0], new.partition("[")[0]
    if bare_old == bare_new:
        return True
    parts_old, parts_new = _split(bare_old), _split(bare_new)
    return parts_old[-1] == parts_new[-1] or parts_old[:-1] == parts_new[:-1]


def _split(name: str) -> list[str]:
    for sign in ("::", " > ", "#"):
        if sign in name:
            return name.split(sign)
    return name.split(".")
