"""The claim table and the joining of grid and findings (proof.md, 7 and 11)."""

from dataclasses import dataclass, field, replace

import pytest

from app.integrity.claims import Facts, claim_of, judge6, strictest
from app.integrity.combine import judge, verdict_of
from app.integrity.model import Cell, Census, Finding, Grid, Seen
from tests.unit.integrity.fixes import Words, fix, grid
from tests.unit.integrity.test_weaker import GO, PY, go, py


@dataclass(frozen=True)
class Case:
    rule: str
    verdict: str
    words: Words
    facts: Facts = field(default_factory=Facts)


CASES = [
    Case("PG101", "needs_human", Words(head="missing")),
    Case("PG102", "needs_human", Words(head="pass")),
    Case("PG103", "block", Words(fixed="error", reported=False)),
    Case("PG104", "needs_human", Words(head="error", fixed="missing"), Facts(replaced=True)),
    Case("PG105", "block", Words(fixed="missing")),
    Case("PG106", "block", Words(fixed="flaky")),
    Case("PG107", "block", Words(fixed="fail")),
    Case("PG108", "block", Words(without_source="fail", census=Census(broken=("other",)))),
    Case("PG111", "needs_human", Words(head="flaky", without_source="flaky", original="fail")),
    Case("PG112", "allow", Words(head="flaky", without_source="flaky")),
    Case("PG113", "needs_human", Words(head="flaky", without_source="pass")),
    Case("PG114", "needs_human", Words(without_source="fail", original="fail")),
    Case("PG115", "allow", Words(base="missing", without_source="fail")),
    Case("PG116", "allow", Words(base="fail", without_source="fail")),
    Case("PG117", "allow", Words(without_source="fail", original="pass")),
    Case("PG118", "needs_human", Words(base="missing", without_source="pass", base_source="error")),
    Case("PG119", "needs_human", Words(base="fail", without_source="pass", base_source="pass")),
    Case(
        "PG120", "needs_human", Words(head="error", without_source="pass", base_source="pass"), Facts(only_harness=True)
    ),
    Case(
        "PG121",
        "needs_human",
        Words(without_source="pass", base_source="pass", timeout=True),
        Facts(only_limits=True, documented_time=True),
    ),
    Case("PG122", "block", Words(without_source="pass", base_source="pass")),
    Case("PG122", "block", Words(without_source="pass", base_source="pass", timeout=True), Facts(only_limits=True)),
    Case("PG125", "block", Words(without_source="pass", base_source="fail"), Facts(only_expected=True)),
    Case(
        "PG123",
        "needs_human",
        Words(without_source="pass", base_source="fail"),
        Facts(only_snapshots=True, intent=True),
    ),
    Case("PG124", "needs_human", Words(without_source="pass", base_source="fail")),
    Case("PG199", "needs_human", Words(without_source="missing")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.words.head}-{case.facts.only_limits}")
def test_each_row_of_the_claim_table(case: Case) -> None:
    row = claim_of(grid(case.words), "t", case.facts)
    assert (row.rule, row.verdict) == (case.rule, case.verdict)


def test_more_rows_than_units_is_a_forged_report() -> None:
    """PG109, PX-4."""
    cells = {**grid(Words(without_source="fail")).cells, "fixed": Cell({"t": Seen(1, passes=1, forged=True)}, 1)}
    assert claim_of(Grid(cells), "t", Facts()).rule == "PG109"
    cells["head"] = Cell({"t": Seen(1, fails=1, forged=True)}, 1)
    assert claim_of(Grid(cells), "t", Facts()).rule == "PG117", "what head's report does as well is not of the fix"


def test_the_strictest_row_over_all_tests_is_the_claim() -> None:
    words = grid(Words(without_source="fail", original="pass"), ("a", "b"))
    cells = {**words.cells, "fixed": Cell({"a": Seen(3, passes=3), "b": Seen(3, missing=3)}, 3)}
    rows = judge6(Grid(cells), ("a", "b"), Facts())
    assert rows["a"].rule == "PG117"
    assert strictest(rows).rule == "PG105"


def test_the_stricter_of_grid_and_findings_wins() -> None:
    """Section 11, PV-2."""
    assert verdict_of([Finding("TI121", "block")]) == "block"
    assert verdict_of([Finding("TI412", "review"), Finding("TI111", "info")]) == "needs_human"
    assert verdict_of([Finding("TI111", "info")]) == "allow"


NAMED = ("tests/test_a.py::test_a",)
TEST = py("assert total(1) == 2")


def test_a_source_fix_is_allowed() -> None:
    delta = fix(
        {"shop.py": "def total(n):\n    return n\n", PY: TEST},
        {"shop.py": "def total(n):\n    return 2 * n\n"},
        named=NAMED,
    )
    answer = judge(delta, grid(Words(without_source="fail", original="pass"), NAMED))
    assert (answer.verdict, answer.claim, answer.findings) == ("allow", "source_regression", ())


def test_a_block_is_not_lifted_by_a_clean_grid() -> None:
    """PV-2, DM-3."""
    delta = fix({PY: TEST, "shop.py": "x = 1\n"}, {PY: py("assert total(1)"), "shop.py": "x = 2\n"}, named=NAMED)
    assert judge(delta, grid(Words(without_source="fail", original="pass"), NAMED)).verdict == "block"


def test_soft_findings_are_information_when_the_source_alone_is_enough() -> None:
    """DM-1."""
    delta = fix({PY: TEST, "shop.py": "x = 1\n"}, {PY: py("assert total(3) == 6"), "shop.py": "x = 2\n"}, named=NAMED)
    assert judge(delta, grid(Words(without_source="fail", original="pass"), NAMED)).verdict == "allow"
    assert judge(delta, grid(Words(without_source="fail", original="fail"), NAMED)).verdict == "needs_human"


def test_a_waived_rule_is_shown_and_asks_nobody_and_a_block_stays() -> None:
    """PI-7: waivers are settings of the base; words in the tree waive nothing."""
    large = "# remedy: waive TI630, noqa: TI630\n" + "\n".join(f"name_{n} = {n}" for n in range(500))
    policy = "enabled: true\nwaive: [TI630, TI121]\n"
    delta = fix({PY: TEST, "shop.py": "x = 1\n"}, {"shop.py": large, ".github/remedy.yml": policy}, named=NAMED)
    words = grid(Words(without_source="fail", original="pass"), NAMED)
    assert ("TI630", "review") in {(one.rule, one.severity) for one in judge(delta, words).findings}

    bare = fix({PY: TEST, "shop.py": "x = 1\n"}, {"shop.py": large}, named=NAMED)
    assert judge(bare, words).verdict == "needs_human"
    answer = judge(replace(bare, waived=frozenset({"TI630"})), words)
    assert answer.verdict == "allow"
    (finding,) = answer.findings
    assert (finding.rule, finding.severity) == ("TI630", "info")
    assert finding.explanation.endswith("The policy of the base branch waives this rule.")

    weaker = fix({PY: TEST, "shop.py": "x = 1\n"}, {PY: py("assert total(1)"), "shop.py": "x = 2\n"}, named=NAMED)
    assert judge(replace(weaker, waived=frozenset({"TI121"})), words).verdict == "block"


def test_without_a_grid_the_static_verdict_counts() -> None:
    """PV-1."""
    answer = judge(fix({PY: TEST}, {PY: py("assert total(1)")}, named=NAMED), None)
    assert (answer.verdict, answer.claim) == ("block", None)


SOURCE = 'def total(n):\n    """Twice n."""\n    return 2 * n\n'


def rewritten(title: str = "", docs: tuple[str, str] = ("", ""), source: tuple[str, str] = (SOURCE, SOURCE)) -> str:
    """Verdict of a fix that changes an expected value only, 2 to 30, beside what the pull request changed."""
    base = {PY: TEST, "shop.py": source[0], "README.md": docs[0]}
    head = {PY: TEST, "shop.py": source[1], "README.md": docs[1]}
    delta = fix(head, {PY: py("assert total(1) == 30")}, base, NAMED, title)
    return judge(delta, grid(Words(without_source="pass", base_source="fail"), NAMED)).verdict


def test_a_rewritten_expectation_without_any_sign_blocks() -> None:
    """PG125."""
    assert rewritten() == "block"


def test_a_documented_value_explains_the_new_expectation() -> None:
    """PE-1."""
    assert rewritten(docs=("The total is 2.\n", "The total is 30.\n")) == "allow"


def test_documentation_of_something_else_is_only_a_sign() -> None:
    """PE-11: a person decides, never allow."""
    assert rewritten(docs=("The shop.\n", "The new shop.\n")) == "needs_human"
    assert rewritten(docs=("The total is 2.\n", "The total is 300.\n")) == "needs_human"


def test_a_value_in_the_title_is_only_a_sign() -> None:
    """PE-12."""
    assert rewritten(title="Totals are 30 now") == "needs_human"
    assert rewritten(title="Breaking change (SHOP-31)") == "block"


def test_a_literal_that_source_replaced_too_is_only_a_sign() -> None:
    """PE-13: a slip in a literal carries over into the test in the same way."""
    assert rewritten(source=("RATE = 2\n", "RATE = 30\n")) == "needs_human"


def test_a_carried_constant_explains_derived_values() -> None:
    """PE-2: replaced in source and in documentation; the expected value is derived."""
    base = {PY: TEST, "shop.py": "SIZE = 20\n", "README.md": "Pages have 20 rows.\n"}
    head = {PY: TEST, "shop.py": "SIZE = 25\n", "README.md": "Pages have 25 rows.\n"}
    delta = fix(head, {PY: py("assert total(1) == 4")}, base, NAMED)
    assert judge(delta, grid(Words(without_source="pass", base_source="fail"), NAMED)).verdict == "allow"


SNAP = "a/__snapshots__/a.test.js.snap"


def test_additive_snapshots_that_the_pull_request_announces_are_allowed() -> None:
    """PE-3, and its other direction: a changed old entry is a person's."""
    base = {SNAP: '{\n  "items": 1,\n}\n', "src/cart.js": "x = {\n items };\n"}
    head = {SNAP: '{\n  "items": 1,\n}\n', "src/cart.js": "x = {\n items,\n count };\n"}
    words = grid(Words(without_source="pass", base_source="fail"), NAMED)
    added = fix(head, {SNAP: '{\n  "count": 2,\n  "items": 1,\n}\n'}, base, NAMED, "Add `count`")
    assert judge(added, words).verdict == "allow"
    changed = fix(head, {SNAP: '{\n  "count": 2,\n  "items": 3,\n}\n'}, base, NAMED, "Add `count`")
    assert judge(changed, words).verdict == "needs_human"


def test_a_removed_symbol_explains_its_new_name() -> None:
    """PE-4, and its other direction: a weaker assertion is not kept."""
    base = {PY: TEST, "shop.py": "def total(n):\n    return n\n"}
    head = {PY: TEST, "shop.py": "def grand_total(n):\n    return n\n"}
    words = grid(Words(head="error", without_source="pass", base_source="error"), NAMED)
    kept = fix(head, {PY: TEST.replace("total", "grand_total")}, base, NAMED)
    assert judge(kept, words).verdict == "allow"
    weaker = fix(head, {PY: py("assert grand_total(1)").replace("import total", "import grand_total")}, base, NAMED)
    assert judge(weaker, words).verdict == "block"


def sorts(comment: str) -> str:
    """Verdict of a fix that sorts in the test of a function with this documentation."""
    old = go('got := Keys(m)\n\tif !reflect.DeepEqual(got, []string{"a", "b"}) {\n\t\tt.Error("no")\n\t}')
    new = go(
        'got := Keys(m)\n\tsort.Strings(got)\n\tif !reflect.DeepEqual(got, []string{"a", "b"}) {\n\t\tt.Error("no")\n\t}'  # noqa: E501
    )
    source = f"package shop\n\n// {comment}\nfunc Keys(m map[string]int) []string {{\n\treturn nil\n}}\n"
    delta = fix({GO: old, "shop.go": source}, {GO: new}, named=("TestA",))
    return judge(delta, grid(Words(head="flaky", without_source="pass"), ("TestA",))).verdict


def test_a_sort_is_explained_only_where_no_order_is_promised() -> None:
    """PE-5."""
    assert sorts("Keys lists the keys in no particular order.") == "allow"
    assert sorts("Keys lists the keys sorted by name.") == "needs_human"


def test_evidence_never_lifts_another_finding() -> None:
    """PE-22."""
    base = {PY: TEST, "shop.py": SOURCE, "README.md": "The total is 2.\n"}
    head = {PY: TEST, "shop.py": SOURCE, "README.md": "The total is 30.\n"}
    fixed = {PY: py("assert total(1) == 30"), "pytest.ini": "[pytest]\naddopts = -k 'not b'\n"}
    assert (
        judge(fix(head, fixed, base, NAMED), grid(Words(without_source="pass", base_source="fail"), NAMED)).verdict
        == "block"
    )
