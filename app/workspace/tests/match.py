"""Find the rows that a named test means: ids of logs and of reports differ (proof.md, 4.4)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.workspace.tests.frameworks.model import Row
from app.workspace.tests.own import folded
from app.workspace.tests.suite import SuiteRun


@dataclass(frozen=True)
class Moves:
    """What the fix renamed: files by old path, own names of test units by old name."""

    files: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


NO_MOVES = Moves()


@dataclass(frozen=True)
class Match:
    """The rows of a named test, all that fit; `mapped` is the id they have when a rename led there."""

    rows: tuple[Row, ...]
    broken: str = ""
    mapped: str = ""


def match(test: str, run: SuiteRun, moves: Moves = NO_MOVES) -> Match:
    """By the steps of 4.4: equal, folded, tail, renamed file, renamed unit. Two candidates: all of them count."""
    found = _plain(test, run.rows)
    if found:
        return Match(tuple(found), _broken(test, run) if not found else "")
    for other in _moved(test, moves):
        found = _plain(other, run.rows)
        if found:
            return Match(tuple(found), mapped=found[0].id)
    return Match((), _broken(test, run) or next((w for o in _moved(test, moves) if (w := _broken(o, run))), ""))


def _plain(test: str, rows: Sequence[Row]) -> list[Row]:
    equal = [row for row in rows if row.id == test or row.id.startswith((f"{test}[", f"{test}::"))]
    if equal:
        return equal
    wanted = folded(test)
    same = [row for row in rows if folded(row.id) == wanted]
    if same:
        return same
    tails = [row for row in rows if _is_tail(folded(row.id), wanted)]
    return tails if len({row.id for row in tails}) == 1 else []


def _is_tail(one: str, other: str) -> bool:
    return one.endswith((f".{other}", f"#{other}")) or other.endswith((f".{one}", f"#{one}"))


def _dotted(path: str) -> str:
    """The module or class that a file is."""
    return re.sub(r"\.(?:py|java|kt)$", "", re.sub(r"^(?:.*/)?src/(?:test|main)/(?:java|kotlin)/", "", path)).replace(
        "/", "."
    )


def moved_ids(test: str, moves: Moves) -> list[str]:
    """The ids that a test may have after the fix, itself first."""
    return list(dict.fromkeys([test, *_moved(test, moves)]))


def _moved(test: str, moves: Moves) -> list[str]:
    """The id under the new file, the new unit name, or both."""
    found = []
    for old, new in moves.files.items():
        if test.startswith((f"{old}::", f"{old} > ")) or test == old:
            found.append(new + test[len(old) :])
        dotted = _dotted(old)
        if test.startswith((f"{dotted}.", f"{dotted}#")):
            found.append(_dotted(new) + test[len(dotted) :])
    for old, new in moves.units.items():
        for name in (test, *found):
            head, bracket, rows = name.partition("[")
            if head.endswith(old) and (len(head) == len(old) or not head[-len(old) - 1].isalnum()):
                found.append(head[: -len(old)] + new + bracket + rows)
    return found


def _broken(test: str, run: SuiteRun) -> str:
    """Why the place that holds this test could not be loaded; empty when it could."""
    for place, why in run.broken.items():
        if (
            place in ("", ".")
            or test == place
            or test.startswith((f"{place}::", f"{place}/", f"{place} > ", f"{place}.", f"{place}#"))
        ):
            return why or "could not be loaded"
    return ""
