"""Assertions that are gone, weaker, wider, or that cannot fail: TI120 to TI126."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.integrity.checks.find import checks_of
from app.integrity.checks.model import EXACT, NOTHING, PART, TYPE, Check
from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.syntax import Parsed, Words, is_literal, number, parse, walk
from app.integrity.units import Unit


@dataclass(frozen=True)
class _Two:
    """The checks of an old and a new unit that are not equal, and where they stand."""

    file: FileView
    old_unit: Unit
    unit: Unit
    old: list[Check]
    new: list[Check]
    all_new: list[Check]


def weaker(case: Case) -> Iterator[Finding]:
    """Compare the assertions of each old unit with those of its new one."""
    for file, pair in case.pairs:
        if pair.new is None:
            continue
        new_parsed = case.parsed_of(file, pair.new)
        if pair.old is None:
            # A new test may ask whether a call gives the same twice (PI-4).
            yield from _tautologies(case, file, pair.new, case.checks(pair.new, new_parsed), "review")
            continue
        if pair.old.words == pair.new.words:
            continue
        old_parsed = case.parsed_of(file, pair.old)
        old = _with_helpers(case, pair.old, old_parsed, "old")
        new = _with_helpers(case, pair.new, new_parsed, "new")
        left_old, left_new = _different(old, new)
        yield from _tautologies(case, file, pair.new, left_new)
        yield from _compare(case, _Two(file, pair.old, pair.new, left_old, left_new, new))


def _tautologies(
    case: Case, file: FileView, unit: Unit, checks: Sequence[Check], severity: Severity = "block"
) -> Iterator[Finding]:
    for check in checks:
        if check.same or _is_given_subject(check, unit.words):
            spot = Spot(unit, check.line, after=[" ".join(check.words)])
            yield case.finding("TI124", severity, file, spot, soft=severity == "review")


def _is_given_subject(check: Check, words: Words) -> bool:
    """The expected value is a name given to the same expression just before; what lies between may change it."""
    wanted, subject = check.expected, check.subject
    if len(wanted) != 1 or not wanted[0].isidentifier() or "(" not in subject:
        return False
    given = (*subject, *check.words)
    return any(
        word == wanted[0] and words[n + 1 : n + 2] in (("=",), (":=",)) and words[n + 2 : n + 2 + len(given)] == given
        for n, word in enumerate(words)
    )


def _with_helpers(case: Case, unit: Unit, parsed: Parsed, tree: str) -> list[Check]:
    """The unit's assertions and those of helpers that it calls, one level deep, in changed test files (PI-9)."""
    found = list(case.checks(unit, parsed))
    others = [one.old if tree == "old" else one.new for one in case.of("test", "harness")]
    known: set[str] = {unit.own}
    for place in (parsed, *(one for one in others if one is not None and one is not parsed)):
        helpers = _helpers(place)
        called = {word for word in unit.words if word in helpers} - known
        known |= called
        for name in sorted(called):
            found += [check for node in helpers[name] for check in checks_of(node, place.language)]
    return found


def _helpers(parsed: Parsed) -> dict[str, list]:  # type: ignore[type-arg]
    """Functions of a file by name; variables that hold a function too."""
    found: dict[str, list] = {}  # type: ignore[type-arg]
    for node in walk(parsed.root):
        if node.type in parsed.language.functions or node.type == "variable_declarator":
            name = node.child_by_field_name("name")
            if name is not None and name.text is not None:
                found.setdefault(name.text.decode("utf-8", "replace"), []).append(node)
    return found


def _different(old: list[Check], new: list[Check]) -> tuple[list[Check], list[Check]]:
    """Checks that have no equal one on the other side."""
    left_new = list(new)
    left_old = []
    for check in old:
        same = next((one for one in left_new if _equal(check, one)), None)
        if same is None:
            left_old.append(check)
        else:
            left_new.remove(same)
    return left_old, left_new


def _equal(one: Check, other: Check) -> bool:
    if one.words == other.words:
        return True
    return (
        bool(one.subject)
        and (one.kind, one.subject, one.expected, one.strength, one.tolerance)
        == (other.kind, other.subject, other.expected, other.strength, other.tolerance)
        and one.strength >= TYPE
    )


