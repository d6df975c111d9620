"""TI130, TI140, TI141, TI142, TI240, TI241, TI330: guards, stand-ins and times, and honest neighbours."""

from dataclasses import dataclass

import pytest

from tests.unit.integrity.fixes import fix, said
from tests.unit.integrity.test_marks import A, B, J, M, N, S
from tests.unit.integrity.test_weaker import GO, JAVA, JS, PY, RB, SPEC, go, java, js, mini, py, spec, ut


@dataclass(frozen=True)
class Case:
    name: str
    path: str
    old: str
    new: str
    rule: str = ""


CASES = [
    Case(
        "try except pass",
        PY,
        A,
        py("try:\n        assert total(1) == 2\n    except AssertionError:\n        pass"),
        "TI130",
    ),
    Case("suppress", PY, A, py("with contextlib.suppress(AssertionError):\n        assert total(1) == 2"), "TI130"),
    Case("if", PY, A, py("if total(1) == 2:\n        assert total(1) == 2"), "TI130"),
    Case("early return", PY, A, py("if total(1) != 2:\n        return\n    assert total(1) == 2"), "TI130"),
    Case("plain return", PY, A, py("return\n    assert total(1) == 2"), "TI130"),
    Case(
        "js try", JS, B, js("try {\n    expect(total(1)).toBe(2);\n  } catch (e) {\n    console.log(e);\n  }"), "TI130"
    ),
    Case("js if", JS, B, js("if (total(1) === 2) {\n    expect(total(1)).toBe(2);\n  }"), "TI130"),
    Case("js return", JS, B, js("if (process.env.CI) return;\n  expect(total(1)).toBe(2);"), "TI130"),
    Case(
        "go return",
        GO,
        N,
        go('if Total(1) == 3 {\n\t\treturn\n\t}\n\tif got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'),
        "TI130",
    ),
    Case(
        "java try",
        JAVA,
        J,
        java("try {\n      assertEquals(2, total(1));\n    } catch (AssertionError e) {\n    }"),
        "TI130",
    ),
    Case(
        "ruby rescue",
        RB,
        M,
        mini("begin\n      assert_equal 2, Shop.total(1)\n    rescue Minitest::Assertion\n    end"),
        "TI130",
    ),
    Case("rspec if", SPEC, S, spec("if Shop.total(1) == 2\n      expect(Shop.total(1)).to eq(2)\n    end"), "TI130"),
    Case(
        "mock of the module",
        JS,
        "const { total } = require('../src/total');\n" + B,
        "jest.mock('../src/total', () => ({ total: () => 2 }));\n" + B,
        "TI140",
    ),
    Case(
        "monkeypatch of the function",
        PY,
        "import shop\n\ndef test_a():\n    assert shop.total(1) == 2\n",
        "import shop\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(shop, 'total', lambda n: 2)\n    assert shop.total(1) == 2\n",  # noqa: E501
        "TI140",
    ),
    Case(
        "patch of the function",
        PY,
        A,
        A.replace("def test_a():", "@patch('shop.total', return_value=2)\ndef test_a(fake):"),
        "TI140",
    ),
    Case(
        "own function instead", PY, A, A.replace("from shop import total\n", "def total(n):\n    return 2\n"), "TI140"
    ),
    Case(
        "assert replaced",
        JS,
        B.replace("expect(total(1)).toBe(2)", "assert.equal(total(1), 2)"),
        "assert.equal = () => {};\n" + B.replace("expect(total(1)).toBe(2)", "assert.equal(total(1), 2)"),
        "TI141",
    ),
    Case("matcher replaced", JS, B, "expect.extend({ toBe() { return { pass: true }; } });\n" + B, "TI141"),
    Case(
        "TestCase replaced",
        PY,
        ut("self.assertEqual(total(1), 2)"),
        ut("self.assertEqual(total(1), 2)").replace(
            "class A", "unittest.TestCase.assertEqual = lambda *a: None\n\nclass A"
        ),
        "TI141",
    ),
    Case(
        "minitest reopened",
        "test/test_helper.rb",
        'require "minitest/autorun"\n',
        'require "minitest/autorun"\nmodule Minitest::Assertions\n  def assert_equal(*)\n  end\nend\n',
        "TI330",
    ),
    Case(
        "pytest timeout",
        PY,
        A.replace("def test_a", "@pytest.mark.timeout(1)\ndef test_a"),
        A.replace("def test_a", "@pytest.mark.timeout(60)\ndef test_a"),
        "TI240",
    ),
    Case("jest timeout", JS, B.replace("});", "}, 1000);"), B.replace("});", "}, 60000);"), "TI240"),
    Case(
        "mocha timeout",
        JS,
        js("this.timeout(100);\n  expect(total(1)).toBe(2);"),
        js("this.timeout(9000);\n  expect(total(1)).toBe(2);"),
        "TI240",
    ),
    Case(
        "java timeout",
        JAVA,
        J.replace("@Test", "@Test(timeout = 100)"),
        J.replace("@Test", "@Test(timeout = 9000)"),
        "TI240",
    ),
    Case(
        "go deadline",
        GO,
        go("ctx, stop := context.WithTimeout(ctx, 1*time.Second)\n\tdefer stop()\n\tTotal(ctx)"),
        go("ctx, stop := context.WithTimeout(ctx, 60*time.Second)\n\tdefer stop()\n\tTotal(ctx)"),
        "TI240",
    ),
    Case(
        "elapsed",
        PY,
        py("elapsed = total(1)\n    assert elapsed < 0.5"),
        py("elapsed = total(1)\n    assert elapsed < 30"),
        "TI240",
    ),
    Case(
        "ruby timeout",
        RB,
        mini("Timeout.timeout(1) { Shop.total(1) }"),
        mini("Timeout.timeout(60) { Shop.total(1) }"),
        "TI240",
    ),
    Case("finally", PY, A, py("try:\n        assert total(1) == 2\n    finally:\n        close()")),
    Case(
        "except fails",
        PY,
        A,
        py("try:\n        assert total(1) == 2\n    except KeyError as error:\n        pytest.fail(str(error))"),
    ),
    Case("literal loop", PY, A, py("for n in (1, 1):\n        assert total(n) == 2")),
    Case(
        "go error check",
        GO,
        N,
        go(
            'if err := Open(); err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif got := Total(1); got != 2 {\n\t\tt.Errorf("no")\n\t}'  # noqa: E501
        ),
    ),
    Case(
        "subtest",
        PY,
        ut("self.assertEqual(total(1), 2)"),
        ut("for n in (1, 1):\n            with self.subTest(n=n):\n                self.assertEqual(total(n), 2)"),
    ),
    Case(
        "clock in a new test",
        PY,
        A,
        A
        + "\n\ndef test_b(monkeypatch):\n    monkeypatch.setattr(shop.time, 'sleep', lambda n: None)\n    assert total(2) == 4\n",  # noqa: E501
    ),
    Case("own helper named assert", PY, A, "def assert_total(n, want):\n    assert total(n) == want\n\n\n" + A),
    Case(
        "timeout lowered",
        PY,
        A.replace("def test_a", "@pytest.mark.timeout(9)\ndef test_a"),
        A.replace("def test_a", "@pytest.mark.timeout(1)\ndef test_a"),
    ),
    Case(
        "js callback",
        JS,
        B,
        js(
            "const found = [1].map((n) => { return total(n); });\n  expect(total(1)).toBe(2);\n  expect(found).toEqual([2]);"  # noqa: E501
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_guard_or_stand_in_blocks_and_an_honest_edit_does_not(case: Case) -> None:
    """Every test of the file is named."""
    named = ("tests/test_a.py::test_a", "test_a", "TestA", "a")
    head = {
        case.path: case.old,
        "shop.py": "def total(n):\n    return n\n",
        "src/total.js": "exports.total = (n) => n;\n",
    }
    found = said(fix(head, {case.path: case.new}, named=named))
    blocked = {rule for rule, severity in found if severity == "block"}
    if case.rule:
        assert case.rule in blocked, found
    else:
        assert not blocked, found


def test_a_longer_sleep_goes_to_a_person() -> None:
    """TI241."""
    assert ("TI241", "review") in said(fix({PY: A}, {PY: py("time.sleep(3)\n    assert total(1) == 2")}))


def test_an_import_from_the_test_tree_blocks() -> None:
    """TI140."""
    head = {PY: A, "shop.py": "def total(n):\n    return n\n"}
    fixed = {PY: A.replace("from shop", "from tests.fake"), "tests/fake.py": "def total(n):\n    return 2\n"}
    assert ("TI140", "block") in said(fix(head, fixed))


def test_a_documented_longer_limit_goes_to_a_person() -> None:
    """TI240 and 7.1: documentation that the pull request changed states the longer time."""
    old, new = (
        A.replace("def test_a", "@pytest.mark.timeout(1)\ndef test_a"),
        A.replace("def test_a", "@pytest.mark.timeout(9)\ndef test_a"),
    )
    base = {PY: old, "README.md": "Answers at once.\n"}
    head = {PY: old, "README.md": "Answers within 8 seconds.\n"}
    found = said(fix(head, {PY: new}, base))
    assert ("TI240", "review") in found
    assert ("TI240", "block") not in found


def test_a_guard_in_another_test_goes_to_a_person() -> None:
    """TI130."""
    new = py("if total(1):\n        assert total(1) == 2")
    assert ("TI130", "review") in said(fix({PY: A}, {PY: new}, named=("tests/test_b.py::test_b",)))
