"""Tests that are no longer there or no longer collected: TI100, TI101, TI103, TI104."""

import re
from collections.abc import Iterator

from app.integrity.checks.model import Check
from app.integrity.classes import class_of
from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.rules.rows import rows_of
from app.integrity.units import Pair, Unit

# What the runners collect by default; a project that collects more loses nothing by a review.
_COLLECTED = re.compile(
    r"(?:.*/)?(?:test_[^/]*\.py|[^/]*_test\.(?:py|go|rb)|test_[^/]*\.rb|[^/]*_spec\.rb|[^/]*\.(?:test|spec)\.[cm]?[jt]sx?|"
    r"(?:test|tests|__tests__|spec)/(?:.*/)?[^/]*\.(?:[cm]?[jt]sx?|rs|java|kt)|src/test/.*\.(?:java|kt)|.*\.rs|"
    r"[^/]*Tests?\.(?:java|kt|cs)|tests?\.py)"
)


def files_gone(case: Case) -> Iterator[Finding]:
    """TI100 and TI104: a test file deleted, or moved where no runner looks."""
    moved = {move.old_file.path for move in case.moves}
    for file in case.of("test"):
        old, new = file.change.old, file.change.new
        if old is None or not (file.old_units or _COLLECTED.fullmatch(old)):
            continue
        if new is None:
            left = [pair.old for pair in file.pairs if pair.old and not any(m.old is pair.old for m in case.moves)]
            if file.old_units and (left or file.path not in moved):
                yield case.finding("TI100", "block", file, Spot(side="old", before=file.old_lines))
        elif old != new and _COLLECTED.fullmatch(old) and not _COLLECTED.fullmatch(new):
            yield case.finding("TI104", "block", file, Spot(before=[old], after=[new]))


def units_gone(case: Case) -> Iterator[Finding]:
    """TI101: a unit that is gone; what it checked may stand in another unit."""
    for file, pair in case.pairs:
        old = pair.old
        if old is None or file.change.new is None:
            continue
        if pair.new is None:
            yield from _gone(case, file, old)
        elif _moved_file(case, file, pair):
            severity = _moved_severity(case, old, pair.new)
            yield case.finding("TI101", severity, file, _spot(old, pair.new, "test moved"))
        elif pair.renamed:
            same = case.checks(old, case.parsed_of(file, old))
            kept = _keeps(same, case.checks(pair.new, case.parsed_of(file, pair.new)))
            yield case.finding(
                "TI101", "info" if kept else "review", file, _spot(old, pair.new, "test renamed"), soft=True
            )


def _moved_file(case: Case, file: FileView, pair: Pair) -> bool:
    return file.change.renamed or any(move.old is pair.old for move in case.moves)


def _moved_severity(case: Case, old: Unit, new: Unit) -> Severity:
    """Unchanged and ran in F: information. Without a census that it ran is not known (PV-3)."""
    ran = case.grid is not None and (
        (case.grid.census is not None and any(new.own in test for test in case.grid.census.ran_in_fixed))
        or case.word("fixed") == "pass"
    )
    return "info" if old.words == new.words and ran else "review"


def _spot(old: Unit, new: Unit, title: str) -> Spot:
    return Spot(new, new.line, [old.name], [new.name], title=title)


def _gone(case: Case, file: FileView, old: Unit) -> Iterator[Finding]:
    checks = case.checks(old, case.parsed_of(file, old))
    heirs = [pair.new for other, pair in case.pairs if pair.old is None and pair.new and other.cls == file.cls]
    successor = next(
        (new for new in heirs if _keeps(checks, case.checks(new, case.parsed_of(file, new)))),
        None,
    )
    severity: Severity = "review" if successor is not None and checks else "block"
    row = next((new for new in heirs if _is_row_of(case, file, (old, checks), new)), None)
    if row is not None:
        ran = case.word("fixed") == "pass" or case.alone
        severity, successor = ("info" if ran else "review"), row
    after = [successor.name] if successor is not None else []
    yield case.finding("TI101", severity, file, Spot(old, old.line, [old.name], after, side="old"))


def _is_row_of(case: Case, file: FileView, gone: tuple[Unit, list[Check]], new: Unit) -> bool:
    """The old test became a row of a parametrised one: its values stand in one row, its strength in the new check."""
    _, checks = gone
    values = {
        word for check in checks for word in (*check.subject, *check.expected) if word[0] == '"' or word[:1].isdigit()
    }
    parsed = case.parsed_of(file, new)
    rows = rows_of(new, parsed)
    return bool(values) and any(values <= set(row) for row in rows) and _keeps(checks[:1], case.checks(new, parsed))


def _keeps(old: list[Check], new: list[Check]) -> bool:
    """Each old assertion has a new one that is as strict."""
    strengths = sorted((check.strength for check in new), reverse=True)
    wanted = sorted((check.strength for check in old), reverse=True)
    return len(strengths) >= len(wanted) and all(has >= wants for has, wants in zip(strengths, wanted, strict=False))


def rows_gone(case: Case) -> Iterator[Finding]:
    """TI103: rows of a parametrised or table test."""
    for file, pair in case.pairs:
        if pair.old is None or pair.new is None:
            continue
        old_parsed, new_parsed = case.parsed_of(file, pair.old), case.parsed_of(file, pair.new)
        before, after = rows_of(pair.old, old_parsed), rows_of(pair.new, new_parsed)
        gone = [row for row in before if row not in after]
        if not before or len(after) >= len(before) or not gone:
            continue
        shown = [" ".join(row) for row in gone]
        severity: Severity = "block" if case.is_named(file, pair.old) else "review"
        yield case.finding("TI103", severity, file, Spot(pair.new, pair.new.line, shown))


def other_class(path: str) -> bool:
    """The path is no test any more."""
    return class_of(path) != "test"