def _compare(case: Case, two: _Two) -> Iterator[Finding]:
    free = list(two.new)
    for check in two.old:
        other = _partner(case, check, free, two)
        if other is None and (heir := _of_equal_strength(check, free)) is not None:
            free.remove(heir)
            spot = Spot(two.unit, heir.line, [" ".join(check.words)], [" ".join(heir.words)])
            yield case.finding("TI125", "review", two.file, spot, soft=True)
            continue
        if other is None:
            yield from _removed(case, two, check)
            continue
        if other in free:
            free.remove(other)
        yield from _pair(case, two, check, other)


def _of_equal_strength(check: Check, free: list[Check]) -> Check | None:
    """Another question that is as strict: not the same assertion, so a person looks where the grid does not decide."""
    return next(
        (
            one
            for one in free
            if one.strength >= check.strength
            and one.followed
            and not one.same
            and (one.kind == "raises") == (check.kind == "raises")
        ),
        None,
    )


def _partner(case: Case, check: Check, free: list[Check], two: _Two) -> Check | None:
    """By the same subject, then one that holds it or stands for it, then the longest common beginning.

    Names that the pull request renamed are equal (PE-4).
    """
    subject = case.symbols.old(check.subject)
    named = [(one, case.symbols.fresh(one.subject)) for one in free]

    def fit(one: Check) -> tuple[bool, int]:
        return set(_literals(check.expected)) <= set(_literals(one.words)), one.strength

    same = [one for one, other in named if other == subject and other]
    if same:
        return max(same, key=fit)
    aliased = [one for one, other in named if _stands_for(other, subject, case.symbols.fresh(two.unit.words))]
    if aliased:
        return max(aliased, key=fit)
    alike = [one for one in free if one.expected == check.expected and _root(one.subject) & _root(check.subject)]
    if check.expected and alike:
        return max(alike, key=fit)
    scored = [(_common(subject, other), one.strength, -n) for n, (one, other) in enumerate(named)]
    common, _, n = max(scored, default=(0, 0, 0))
    return free[-n] if common >= 1 else None


def _stands_for(subject: Words, old: Words, words: Words) -> bool:
    """The new subject is a name that was given to the old one, or one of both holds the other."""
    if not subject or not old:
        return False
    if (len(old) > 1 and _holds(subject, old)) or (len(subject) > 2 and "(" in subject and _holds(old, subject)):
        return True
    names = {word for word in subject if word.isidentifier()}
    if len(old) == 1 and old[0] in names and "(" in subject:
        return True
    return any(
        word in names and words[n + 1 : n + 2] in (("=",), (":=",)) and words[n + 2 : n + 2 + len(old)] == old
        for n, word in enumerate(words)
    )


def _holds(words: Words, part: Words) -> bool:
    return any(words[n : n + len(part)] == part for n in range(len(words) - len(part) + 1))


def _common(one: Words, other: Words) -> int:
    return next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _removed(case: Case, two: _Two, check: Check) -> Iterator[Finding]:
    """TI120. A comparison of a whole may stand for several of its parts; a helper that is not seen goes to a person."""
    if check.strength == NOTHING or (check.strength <= TYPE and _covered(check, two)):
        return
    if check.strength == PART and any(
        one.strength == EXACT and one.expected and one.expected[0] in ("[", "{", "(") for one in two.new
    ):
        return
    unseen = any(not one.followed for one in two.new)
    kept = case.alone and any(
        one.strength == EXACT and _root(one.subject) & _root(check.subject) for one in two.all_new
    )
    severity: Severity = "review" if unseen or kept else "block"
    yield case.finding("TI120", severity, two.file, Spot(two.unit, two.unit.line, [" ".join(check.words)]))


def _covered(check: Check, two: _Two) -> bool:
    """A weak check of something that a stronger one still compares."""
    return any(one.strength > check.strength and _root(one.subject) & _root(check.subject) for one in two.all_new)


def _root(subject: Words) -> set[str]:
    return {
        word for word in subject if word.isidentifier() and word not in ("self", "t", "len", "list", "sorted", "str")
    }


