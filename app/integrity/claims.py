"""From six cells to a claim for each named test: the claim table (proof.md, 7)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.integrity.model import Finding, Grid, Severity, Verdict, Word
from app.integrity.sentences import SENTENCES


@dataclass(frozen=True)
class Facts:
    """What the table reads beside the cells; each is about the fix as a whole.

    `only_harness`, `only_limits`, `only_expected`, `only_snapshots`: all changes of the test side are of that kind.
    `documented_time`: documentation that the pull request changed states the longer time. `intent`: a sign of PE-11 to
    PE-13. `replaced`: new units stand in the file of the named test.
    """

    has_tests: bool = True
    only_harness: bool = False
    only_limits: bool = False
    only_expected: bool = False
    only_snapshots: bool = False
    documented_time: bool = False
    intent: bool = False
    replaced: bool = False


@dataclass(frozen=True)
class Row:
    """One row of the table: what it is called and what follows."""

    rule: str
    claim: str
    verdict: Verdict


@dataclass(frozen=True)
class _At:
    """One named test: its word in each cell, and how the head cell was red."""

    base: Word
    head: Word
    fixed: Word
    without_source: Word
    base_source: Word
    original: Word
    facts: Facts
    reported: tuple[bool, bool]
    census_broken: bool
    forged: bool
    by_time: bool
    unproven: bool

    @property
    def red(self) -> bool:
        return self.head in ("fail", "error")

    @property
    def source_is_needed(self) -> bool:
        return self.fixed == "pass" and self.without_source in ("fail", "error")

    @property
    def tests_are_enough(self) -> bool:
        return self.fixed == "pass" and self.without_source == "pass"


_NOT_PASS = ("fail", "error", "missing", "flaky")

TABLE: tuple[tuple[Row, Callable[[_At], bool]], ...] = (
    (Row("PG101", "head_not_run", "needs_human"), lambda a: a.head in ("missing", "n/a") or not a.reported[0]),
    (Row("PG102", "not_reproduced", "needs_human"), lambda a: a.head == "pass"),
    (Row("PG103", "no_report", "block"), lambda a: not a.reported[1]),
    (
        Row("PG104", "test_replaced", "needs_human"),
        lambda a: a.head == "error" and a.fixed == "missing" and a.facts.replaced,
    ),
    (Row("PG105", "test_silenced", "block"), lambda a: a.fixed == "missing"),
    (Row("PG106", "still_flaky", "block"), lambda a: a.fixed == "flaky"),
    (Row("PG107", "not_fixed", "block"), lambda a: a.fixed in ("fail", "error")),
    (Row("PG108", "collateral", "block"), lambda a: a.census_broken),
    (Row("PG109", "report_forged", "block"), lambda a: a.forged),
    (Row("PN-5", "flaky_unproven", "needs_human"), lambda a: a.unproven),
    (
        Row("PG111", "both_parts_needed", "needs_human"),
        lambda a: a.head == "flaky" and _needs(a) and a.original in _NOT_PASS,
    ),
    (Row("PG112", "flaky_source", "allow"), lambda a: a.head == "flaky" and _needs(a)),
    (Row("PG113", "flaky_test", "needs_human"), lambda a: a.head == "flaky" and a.tests_are_enough),
    (
        Row("PG114", "both_parts_needed", "needs_human"),
        lambda a: a.red and a.source_is_needed and a.original in _NOT_PASS,
    ),
    (Row("PG115", "unfinished_feature", "allow"), lambda a: a.base == "missing" and a.red and a.source_is_needed),
    (
        Row("PG116", "pre_existing_failure", "allow"),
        lambda a: a.base in ("fail", "error") and a.red and a.source_is_needed,
    ),
    (Row("PG117", "source_regression", "allow"), lambda a: a.base != "n/a" and a.red and a.source_is_needed),
    (Row("PG118", "wrong_new_test", "needs_human"), lambda a: a.base == "missing" and a.red and a.tests_are_enough),
    (Row("PG119", "wrong_test", "needs_human"), lambda a: a.base in ("fail", "error") and a.red and a.tests_are_enough),
    (
        Row("PG120", "broken_test_config", "needs_human"),
        lambda a: a.head == "error" and a.tests_are_enough and a.base_source == "pass" and a.facts.only_harness,
    ),
    (
        Row("PG121", "slower_behaviour", "needs_human"),
        lambda a: (
            (a.by_time or a.facts.only_limits)
            and a.tests_are_enough
            and a.base_source == "pass"
            and a.facts.only_limits
            and a.facts.documented_time
        ),
    ),
    (
        Row("PG122", "test_no_longer_discriminates", "block"),
        lambda a: a.red and a.tests_are_enough and a.base_source == "pass",
    ),
    (
        Row("PG125", "rewritten_expectation", "block"),
        lambda a: (
            a.base == "pass"
            and a.head == "fail"
            and a.tests_are_enough
            and a.base_source in _NOT_PASS
            and a.facts.only_expected
            and not a.facts.intent
        ),
    ),
    (
        Row("PG123", "snapshot_outdated", "needs_human"),
        lambda a: a.red and a.tests_are_enough and a.base_source in _NOT_PASS and a.facts.only_snapshots,
    ),
    (Row("PG124", "wrong_test", "needs_human"), lambda a: a.red and a.tests_are_enough and a.base_source in _NOT_PASS),
    (Row("PG199", "undecided", "needs_human"), lambda a: True),
)


def _needs(a: _At) -> bool:
    return a.fixed == "pass" and a.without_source in ("fail", "error", "flaky")


def claim_of(grid: Grid, test: str, facts: Facts) -> Row:
    """The first row that fits one named test."""
    at = _at(grid, test, facts)
    return next(row for row, fits in TABLE if fits(at))


def _at(grid: Grid, test: str, facts: Facts) -> _At:
    head, fixed = grid.cells.get("head"), grid.cells.get("fixed")
    seen = head.tests.get(test) if head is not None else None
    census = grid.census
    after = fixed.tests.get(test) if fixed is not None else None
    return _At(
        base=grid.word("base", test),
        head=grid.word("head", test),
        fixed=grid.word("fixed", test),
        without_source=grid.word("fixed_without_source", test),
        base_source=grid.word("base_source_with_fixed_tests", test),
        original=grid.word("fixed_source_with_original_tests", test),
        facts=facts,
        reported=(
            head is None or head.reported or grid.word("head", test) == "error",
            fixed is None or fixed.reported or fixed.runs == 0,
        ),
        census_broken=census is not None and bool(census.broken or census.lost),
        forged=after is not None and after.forged and not (seen is not None and seen.forged),
        by_time=seen is not None and seen.timeouts > 0,
        unproven=unproven(grid, test),
    )


_STRICT: Mapping[Verdict, int] = {"block": 0, "needs_human": 1, "allow": 2}


def judge6(grid: Grid, named: tuple[str, ...], facts: Facts) -> dict[str, Row]:
    """The row of each named test."""
    return {test: claim_of(grid, test, facts) for test in named}


def strictest(rows: Mapping[str, Row]) -> Row:
    """The claim of the whole proof: the strictest row, the earliest of the table among equals."""
    order = [row.rule for row, _ in TABLE]
    found = sorted(rows.values(), key=lambda row: (_STRICT[row.verdict], order.index(row.rule)))
    return found[0] if found else TABLE[0][0]


def census_findings(grid: Grid) -> list[Finding]:
    """What the whole suite says beside the claims (4.3): failing new tests, moved tests, a suite that did not end."""
    census = grid.census
    if census is None:
        return []
    found = [_about("PG108", name, "info", "test moved", "Its successor was found and ran.") for name in census.moved]
    found += [
        _about("PG107", name, "block", "new test fails", "A test that the fix adds does not pass.")
        for name in census.new_failing
    ]
    found += [
        _about("PG108", name, "info", "passed before", SENTENCES["PG108"][1]) for name in (*census.broken, *census.lost)
    ]
    if not census.complete:
        why = "The whole suite did not come to its end in its time, so the rest of it is not checked."
        found.append(
            Finding("PX-25", "review", title="rest of the suite not checked", explanation=why, source="census")
        )
    return found[:20]


def _about(rule: str, name: str, severity: Severity, title: str, why: str) -> Finding:
    return Finding(rule, severity, unit=name, title=title, explanation=why, source="census")


def unproven(grid: Grid, test: str) -> bool:
    """PN-5: the test flakes in head, and the passes in fixed are fewer than its failure rate asks for."""
    head, fixed = grid.cells.get("head"), grid.cells.get("fixed")
    if head is None or fixed is None or grid.word("head", test) != "flaky" or grid.word("fixed", test) != "pass":
        return False
    return fixed.needed > fixed.tests[test].passes


def finding_of(row: Row, tests: list[str]) -> Finding | None:
    """The finding of a claim that is no allow."""
    if row.verdict == "allow":
        return None
    title, sentence = SENTENCES[row.rule]
    return Finding(
        rule=row.rule,
        severity="block" if row.verdict == "block" else "review",
        title=title,
        explanation=sentence,
        unit=tests[0] if tests else None,
        named=True,
        source="census" if row.rule == "PG108" else "grid",
    )
