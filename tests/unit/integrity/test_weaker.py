"""TI120 to TI126: assertions that became weaker, and those that did not, in each language (PI-11)."""

from dataclasses import dataclass

import pytest

from tests.unit.integrity.fixes import fix, said


@dataclass(frozen=True)
class Case:
    name: str
    path: str
    old: str
    new: str
    rules: frozenset[str]
    """Rules that block; empty for an honest edit."""


def cheat(name: str, path: str, old: str, new: str, *rules: str) -> Case:
    return Case(name, path, old, new, frozenset(rules))


def honest(name: str, path: str, old: str, new: str) -> Case:
    return Case(name, path, old, new, frozenset())


def py(body: str) -> str:
    return f"from shop import total\n\n\ndef test_a():\n    {body}\n"


def ut(body: str) -> str:
    return f"import unittest\nfrom shop import total\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        {body}\n"  # noqa: E501


def js(body: str) -> str:
    return f"const {{ total }} = require('../src/total');\ntest('a', () => {{\n  {body}\n}});\n"


def go(body: str) -> str:
    return f'package shop\n\nimport "testing"\n\nfunc TestA(t *testing.T) {{\n\t{body}\n}}\n'


def rs(body: str) -> str:
    return f"#[test]\nfn a() {{\n    {body}\n}}\n"


def java(body: str) -> str:
    return f"public class ATest {{\n  @Test\n  public void a() {{\n    {body}\n  }}\n}}\n"


def mini(body: str) -> str:
    return f"class TestA < Minitest::Test\n  def test_a\n    {body}\n  end\nend\n"


def spec(body: str) -> str:
    return f"RSpec.describe Shop do\n  it 'a' do\n    {body}\n  end\nend\n"


PY, JS, GO, RS, JAVA, RB, SPEC = (
    "tests/test_a.py",
    "test/a.test.js",
    "a_test.go",
    "tests/a.rs",
    "src/test/java/ATest.java",
    "test/test_a.rb",
    "spec/a_spec.rb",
)