def _pair(case: Case, two: _Two, old: Check, new: Check) -> Iterator[Finding]:
    spot = Spot(two.unit, new.line, [" ".join(old.words)], [" ".join(new.words)])
    if new.same:
        return
    if not new.followed and old.strength > TYPE:
        yield case.finding("TI120", "review", two.file, spot)
    elif new.tolerance is not None and _wider(old, new):
        yield case.finding("TI122", _tolerance_severity(case, two, old), two.file, spot)
    elif new.strength < old.strength:
        if _is_check_of_hand(old, new, two):
            yield case.finding("TI126", "block", two.file, spot)
        elif new.tolerance is not None and old.strength == EXACT:
            yield case.finding("TI122", _tolerance_severity(case, two, old), two.file, spot)
        else:
            yield case.finding("TI121", "block", two.file, spot)
    elif _snapshot_instead(old, new):
        yield case.finding("TI121", "block", two.file, spot)
    elif _expected_from_subject(old, new):
        yield case.finding("TI124", "block", two.file, spot)
    else:
        yield from _other_values(case, two, (old, new), spot)


def _is_check_of_hand(old: Check, new: Check, two: _Two) -> bool:
    return old.node.type == "if_statement" and new.node.type == "if_statement"


def _wider(old: Check, new: Check) -> bool:
    return old.tolerance is not None and new.tolerance is not None and new.tolerance > old.tolerance * 1.0001


def _tolerance_severity(case: Case, two: _Two, old: Check) -> Severity:
    """Exact equality of floats in a test that the pull request added goes to a person."""
    floats = any("." in word and number(word) is not None for word in (*old.expected, *old.subject))
    added = case.word("base") == "missing" or _added_by_pull(case, two.file, two.old_unit)
    return "review" if old.tolerance is None and old.strength == EXACT and floats and added else "block"


def _added_by_pull(case: Case, file: FileView, unit: Unit) -> bool:
    path = file.change.old or ""
    blob = case.delta.base.get(path)
    if blob is None:
        return True
    parsed = parse(path, blob.data)
    from app.integrity.units import units_of

    return parsed is not None and all(one.name != unit.name for one in units_of(parsed))


def _snapshot_instead(old: Check, new: Check) -> bool:
    """A written value became a snapshot that is taken from today's output."""
    return new.kind == "snapshot" and old.kind != "snapshot" and not new.expected


def _expected_from_subject(old: Check, new: Check) -> bool:
    """A literal expectation became a computation that calls the subject's own function."""
    if not is_literal(old.expected) or is_literal(new.expected) or not new.subject:
        return False
    callee = next((word for word in new.subject if word.isidentifier() and word not in ("self", "await", "new")), None)
    return callee is not None and callee in new.expected and "(" in new.expected


def _other_values(case: Case, two: _Two, checks: tuple[Check, Check], spot: Spot) -> Iterator[Finding]:
    old, new = checks
    subject, other = case.symbols.old(old.subject), case.symbols.fresh(new.subject)
    if _alike(subject, other, two) and old.expected != new.expected and old.kind in ("value", "close", "snapshot"):
        yield case.finding("TI123", _expected_severity(case, old), two.file, spot, soft=True)
    elif subject != other and _literals(subject) != _literals(other) and not _derived(case, two, new):
        yield case.finding("TI125", "review", two.file, spot, soft=True)


def _alike(subject: Words, other: Words, two: _Two) -> bool:
    return subject == other or _stands_for(other, subject, two.unit.words)


def _derived(case: Case, two: _Two, new: Check) -> bool:
    words = case.symbols.fresh(two.unit.words)
    return any(_stands_for(case.symbols.fresh(new.subject), case.symbols.old(one.subject), words) for one in two.old)


def _literals(words: Words) -> list[str]:
    return [word for word in words if word[0] == '"' or number(word) is not None]


def _expected_severity(case: Case, old: Check) -> Severity:
    """A person looks; a block when documentation still states the old value and the test tells nothing (D = pass)."""
    if case.word("base_source_with_fixed_tests") != "pass":
        return "review"
    values = [word.lstrip('"') for word in _literals(old.expected) if len(word.lstrip('"')) > 1]
    texts = [
        blob.data.decode("utf-8", "replace") for path, blob in case.delta.head.items() if case.head_class(path) == "doc"
    ]
    return "block" if any(value in text for value in values for text in texts) else "review"
