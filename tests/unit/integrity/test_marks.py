"""TI100 to TI112, TI250: tests that are gone, switched off, focused or repeated, and honest neighbours of these."""

from dataclasses import dataclass

import pytest

from tests.unit.integrity.fixes import GONE, Words, fix, grid, said
from tests.unit.integrity.test_weaker import GO, JAVA, JS, PY, RB, RS, SPEC, go, java, js, mini, py, rs, spec, ut


@dataclass(frozen=True)
class Case:
    name: str
    path: str
    old: str
    new: str
    rule: str = ""
    """The rule that blocks; empty for an honest edit."""


A, B, N, R, J, M, S = (
    py("assert total(1) == 2"),
    js("expect(total(1)).toBe(2);"),
    go('if got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
    rs("assert_eq!(total(1), 2);"),
    java("assertEquals(2, total(1));"),
    mini("assert_equal 2, Shop.total(1)"),
    spec("expect(Shop.total(1)).to eq(2)"),
)
TABLE = """import pytest

@pytest.mark.parametrize("a, b", [(1, 2), (2, 4), (3, 6)])
def test_a(a, b):
    assert total(a) == b
"""
EACH = "test.each([[1, 2], [2, 4], [3, 6]])('a %i', (a, b) => {\n  expect(total(a)).toBe(b);\n});\n"
GOROWS = go(
    'tests := []struct{ a, b int }{\n\t\t{1, 2},\n\t\t{2, 4},\n\t\t{3, 6},\n\t}\n\tfor _, tc := range tests {\n\t\tif got := Total(tc.a); got != tc.b {\n\t\t\tt.Errorf("no")\n\t\t}\n\t}'  # noqa: E501
)

CASES = [
    Case("pytest skip", PY, A, A.replace("def test_a", "@pytest.mark.skip\ndef test_a"), "TI110"),
    Case("pytest xfail", PY, A, A.replace("def test_a", "@pytest.mark.xfail(strict=False)\ndef test_a"), "TI110"),
    Case("pytest skipif", PY, A, A.replace("def test_a", "@pytest.mark.skipif(True, reason='x')\ndef test_a"), "TI110"),
    Case("pytest call", PY, A, py("pytest.skip('later')\n    assert total(1) == 2"), "TI110"),
    Case("module mark", PY, A, "import pytest\npytestmark = pytest.mark.skip\n" + A, "TI110"),
    Case("importorskip", PY, A, "import pytest\npytest.importorskip('numpy')\n" + A, "TI110"),
    Case("not a test", PY, A, "__test__ = False\n" + A, "TI110"),
    Case(
        "unittest skip",
        PY,
        ut("self.assertEqual(total(1), 2)"),
        ut("self.assertEqual(total(1), 2)").replace("    def test_a", "    @unittest.skip('x')\n    def test_a"),
        "TI110",
    ),
    Case(
        "unittest expected failure",
        PY,
        ut("self.assertEqual(total(1), 2)"),
        ut("self.assertEqual(total(1), 2)").replace("    def test_a", "    @unittest.expectedFailure\n    def test_a"),
        "TI110",
    ),
    Case(
        "unittest class",
        PY,
        ut("self.assertEqual(total(1), 2)"),
        ut("self.assertEqual(total(1), 2)").replace("class A", "@unittest.skip('x')\nclass A"),
        "TI110",
    ),
    Case(
        "unittest skipTest",
        PY,
        ut("self.assertEqual(total(1), 2)"),
        ut("self.skipTest('x')\n        self.assertEqual(total(1), 2)"),
        "TI110",
    ),
    Case("js skip", JS, B, B.replace("test(", "test.skip("), "TI110"),
    Case(
        "js todo", JS, B, B.replace("test('a', () => {\n  expect(total(1)).toBe(2);\n});", "test.todo('a');"), "TI110"
    ),
    Case("js xit", JS, B, B.replace("test(", "xtest("), "TI110"),
    Case(
        "js describe skip", JS, f"describe('s', () => {{\n{B}}});\n", f"describe.skip('s', () => {{\n{B}}});\n", "TI110"
    ),
    Case("js failing", JS, B, B.replace("test(", "test.failing("), "TI110"),
    Case("node option", JS, B, B.replace("'a', () =>", "'a', { skip: true }, () =>"), "TI110"),
    Case("js this.skip", JS, B, js("this.skip();\n  expect(total(1)).toBe(2);"), "TI110"),
    Case(
        "js only on another",
        JS,
        B + "test('b', () => {\n  expect(1 + x).toBe(2);\n});\n",
        B + "test.only('b', () => {\n  expect(1 + x).toBe(2);\n});\n",
        "TI112",
    ),
    Case("rspec focus", SPEC, S, S.replace("it 'a' do", "fit 'a' do"), "TI112"),
    Case("go skip", GO, N, go('t.Skip("later")\n\tif got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'), "TI110"),
    Case(
        "go short",
        GO,
        N,
        go('if testing.Short() {\n\t\tt.Skip("later")\n\t}\n\tif got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        "TI110",
    ),
    Case("rust ignore", RS, R, R.replace("#[test]", "#[test]\n#[ignore]"), "TI110"),
    Case("rust panic", RS, R, R.replace("#[test]", "#[test]\n#[should_panic]"), "TI110"),
    Case("rust cfg", RS, R, R.replace("#[test]", '#[cfg(feature = "slow")]\n#[test]'), "TI110"),
    Case("java disabled", JAVA, J, J.replace("@Test", "@Test @Disabled"), "TI110"),
    Case("java class", JAVA, J, "@Ignore\n" + J, "TI110"),
    Case("java assume", JAVA, J, java("assumeTrue(false);\n    assertEquals(2, total(1));"), "TI110"),
    Case("minitest skip", RB, M, mini("skip\n    assert_equal 2, Shop.total(1)"), "TI110"),
    Case("minitest skip text", RB, M, mini('skip "later"\n    assert_equal 2, Shop.total(1)'), "TI110"),
    Case("rspec pending", SPEC, S, spec("pending 'later'\n    expect(Shop.total(1)).to eq(2)"), "TI110"),
    Case("rspec xit", SPEC, S, S.replace("it 'a' do", "xit 'a' do"), "TI110"),
    Case("rspec metadata", SPEC, S, S.replace("it 'a' do", "it 'a', skip: true do"), "TI110"),
    Case("pytest renamed away", PY, A, A.replace("test_a", "check_a"), "TI101"),
    Case(
        "pytest commented out", PY, A, A.replace("def test_a():\n    assert", "# def test_a():\n#     assert"), "TI101"
    ),
    Case("js removed", JS, B, "const x = 1;\n", "TI101"),
    Case("go lower case", GO, N, N.replace("TestA", "testA"), "TI101"),
    Case("rust attribute dropped", RS, R, R.replace("#[test]\n", ""), "TI101"),
    Case("java annotation dropped", JAVA, J, J.replace("  @Test\n", ""), "TI101"),
    Case("minitest renamed", RB, M, M.replace("test_a", "check_a"), "TI101"),
    Case("rspec removed", SPEC, S, "RSpec.describe Shop do\nend\n", "TI101"),
    Case("row dropped", PY, TABLE, TABLE.replace(", (2, 4)", ""), "TI103"),
    Case("each row dropped", JS, EACH, EACH.replace(", [2, 4]", ""), "TI103"),
    Case("go row dropped", GO, GOROWS, GOROWS.replace("\t\t{2, 4},\n", ""), "TI103"),
    Case("flaky mark", PY, A, A.replace("def test_a", "@pytest.mark.flaky(reruns=3)\ndef test_a"), "TI250"),
    Case("mocha retries", JS, B, js("this.retries(3);\n  expect(total(1)).toBe(2);"), "TI250"),
    Case("jest retries", JS, B, "jest.retryTimes(3);\n" + B, "TI250"),
    Case(
        "retry loop",
        PY,
        A,
        py("for _ in range(5):\n        if total(1) == 2:\n            break\n    assert total(1) == 2"),
        "TI250",
    ),
    Case(
        "ruby retry",
        RB,
        M,
        mini("begin\n      assert_equal 2, Shop.total(1)\n    rescue StandardError\n      retry\n    end"),
        "TI250",
    ),
    Case("skip removed", PY, A.replace("def test_a", "@pytest.mark.skip\ndef test_a"), A),
    Case("new test", PY, A, A + "\n\ndef test_b():\n    assert total(2) == 4\n"),
    Case("new row", PY, TABLE, TABLE.replace("(3, 6)", "(3, 6), (4, 8)")),
    Case("rows reordered", PY, TABLE, TABLE.replace("(1, 2), (2, 4)", "(2, 4), (1, 2)")),
    Case("new each row", JS, EACH, EACH.replace("[3, 6]", "[3, 6], [4, 8]")),
    Case("the word skip in a name", JS, B, B.replace("'a'", "'skips blanks'")),
    Case("a method that skips", RB, M, M + "class Reader\n  def go\n    io.skip(3)\n  end\nend\n"),
    Case("variable skip", PY, A, py("skip = 3\n    assert total(1) == 2\n    assert skip == 3")),
    Case("loop over cases", PY, A, py("for n in (1, 1):\n        assert total(n) == 2")),
    Case("new rust test", RS, R, R + "#[test]\nfn b() {\n    assert_eq!(total(2), 4);\n}\n"),
    Case("java order", JAVA, J, J.replace("public void a", "public final void a")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_silenced_test_blocks_and_an_honest_edit_does_not(case: Case) -> None:
    """Every test of the file is named."""
    named = ("tests/test_a.py::test_a", "test_a", "TestA", "a")
    found = said(fix({case.path: case.old, "shop.py": "x = 1\n"}, {case.path: case.new}, named=named))
    blocked = {rule for rule, severity in found if severity == "block"}
    if case.rule:
        assert case.rule in blocked, found
    else:
        assert not blocked, found


def test_a_deleted_test_file_blocks() -> None:
    """TI100."""
    assert ("TI100", "block") in said(fix({PY: A, "shop.py": "x = 1\n"}, {PY: GONE}))


def test_a_file_moved_out_of_reach_blocks() -> None:
    """TI104."""
    assert ("TI104", "block") in said(fix({PY: A}, {PY: GONE, "tests/a.py.bak": A}))


def test_a_moved_and_unchanged_test_that_ran_is_information() -> None:
    """TI101 and PI-9: moved lines are no removal."""
    delta = fix({PY: A}, {PY: GONE, "tests/unit/test_a.py": A})
    assert {severity for _, severity in said(delta, grid(Words(fixed="pass")))} == {"info"}


def test_a_new_test_behind_a_switch_of_the_runner_is_information() -> None:
    """TI111."""
    new = N + '\nfunc TestLong(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip("long")\n\t}\n\tTotal(2)\n}\n'
    assert ("TI111", "info") in said(fix({GO: N}, {GO: new}))


def test_a_new_test_that_is_always_skipped_goes_to_a_person() -> None:
    """TI111."""
    new = A + "\n\n@pytest.mark.skip\ndef test_b():\n    assert total(2) == 4\n"
    assert ("TI111", "review") in said(fix({PY: A}, {PY: new}))