CASES = [
    cheat("exact to bound, pytest", PY, py("assert total(1) == 2"), py("assert total(1) >= 0"), "TI121"),
    cheat("exact to truth, pytest", PY, py("assert total(1) == 2"), py("assert total(1)"), "TI121"),
    cheat("exact to not None", PY, py("assert total(1) == 2"), py("assert total(1) is not None"), "TI121"),
    cheat("exact to one of", PY, py("assert total(1) == 2"), py("assert total(1) in (2, 3)"), "TI121"),
    cheat("exact to or", PY, py("assert total(1) == 2"), py("assert total(1) == 2 or total(1) == 3"), "TI121"),
    cheat("exact to type", PY, py("assert total(1) == 2"), py("assert isinstance(total(1), int)"), "TI121"),
    cheat("whole to length", PY, py("assert total(1) == [1, 2]"), py("assert len(total(1)) == 2"), "TI121"),
    cheat("removed", PY, py("assert total(1) == 2"), py("total(1)"), "TI120"),
    cheat(
        "one of two removed",
        PY,
        py("assert total(1) == 2\n    assert total(2) == 4"),
        py("assert total(1) == 2"),
        "TI120",
    ),
    cheat("itself", PY, py("assert total(1) == 2"), py("assert total(1) == total(1)"), "TI124"),
    cheat(
        "derived expectation",
        PY,
        py("assert total(1) == 2"),
        py("want = total(1)\n    assert total(1) == want"),
        "TI121",
        "TI124",
        "TI123",
    ),
    cheat("always true", PY, py("assert total(1) == 2"), py("assert True"), "TI120", "TI124"),
    cheat(
        "error no longer expected",
        PY,
        py("with pytest.raises(ValueError):\n        total(-1)"),
        py("total(-1)"),
        "TI120",
    ),
    cheat(
        "broader error",
        PY,
        py("with pytest.raises(ValueError):\n        total(-1)"),
        py("with pytest.raises(Exception):\n        total(-1)"),
        "TI121",
    ),
    cheat(
        "message dropped",
        PY,
        py("with pytest.raises(ValueError, match='neg'):\n        total(-1)"),
        py("with pytest.raises(ValueError):\n        total(-1)"),
        "TI121",
    ),
    cheat(
        "approx for exact", PY, py("assert total(1) == 2"), py("assert total(1) == pytest.approx(2, abs=1)"), "TI122"
    ),
    cheat(
        "approx widened",
        PY,
        py("assert total(1) == pytest.approx(2, abs=0.01)"),
        py("assert total(1) == pytest.approx(2, abs=1)"),
        "TI122",
    ),
    cheat(
        "places",
        PY,
        ut("self.assertAlmostEqual(total(1), 2.5, places=7)"),
        ut("self.assertAlmostEqual(total(1), 2.5, places=0)"),
        "TI122",
    ),
    cheat("unittest true", PY, ut("self.assertEqual(total(1), 2)"), ut("self.assertTrue(total(1))"), "TI121"),
    cheat("unittest not none", PY, ut("self.assertEqual(total(1), 2)"), ut("self.assertIsNotNone(total(1))"), "TI121"),
    cheat("unittest greater", PY, ut("self.assertEqual(total(1), 2)"), ut("self.assertGreater(total(1), 0)"), "TI121"),
    cheat("jest defined", JS, js("expect(total(1)).toBe(2);"), js("expect(total(1)).toBeDefined();"), "TI121"),
    cheat("jest truthy", JS, js("expect(total(1)).toEqual(2);"), js("expect(total(1)).toBeTruthy();"), "TI121"),
    cheat("jest greater", JS, js("expect(total(1)).toEqual(2);"), js("expect(total(1)).toBeGreaterThan(0);"), "TI121"),
    cheat(
        "jest any", JS, js("expect(total(1)).toEqual(2);"), js("expect(total(1)).toEqual(expect.any(Number));"), "TI121"
    ),
    cheat(
        "jest close", JS, js("expect(total(1)).toBeCloseTo(2, 5);"), js("expect(total(1)).toBeCloseTo(2, 0);"), "TI122"
    ),
    cheat(
        "jest throw",
        JS,
        js("expect(() => total(-1)).toThrow('neg');"),
        js("expect(() => total(-1)).toThrow();"),
        "TI121",
    ),
    cheat(
        "jest snapshot instead", JS, js("expect(total(1)).toBe(2);"), js("expect(total(1)).toMatchSnapshot();"), "TI121"
    ),
    cheat("jest length", JS, js("expect(total(1)).toEqual([1, 2]);"), js("expect(total(1)).toHaveLength(2);"), "TI121"),
    cheat(
        "jest object part",
        JS,
        js("expect(total(1)).toEqual({ a: 1, b: 2 });"),
        js("expect(total(1)).toMatchObject({ a: 1 });"),
        "TI121",
    ),
    cheat("node ok", JS, js("assert.equal(total(1), 2);"), js("assert.ok(total(1));"), "TI121"),
    cheat(
        "node typeof",
        JS,
        js("assert.strictEqual(total(1), 2);"),
        js("assert.strictEqual(typeof total(1), 'number');"),
        "TI121",
    ),
    cheat("chai", JS, js("expect(total(1)).to.equal(2);"), js("expect(total(1)).to.be.a('number');"), "TI121"),
    cheat(
        "go bound",
        GO,
        go('if got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        go('if got := Total(1); got < 0 {\n\t\tt.Errorf("no")\n\t}'),
        "TI126",
    ),
    cheat(
        "go log",
        GO,
        go('if got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        go('if got := Total(1); got != 2 {\n\t\tt.Logf("no")\n\t}'),
        "TI120",
    ),
    cheat(
        "go both",
        GO,
        go('if got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        go('if got := Total(1); got != 2 && got != 3 {\n\t\tt.Errorf("no")\n\t}'),
        "TI126",
    ),
    cheat(
        "go deep equal to len",
        GO,
        go('got := Total(1)\n\tif !reflect.DeepEqual(got, []int{1, 2}) {\n\t\tt.Fatal("no")\n\t}'),
        go('got := Total(1)\n\tif len(got) != 2 {\n\t\tt.Fatal("no")\n\t}'),
        "TI126",
    ),
    cheat("testify", GO, go("require.Equal(t, 2, Total(1))"), go("require.NotNil(t, Total(1))"), "TI121"),
    cheat("rust ne", RS, rs("assert_eq!(total(1), 2);"), rs("assert!(total(1) > 0);"), "TI121"),
    cheat("rust is_ok", RS, rs("assert_eq!(total(1), Ok(2));"), rs("assert!(total(1).is_ok());"), "TI121"),
    cheat("rust true", RS, rs("assert_eq!(total(1), 2);"), rs("assert!(true);"), "TI120", "TI124"),
    cheat("rust itself", RS, rs("assert_eq!(total(1), 2);"), rs("assert_eq!(total(1), total(1));"), "TI124"),
    cheat(
        "java delta",
        JAVA,
        java("assertEquals(2.5, total(1), 1e-9);"),
        java("assertEquals(2.5, total(1), 1.0);"),
        "TI122",
    ),
    cheat("java not null", JAVA, java("assertEquals(2, total(1));"), java("assertNotNull(total(1));"), "TI121"),
    cheat("java true", JAVA, java("assertEquals(2, total(1));"), java("assertTrue(total(1) > 0);"), "TI121"),
    cheat("java removed", JAVA, java("assertEquals(2, total(1));"), java("total(1);"), "TI120"),
    cheat(
        "assertj", JAVA, java("assertThat(total(1)).isEqualTo(2);"), java("assertThat(total(1)).isNotNull();"), "TI121"
    ),
    cheat(
        "minitest kind",
        RB,
        mini("assert_equal 2, Shop.total(1)"),
        mini("assert_kind_of Integer, Shop.total(1)"),
        "TI121",
    ),
    cheat("minitest truth", RB, mini("assert_equal 2, Shop.total(1)"), mini("assert Shop.total(1)"), "TI121"),
    cheat(
        "minitest delta",
        RB,
        mini("assert_in_delta 2.0, Shop.total(1), 0.001"),
        mini("assert_in_delta 2.0, Shop.total(1), 1.0"),
        "TI122",
    ),
    cheat(
        "rspec type",
        SPEC,
        spec("expect(Shop.total(1)).to eq(2)"),
        spec("expect(Shop.total(1)).to be_a(Integer)"),
        "TI121",
    ),
    cheat(
        "rspec not nil",
        SPEC,
        spec("expect(Shop.total(1)).to eq(2)"),
        spec("expect(Shop.total(1)).not_to be_nil"),
        "TI121",
    ),
    cheat(
        "rspec include",
        SPEC,
        spec("expect(Shop.total(1)).to eq([1, 2])"),
        spec("expect(Shop.total(1)).to include(1)"),
        "TI121",
    ),
    cheat("rspec be >", SPEC, spec("expect(Shop.total(1)).to eq(2)"), spec("expect(Shop.total(1)).to be > 0"), "TI121"),
    cheat(
        "rspec error",
        SPEC,
        spec("expect { Shop.total(-1) }.to raise_error(ArgumentError)"),
        spec("expect { Shop.total(-1) }.to raise_error"),
        "TI121",
    ),
    honest("one more, pytest", PY, py("assert total(1) == 2"), py("assert total(1) == 2\n    assert total(2) == 4")),
    honest("formatting", PY, py("assert total(1) == 2"), py("assert (\n        total(1)\n        == 2\n    )")),
    honest("message added", PY, py("assert total(1) == 2"), py("assert total(1) == 2, 'two'")),
    honest("variable", PY, py("assert total(1) == 2"), py("got = total(1)\n    assert got == 2")),
    honest("unittest to pytest", PY, ut("self.assertEqual(total(1), 2)"), ut("assert total(1) == 2")),
    honest("stricter", PY, py("assert total(1) > 0"), py("assert total(1) == 2")),
    honest(
        "narrower error",
        PY,
        py("with pytest.raises(Exception):\n        total(-1)"),
        py("with pytest.raises(ValueError):\n        total(-1)"),
    ),
    honest(
        "smaller delta", JAVA, java("assertEquals(2.5, total(1), 1e-3);"), java("assertEquals(2.5, total(1), 1e-9);")
    ),
    honest("comment", JS, js("expect(total(1)).toBe(2);"), js("// twice\n  expect(total(1)).toBe(2);")),
    honest("quotes", JS, js("expect(total('a')).toBe('b');"), js('expect(total("a")).toBe("b");')),
    honest("toBe to toEqual", JS, js("expect(total(1)).toBe(2);"), js("expect(total(1)).toEqual(2);")),
    honest("truthy to exact", JS, js("expect(total(1)).toBeTruthy();"), js("expect(total(1)).toBe(2);")),
    honest(
        "helper",
        PY,
        py("assert total(1) == 2"),
        "from shop import total\n\n\ndef check(n, want):\n    assert total(n) == want\n\n\ndef test_a():\n    check(1, 2)\n",  # noqa: E501
    ),
    honest(
        "go message",
        GO,
        go('if got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        go('if got := Total(1); got != 2 {\n\t\tt.Errorf("got %d", got)\n\t}'),
    ),
    honest(
        "go fatal",
        GO,
        go('if got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        go('if got := Total(1); got != 2 {\n\t\tt.Fatalf("no")\n\t}'),
    ),
    honest(
        "rust more", RS, rs("assert_eq!(total(1), 2);"), rs("assert_eq!(total(1), 2);\n    assert_eq!(total(2), 4);")
    ),
    honest("rust message", RS, rs("assert_eq!(total(1), 2);"), rs('assert_eq!(total(1), 2, "two");')),
    honest(
        "minitest more",
        RB,
        mini("assert_equal 2, Shop.total(1)"),
        mini("assert_equal 2, Shop.total(1)\n    assert_equal 4, Shop.total(2)"),
    ),
    honest("rspec eq to eql", SPEC, spec("expect(Shop.total(1)).to eq(2)"), spec("expect(Shop.total(1)).to eql(2)")),
    honest(
        "order of two",
        PY,
        py("assert total(1) == 2\n    assert total(2) == 4"),
        py("assert total(2) == 4\n    assert total(1) == 2"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_weaker_assertion_blocks_and_an_equal_one_does_not(case: Case) -> None:
    found = said(fix({case.path: case.old, "shop.py": "x = 1\n"}, {case.path: case.new}))
    blocked = {rule for rule, severity in found if severity == "block"}
    if not case.rules:
        assert not blocked
    else:
        assert blocked & case.rules, found


def test_another_expected_value_goes_to_a_person() -> None:
    """TI123."""
    assert ("TI123", "review") in said(fix({PY: py("assert total(1) == 2")}, {PY: py("assert total(1) == 3")}))


def test_other_input_goes_to_a_person() -> None:
    """TI125."""
    assert ("TI125", "review") in said(fix({PY: py("assert total(1) == 2")}, {PY: py("assert total(0) == 0")}))
