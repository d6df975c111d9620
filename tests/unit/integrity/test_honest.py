"""Honest fixes whose source alone satisfies the original tests, with harmless edits of tests in many languages."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from app.integrity.combine import judge
from tests.unit.integrity.fixes import GONE, Texts, Words, fix, grid

NAMED = ("named",)
PYSRC = ("shop.py", "def total(n):\n    return n\n", "def total(n):\n    return 2 * n\n")


@dataclass(frozen=True)
class Case:
    name: str
    old: Mapping[str, str]
    new: Texts
    verdict: str = "allow"


PY, JS, GO, RB, SPEC, JAVA = (
    "tests/test_a.py",
    "test/a.test.js",
    "a_test.go",
    "test/test_a.rb",
    "spec/a_spec.rb",
    "src/test/java/demo/ATest.java",
)
PYTEST = "from shop import total\n\n\ndef test_one():\n    assert total(1) == 2\n\n\ndef test_two():\n    assert total(2) == 4\n"  # noqa: E501
UNIT = (
    "import unittest\nfrom shop import total\n\n\nclass A(unittest.TestCase):\n"
    "    def test_one(self):\n        self.assertEqual(total(1), 2)\n"
)
JEST = "const { total } = require('../src/total');\ntest('one', () => {\n  expect(total(1)).toBe(2);\n});\ntest('two', () => {\n  expect(total(2)).toBe(4);\n});\n"  # noqa: E501
NODE = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { total } from '../src/total.js';\ntest('one', () => {\n  assert.equal(total(1), 2);\n});\n"  # noqa: E501
GOT = 'package shop\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif got := Total(1); got != 2 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n'  # noqa: E501
MINI = 'require_relative "test_helper"\nclass TestA < Minitest::Test\n  def test_one\n    assert_equal 2, Shop.total(1)\n  end\nend\n'  # noqa: E501
RSPEC = 'RSpec.describe Shop do\n  it "one" do\n    expect(Shop.total(1)).to eq(2)\n  end\nend\n'
JUNIT = "package demo;\n\npublic class ATest {\n  @Test\n  public void one() {\n    assertEquals(2, Shop.total(1));\n  }\n}\n"  # noqa: E501

CASES = [
    Case(
        "rows instead of tests",
        {PY: PYTEST},
        {
            PY: "import pytest\nfrom shop import total\n\n\n@pytest.mark.parametrize('n, want', [(1, 2), (2, 4)])\ndef test_total(n, want):\n    assert total(n) == want\n"  # noqa: E501
        },
    ),
    Case(
        "each instead of tests",
        {JS: JEST},
        {
            JS: "const { total } = require('../src/total');\ntest.each([[1, 2], [2, 4]])('total of %i', (n, want) => {\n  expect(total(n)).toBe(want);\n});\n"  # noqa: E501
        },
    ),
    Case(
        "a fixture",
        {PY: PYTEST},
        {
            PY: PYTEST.replace(
                "def test_one():", "@pytest.fixture\ndef one():\n    return 1\n\n\ndef test_one(one):"
            ).replace("import", "import", 1)
        },
    ),
    Case(
        "a helper in Python",
        {PY: PYTEST},
        {
            PY: PYTEST.replace("    assert total(1) == 2", "    check(1, 2)").replace(
                "def test_one", "def check(n, want):\n    assert total(n) == want\n\n\ndef test_one"
            )
        },
    ),
    Case(
        "a helper in Ruby",
        {RB: MINI},
        {
            RB: MINI.replace("    assert_equal 2, Shop.total(1)", "    check 1, 2").replace(
                "  def test_one", "  def check(n, want)\n    assert_equal want, Shop.total(n)\n  end\n\n  def test_one"
            )
        },
    ),
    Case(
        "a helper in Go",
        {GO: GOT},
        {
            GO: GOT.replace(
                '\tif got := Total(1); got != 2 {\n\t\tt.Errorf("got %d", got)\n\t}\n', "\tcheck(t, 1, 2)\n"
            )
            + '\nfunc check(t *testing.T, n, want int) {\n\tt.Helper()\n\tif got := Total(n); got != want {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n'  # noqa: E501
        },
    ),
    Case("unittest to pytest", {PY: UNIT}, {PY: UNIT.replace("self.assertEqual(total(1), 2)", "assert total(1) == 2")}),
    Case("assert to strict", {JS: NODE}, {JS: NODE.replace("assert.equal", "assert.strictEqual")}),
    Case("assert to expect", {JS: JEST.replace("expect(total(1)).toBe(2)", "assert.equal(total(1), 2)")}, {JS: JEST}),
    Case(
        "minitest to spec style",
        {RB: MINI},
        {RB: MINI.replace("assert_equal 2, Shop.total(1)", "_(Shop.total(1)).must_equal 2")},
    ),
    Case(
        "junit to assertj",
        {JAVA: JUNIT},
        {JAVA: JUNIT.replace("assertEquals(2, Shop.total(1))", "assertThat(Shop.total(1)).isEqualTo(2)")},
    ),
    Case(
        "go to testify",
        {GO: GOT},
        {
            GO: GOT.replace(
                'if got := Total(1); got != 2 {\n\t\tt.Errorf("got %d", got)\n\t}', "require.Equal(t, 2, Total(1))"
            )
        },
    ),
    Case(
        "go to cmp",
        {GO: GOT},
        {
            GO: GOT.replace("if got := Total(1); got != 2 {", 'if diff := cmp.Diff(2, Total(1)); diff != "" {').replace(
                't.Errorf("got %d", got)', "t.Error(diff)"
            )
        },
    ),
    Case("moved in Python", {PY: PYTEST}, {PY: GONE, "tests/unit/test_a.py": PYTEST}),
    Case(
        "moved in Ruby",
        {RB: MINI},
        {RB: GONE, "test/unit/test_a.rb": MINI.replace('"test_helper"', '"../test_helper"')},
    ),
    Case(
        "moved in Java",
        {JAVA: JUNIT},
        {JAVA: GONE, "src/test/java/demo/unit/ATest.java": JUNIT.replace("demo;", "demo.unit;")},
    ),
    Case("reformatted JavaScript", {JS: JEST}, {JS: JEST.replace("'", '"').replace(");\n});", ")\n})")}),
    Case(
        "reformatted Go",
        {GO: GOT},
        {GO: GOT.replace("if got := Total(1); got != 2 {", "got := Total(1)\n\tif got != 2 {")},
    ),
    Case(
        "a new test on one platform",
        {PY: PYTEST},
        {
            PY: PYTEST
            + "\n\n@pytest.mark.skipif(sys.platform == 'win32', reason='posix')\ndef test_three():\n    assert total(3) == 6\n"  # noqa: E501
        },
    ),
    Case(
        "a new test on one platform, Java",
        {JAVA: JUNIT},
        {
            JAVA: JUNIT.replace(
                "}\n}\n",
                "}\n\n  @Test\n  @EnabledOnOs(OS.LINUX)\n  public void two() {\n    assertEquals(4, Shop.total(2));\n  }\n}\n",  # noqa: E501
            )
        },
    ),
    Case("stricter in Ruby", {SPEC: RSPEC.replace("to eq(2)", "to be > 1")}, {SPEC: RSPEC}),
    Case("stricter in JavaScript", {JS: JEST.replace("toBe(2)", "toBeTruthy()")}, {JS: JEST}),
    Case(
        "more in one test",
        {SPEC: RSPEC},
        {SPEC: RSPEC.replace("to eq(2)", "to eq(2)\n    expect(Shop.total(2)).to eq(4)")},
    ),
    Case(
        "time limit lowered",
        {JS: JEST.replace("toBe(2);\n}", "toBe(2);\n}, 5000")},
        {JS: JEST.replace("toBe(2);\n}", "toBe(2);\n}, 1000")},
    ),
    Case(
        "fake clock in a new test",
        {JS: JEST},
        {
            JS: JEST
            + "test('waits', () => {\n  jest.useFakeTimers();\n  jest.spyOn(Date, 'now').mockReturnValue(1);\n  expect(total(3)).toBe(6);\n});\n"  # noqa: E501
        },
    ),
    Case("version of a manifest", {"package.json": '{"version": "1.0.0"}'}, {"package.json": '{"version": "1.0.1"}'}),
    Case("a comment in the configuration", {"pytest.ini": "[pytest]\n"}, {"pytest.ini": "# how tests run\n[pytest]\n"}),
    Case("a documented change", {"README.md": "a\n"}, {"README.md": "b\n"}),
    Case(
        "a state of an object",
        {"src/q.js": "class Q {\n  pop() {\n    return 1;\n  }\n}\n"},
        {
            "src/q.js": "class Q {\n  items = [];\n  pop() {\n    this.items.push(1);\n    if (this.items.length > 3) throw new Error('full');\n    return 1;\n  }\n}\n"  # noqa: E501
        },
    ),
    Case(
        "a subcommand named test",
        {"tool.py": "import sys\n"},
        {"tool.py": "import sys\n\n\ndef main():\n    if sys.argv[1] == 'test':\n        return 1\n    return 0\n"},
    ),
    Case("production mode", {"src/a.js": "x();\n"}, {"src/a.js": "if (process.env.NODE_ENV === 'production') x();\n"}),
    Case(
        "a named error",
        {"a.rb": "def a\n  1\nend\n"},
        {"a.rb": "def a\n  Integer(b)\nrescue ArgumentError\n  0\nend\n"},
    ),
    Case(
        "an error that is wrapped",
        {"A.java": "class A {}\n"},
        {
            "A.java": "class A {\n  int a() {\n    try {\n      return b();\n    } catch (Exception e) {\n      throw new IllegalStateException(e);\n    }\n  }\n}\n"  # noqa: E501
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_honest_fix_passes_without_a_person(case: Case) -> None:
    """DM-1: O = pass."""
    path, old, new = PYSRC
    delta = fix({path: old, **case.old}, {path: new, **case.new}, named=NAMED)
    answer = judge(delta, grid(Words(without_source="fail", original="pass"), NAMED))
    assert answer.verdict == case.verdict, [(one.rule, one.severity, one.before, one.after) for one in answer.findings]
