"""What kind of change the test side of a fix is: only limits, only expected values, only snapshots, only set-up."""

import re

from app.integrity.checks.model import Check
from app.integrity.claims import Facts
from app.integrity.classes import is_snapshot
from app.integrity.evidence.documents import states_time
from app.integrity.evidence.signs import signs_of
from app.integrity.rules.case import Case, FileView
from app.integrity.rules.marks import unit_words
from app.integrity.rules.times import limits_in
from app.integrity.syntax import QUOTE, Words, number
from app.integrity.units import Pair


def facts_of(case: Case) -> Facts:
    """The facts of the claim table that come from the delta."""
    side = [file for file in case.files if file.cls in ("test", "harness")]
    snapshots = [file for file in side if _is_data(file)]
    code = [file for file in side if not _is_data(file)]
    return Facts(
        has_tests=bool(side),
        only_harness=bool(side) and all(file.cls == "harness" for file in side),
        only_limits=bool(side) and all(_only_limits(case, file) for file in side),
        only_expected=bool(side) and all(only_expected(case, file) for file in code),
        only_snapshots=bool(snapshots) and not code,
        documented_time=states_time(case.delta, _old_limit(case)),
        intent=bool(signs_of(case)),
        replaced=_replaced(case),
    )


def _is_data(file: FileView) -> bool:
    """A file of expected output: below a snapshot folder, or a test file that is no code."""
    return (
        file.cls == "test"
        and not file.old_units
        and not file.new_units
        and (is_snapshot(file.path) or file.new is None)
    )


def only_expected(case: Case, file: FileView) -> bool:
    """All that differs in this file stands in expected values of assertions, or in rows of tables."""
    if file.old is None or file.new is None or not file.pairs:
        return False
    if any(pair.old is None or pair.new is None for pair in file.pairs):
        return False
    if [w.text for w in file.outside("old")] != [w.text for w in file.outside("new")]:
        return False
    return all(_only_literals(case, file, pair) for pair in file.pairs)


def _only_literals(case: Case, file: FileView, pair: Pair) -> bool:
    """Word by word the same, but for literals; and each assertion keeps its subject and strength."""
    assert pair.old is not None and pair.new is not None
    if pair.old.words == pair.new.words:
        return True
    old, new = (case.checks(unit, case.parsed_of(file, unit)) for unit in (pair.old, pair.new))
    kept = len(old) == len(new) and all(_same_question(a, b) for a, b in zip(old, new, strict=True))
    return kept and _shape(pair.old.words) == _shape(pair.new.words)


def _same_question(old: Check, new: Check) -> bool:
    return old.subject == new.subject and new.strength >= old.strength and old.tolerance == new.tolerance


def _shape(words: Words) -> list[str]:
    """The words with every literal made equal; a list of literals is one."""
    text = " ".join("L" if word[0] == QUOTE or number(word) is not None else word for word in words)
    text = re.sub(r"\b(?:true|false|True|False|None|nil|null|undefined)\b", "L", text)
    return re.sub(r"L(?: , L)*", "L", text).split(" ")


def _only_limits(case: Case, file: FileView) -> bool:
    """The words of the file differ in time limits only."""
    if file.old is None or file.new is None:
        return False
    for pair in file.pairs:
        if pair.old is None or pair.new is None:
            return False
        if pair.old.words == pair.new.words:
            continue
        if not _changes_limits(case, file, pair):
            return False
    return True


def _changes_limits(case: Case, file: FileView, pair: Pair) -> bool:
    assert pair.old is not None and pair.new is not None
    old = limits_in(unit_words(pair.old, case.parsed_of(file, pair.old)))
    new = limits_in(unit_words(pair.new, case.parsed_of(file, pair.new)))
    changed = [a for a, b in zip(pair.old.words, pair.new.words, strict=False) if a != b]
    return (
        len(pair.old.words) == len(pair.new.words)
        and len(old) == len(new)
        and [one.value for one in old] != [one.value for one in new]
        and all(number(word) is not None for word in changed)
        and len(changed) <= len(new)
    )


def _old_limit(case: Case) -> float:
    values = [
        limit.value
        for file, pair in case.pairs
        if pair.old is not None and pair.new is not None and pair.old.words != pair.new.words
        for limit in limits_in(unit_words(pair.old, case.parsed_of(file, pair.old)))
    ]
    return min(values, default=float("inf"))


def _replaced(case: Case) -> bool:
    """A named unit is gone and new units stand in its file."""
    for file in case.tests:
        gone = any(pair.new is None and case.is_named(file, pair.old) for pair in file.pairs)
        renamed = any(pair.renamed and case.is_named(file, pair.old) for pair in file.pairs)
        if (gone and any(pair.old is None for pair in file.pairs)) or renamed:
            return True
    return False
