"""Decide which prints are one failure and what counts: the only place that does (section 4.3)."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.failures.frameworks.detector import Found
from app.failures.recorder import Run, Segment

_SEPARATORS = re.compile(r"[\W_]+")
Key = tuple[str, str, str]


def fold(test_id: str) -> str:
    """Letters and digits alone, lower case: two spellings of one name compare equal (section 3.1)."""
    return _SEPARATORS.sub(" ", test_id).strip().lower()


def merge(runs: Sequence[Run], ended_well: Callable[[Segment], bool] = lambda _: False) -> list[Found]:
    """One finding for each failing test, in order of first appearance; flaky ones are marked."""
    merged: dict[Key, Found] = {}
    first: dict[Key, int] = {}
    retried = _retried(runs, ended_well)
    for run in runs:
        for found in _settle(run):
            key = (found.framework, found.scope, found.id)
            if run.number in retried and not found.flaky:
                found = replace(found, flaky=True)
            known = merged.get(key)
            merged[key] = found if known is None else _join(known, found)
            first.setdefault(key, found.at.offset if found.at else 0)
    _clear_passed(runs, merged)
    kept = _without_containers(_without_tails(merged))
    return sorted(kept.values(), key=lambda one: first[(one.framework, one.scope, one.id)])


def _settle(run: Run) -> list[Found]:
    """The findings of one run; its own total says whether weak prints are needed (MG-2, MG-3, MG-4)."""
    groups: dict[tuple[str, str], Found] = {}
    for found in run.found:
        key = (found.scope, found.id)
        groups[key] = _join(groups[key], found) if key in groups else found
    rows = list(groups.values())
    strong = [one for one in rows if one.rank >= 1]
    if run.failed is not None:
        if run.failed == 0 and not strong:
            return [one for one in rows if one.flaky]
        if len([one for one in strong if not one.flaky]) >= run.failed:
            rows = [one for one in rows if one.rank >= 1 or one.flaky]
    if any(one.rank >= 0 for one in rows):
        rows = [one for one in rows if one.rank >= 0]
    return rows


def _join(one: Found, other: Found) -> Found:
    """Two prints of one failure: the higher rank gives the id, the detail block gives text and place (MG-1)."""
    best, less = (one, other) if one.rank >= other.rank else (other, one)
    block = one if one.rank == 1 and one.detail else other if other.rank == 1 and other.detail else best
    kind = "fail" if "fail" in (one.kind, other.kind) and "error" in (one.kind, other.kind) else block.kind
    message = max((found.message for found in (one, other) if found.rank == 1), key=len, default="")
    placed = block if block.line is not None else best if best.line is not None else less
    at = one.at if one.at and (not other.at or one.at.offset <= other.at.offset) else other.at
    return replace(
        best,
        id=best.id,
        kind=kind if kind != "fail" else block.kind if block.kind != "error" else "fail",
        message=message or best.message or less.message,
        detail=max((one.detail, other.detail), key=lambda detail: sum(map(len, detail))),
        file=placed.file or best.file or less.file,
        line=placed.line,
        optional=one.optional and other.optional,
        flaky=one.flaky and other.flaky,
        at=at,
    )


def _retried(runs: Sequence[Run], ended_well: Callable[[Segment], bool]) -> set[int]:
    """Numbers of runs that were repeated as a whole: a later complete run of the framework ran as many tests (RP-6)."""
    old: set[int] = set()
    for at, run in enumerate(runs):
        if not run.ended or not run.ran:
            continue
        for later in runs[at + 1 :]:
            same = later.framework == run.framework and later.stream == run.stream and later.ended
            if same and later.ran == run.ran and _repeats(run, later, ended_well):
                old.add(run.number)
                break
    return old


def _repeats(run: Run, later: Run, ended_well: Callable[[Segment], bool]) -> bool:
    """Two packages may have as many tests: they share a name, or the later run is clean and its command ended well."""
    first, second = run.segment.command, later.segment.command
    if first and second and first != second:
        return False
    ids = {fold(found.id) for found in run.found}
    later_ids = {fold(found.id) for found in later.found}
    shared = ids & (later_ids | {fold(name) for _, name in later.passed})
    return bool(shared) or (not later_ids and ended_well(later.segment))


def _clear_passed(runs: Sequence[Run], merged: dict[Key, Found]) -> None:
    """A later pass of the same name makes a failure flaky (FL-2)."""
    last_failed: dict[Key, int] = {}
    for run in runs:
        for found in run.found:
            last_failed[(found.framework, found.scope, found.id)] = run.number
    for run in runs:
        for scope, name in run.passed:
            key = (run.framework, scope, " ".join(name.split()))
            if key in merged and run.number > last_failed[key]:
                merged[key] = replace(merged[key], flaky=True)


def _without_tails(merged: dict[Key, Found]) -> dict[Key, Found]:
    """Drop a less complete spelling when exactly one finding of the framework ends with it (ID-10)."""
    by_tail: dict[tuple[str, str], list[Key]] = {}
    for key, found in merged.items():
        words = fold(found.id).split()
        for start in range(1, min(len(words), 40)):
            by_tail.setdefault((found.framework, " ".join(words[start:])), []).append(key)
    kept = dict(merged)
    for key, found in merged.items():
        longer = [other for other in by_tail.get((found.framework, fold(found.id)), ()) if other in kept]
        if len(longer) == 1 and found.rank < 2 and longer[0] != key:
            whole = kept[longer[0]]
            kept[longer[0]] = replace(_join(whole, found), id=whole.id)
            del kept[key]
    return kept


def _without_containers(merged: dict[Key, Found]) -> dict[Key, Found]:
    """A container goes when a child is listed, a test of a stack when another explains the end (OP-1, OP-3)."""
    sure = [found for found in merged.values() if not (found.optional or found.wraps or found.flaky)]
    if not sure:
        return merged
    return {key: found for key, found in merged.items() if not (found.optional or found.wraps) or _is_lone(found, sure)}


def _is_lone(found: Found, sure: Iterable[Found]) -> bool:
    if found.wraps:
        return all(one.framework == found.framework for one in sure)
    return found.kind not in ("crash", "timeout") and not any(_is_child(one, found) for one in sure)


def _is_child(one: Found, container: Found) -> bool:
    return one.framework == container.framework and one.scope == container.scope and one.id.startswith(container.id)
