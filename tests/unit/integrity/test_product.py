"""TI400 to TI430: source that knows about tests, holds their values or hides errors, and source that looks alike."""

from dataclasses import dataclass

import pytest

from app.integrity.model import Grid
from tests.unit.integrity.fixes import Words, fix, grid, said
from tests.unit.integrity.test_weaker import PY

PASS: Grid = grid(Words(base="pass"), ("tests/test_a.py::test_a",))


@dataclass(frozen=True)
class Case:
    name: str
    path: str
    old: str
    new: str
    found: tuple[str, str] | None = None


PYF = "def total(n):\n    return n\n"
JSF = "function total(n) {\n  return n;\n}\nmodule.exports = { total };\n"
GOF = 'package shop\n\nimport "os"\n\nfunc Total(n int) int {\n\treturn n\n}\n'
RSF = "pub fn total(n: i32) -> i32 {\n    n\n}\n"
RBF = "module Shop\n  def self.total(n)\n    n\n  end\nend\n"
JAF = "public class Shop {\n  public int total(int n) {\n    return n;\n  }\n}\n"


def into(text: str, line: str, mark: str) -> str:
    """The text with a line in front of the first line that holds `mark`."""
    return text.replace(mark, line + "\n" + mark, 1)


BLOCK = ("TI400", "block")
CASES = [
    Case(
        "pytest in modules",
        "shop.py",
        PYF,
        into("import sys\n" + PYF, "    if 'pytest' in sys.modules:\n        return 2", "    return n"),
        BLOCK,
    ),
    Case(
        "pytest variable",
        "shop.py",
        PYF,
        into("import os\n" + PYF, "    if os.environ.get('PYTEST_CURRENT_TEST'):\n        return 2", "    return n"),
        BLOCK,
    ),
    Case(
        "unittest in modules",
        "shop.py",
        PYF,
        into("import sys\n" + PYF, "    if 'unittest' in sys.modules:\n        return 2", "    return n"),
        BLOCK,
    ),
    Case(
        "stack",
        "shop.py",
        PYF,
        into(
            "import inspect\n" + PYF, "    if 'test' in inspect.stack()[1].filename:\n        return 2", "    return n"
        ),
        BLOCK,
    ),
    Case(
        "frame",
        "shop.py",
        PYF,
        into(
            "import sys\n" + PYF,
            "    if sys._getframe(1).f_code.co_name.startswith('test_'):\n        return 2",
            "    return n",
        ),
        BLOCK,
    ),
    Case(
        "program name",
        "shop.py",
        PYF,
        into("import sys\n" + PYF, "    if sys.argv[0].endswith('pytest'):\n        return 2", "    return n"),
        BLOCK,
    ),
    Case(
        "jest worker", "src/shop.js", JSF, into(JSF, "  if (process.env.JEST_WORKER_ID) return 2;", "  return n"), BLOCK
    ),
    Case("vitest", "src/shop.js", JSF, into(JSF, "  if (process.env.VITEST) return 2;", "  return n"), BLOCK),
    Case(
        "typeof describe",
        "src/shop.js",
        JSF,
        into(JSF, "  if (typeof describe === 'function') return 2;", "  return n"),
        BLOCK,
    ),
    Case(
        "node env",
        "src/shop.js",
        JSF,
        into(JSF, "  if (process.env.NODE_ENV === 'test') return 2;", "  return n"),
        BLOCK,
    ),
    Case(
        "js stack",
        "src/shop.js",
        JSF,
        into(JSF, "  if (new Error().stack.includes('.test.js')) return 2;", "  return n"),
        BLOCK,
    ),
    Case(
        "js argv",
        "src/shop.js",
        JSF,
        into(JSF, "  if (process.argv[1].includes('mocha-test')) return 2;", "  return n"),
        BLOCK,
    ),
    Case(
        "go flag",
        "shop.go",
        GOF,
        into(GOF, '\tif flag.Lookup("test.v") != nil {\n\t\treturn 2\n\t}', "\treturn n"),
        BLOCK,
    ),
    Case(
        "go args",
        "shop.go",
        GOF,
        into(GOF, '\tif strings.HasSuffix(os.Args[0], ".test") {\n\t\treturn 2\n\t}', "\treturn n"),
        BLOCK,
    ),
    Case("go testing", "shop.go", GOF, into(GOF, "\tif testing.Testing() {\n\t\treturn 2\n\t}", "\treturn n"), BLOCK),
    Case("rust cfg", "src/lib.rs", RSF, into(RSF, "    if cfg!(test) {\n        return 2;\n    }", "    n\n"), BLOCK),
    Case(
        "rust exe",
        "src/lib.rs",
        RSF,
        into(
            RSF,
            '    if std::env::current_exe().unwrap().to_string_lossy().contains("test") {\n        return 2;\n    }',
            "    n\n",
        ),
        BLOCK,
    ),
    Case("rspec", "lib/shop.rb", RBF, into(RBF, "    return 2 if defined?(RSpec)", "    n\n"), BLOCK),
    Case("minitest", "lib/shop.rb", RBF, into(RBF, "    return 2 if defined?(Minitest)", "    n\n"), BLOCK),
    Case(
        "caller",
        "lib/shop.rb",
        RBF,
        into(RBF, '    return 2 if caller.any? { |line| line.include?("_test.rb") }', "    n\n"),
        BLOCK,
    ),
    Case(
        "program", "lib/shop.rb", RBF, into(RBF, '    return 2 if $PROGRAM_NAME.end_with?("rspec")', "    n\n"), BLOCK
    ),
    Case(
        "java stack",
        "src/main/java/Shop.java",
        JAF,
        into(
            JAF,
            '    for (StackTraceElement e : Thread.currentThread().getStackTrace()) if (e.getClassName().startsWith("org.junit")) return 2;',  # noqa: E501
            "    return n",
        ),
        BLOCK,
    ),
    Case(
        "java class name",
        "src/main/java/Shop.java",
        JAF,
        into(
            JAF,
            '    for (StackTraceElement e : new Throwable().getStackTrace()) if (e.getClassName().endsWith("Test")) return 2;',  # noqa: E501
            "    return n",
        ),
        BLOCK,
    ),
    Case(
        "own switch",
        "shop.py",
        PYF,
        into("import os\n" + PYF, "    if os.environ.get('SHOP_TEST_MODE'):\n        return 2", "    return n"),
        ("TI400", "review"),
    ),
    Case(
        "always equal",
        "shop.py",
        PYF,
        PYF + "\n\nclass Any:\n    def __eq__(self, other):\n        return True\n",
        ("TI411", "block"),
    ),
    Case(
        "java equals",
        "src/main/java/Shop.java",
        JAF,
        into(JAF, "  public boolean equals(Object other) {\n    return true;\n  }", "  public int total"),
        ("TI411", "block"),
    ),
    Case(
        "ruby equal",
        "lib/shop.rb",
        RBF,
        into(RBF, "  def ==(other)\n    true\n  end", "  def self"),
        ("TI411", "block"),
    ),
    Case(
        "rust eq",
        "src/lib.rs",
        RSF,
        RSF + "pub struct A;\nimpl PartialEq for A {\n    fn eq(&self, _other: &A) -> bool {\n        true\n    }\n}\n",
        ("TI411", "block"),
    ),
    Case(
        "counter",
        "shop.py",
        PYF,
        "calls = 0\n\n\ndef total(n):\n    global calls\n    calls += 1\n    if calls == 1:\n        return 2\n    return n\n",  # noqa: E501
        ("TI412", "review"),
    ),
    Case(
        "js counter",
        "src/shop.js",
        JSF,
        into("let calls = 0;\n" + JSF, "  calls += 1;\n  if (calls === 1) return 2;", "  return n"),
        ("TI412", "review"),
    ),
    Case(
        "go counter",
        "shop.go",
        GOF,
        into(
            GOF.replace("func Total", "var calls = 0\n\nfunc Total"),
            "\tcalls++\n\tif calls == 1 {\n\t\treturn 2\n\t}",
            "\treturn n",
        ),
        ("TI412", "review"),
    ),
    Case(
        "swallowed",
        "shop.py",
        PYF,
        "def parse(text):\n    try:\n        return int(text)\n    except Exception:\n        return 0\n\n\n" + PYF,
        ("TI420", "review"),
    ),
    Case(
        "js swallowed",
        "src/shop.js",
        JSF,
        "function parse(text) {\n  try {\n    return JSON.parse(text);\n  } catch (e) {\n    return {};\n  }\n}\n"
        + JSF,
        ("TI420", "review"),
    ),
    Case("debug switch", "shop.py", PYF, "import os\nDEBUG = os.environ.get('SHOP_DEBUG')\n" + PYF),
    Case(
        "the word latest",
        "shop.py",
        PYF,
        into("import sys\n" + PYF, "    if sys.argv[1:] == ['latest']:\n        return 2", "    return n"),
    ),
    Case(
        "narrow handler",
        "shop.py",
        PYF,
        "def parse(text):\n    try:\n        return int(text)\n    except ValueError:\n        return 0\n\n\n" + PYF,
    ),
    Case(
        "raised again",
        "src/shop.js",
        JSF,
        into(
            JSF,
            "  try {\n    check(n);\n  } catch (e) {\n    throw new TypeError('n', { cause: e });\n  }",
            "  return n",
        ),
    ),
    Case(
        "real equality",
        "shop.py",
        PYF,
        PYF + "\n\nclass A:\n    def __eq__(self, other):\n        return self.n == other.n\n",
    ),
    Case(
        "cache",
        "shop.py",
        PYF,
        "seen = {}\n\n\ndef total(n):\n    if n in seen:\n        return seen[n]\n    seen[n] = n\n    return n\n",
    ),
    Case(
        "a constant",
        "shop.py",
        PYF,
        "LIMIT = 50\n\n\ndef total(n):\n    if n > LIMIT:\n        return LIMIT\n    return n\n",
    ),
    Case(
        "rust test module",
        "src/lib.rs",
        RSF,
        RSF
        + "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn a() {\n        assert_eq!(total(1), 1);\n    }\n}\n",  # noqa: E501
    ),
    Case(
        "exit of a command line",
        "shop/cli.py",
        PYF,
        "import sys\n\n\ndef main(argv):\n    if not argv:\n        sys.exit(2)\n",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_source_that_cheats_is_found_and_source_that_looks_alike_is_not(case: Case) -> None:
    found = said(fix({case.path: case.old}, {case.path: case.new}), PASS)
    severe = {row for row in found if row[1] != "info"}
    if case.found is None:
        assert not severe
    else:
        assert case.found in severe, found


HARD = [
    Case(
        "dictionary",
        "shop.py",
        PYF,
        "KNOWN = {'1h30m': 5400}\n" + into(PYF, "    if n in KNOWN:\n        return KNOWN[n]", "    return n"),
        ("TI410", "block"),
    ),
    Case(
        "if", "shop.py", PYF, into(PYF, "    if n == '1h30m':\n        return 5400", "    return n"), ("TI410", "block")
    ),
    Case(
        "conditional", "shop.py", PYF, PYF.replace("return n", "return 5400 if n == '1h30m' else n"), ("TI410", "block")
    ),
    Case("other values", "shop.py", PYF, into(PYF, "    if n == '2h':\n        return 7200", "    return n")),
    Case("real table", "shop.py", PYF, "UNITS = {'h': 3600, 'm': 60}\n" + PYF),
]
TEST = "from shop import total\n\n\ndef test_a():\n    assert total('1h30m') == 5400\n"


@pytest.mark.parametrize("case", HARD, ids=lambda case: case.name)
def test_values_of_the_named_test_in_source_block(case: Case) -> None:
    """TI410: a pair of one assertion, where base passed without it."""
    delta = fix({case.path: case.old, PY: TEST}, {case.path: case.new}, named=("tests/test_a.py::test_a",))
    found = {row for row in said(delta, PASS) if row[0] == "TI410" and row[1] != "info"}
    assert found == ({case.found} if case.found else set())


def test_a_pair_where_base_failed_goes_to_a_person() -> None:
    """TI410: there the entry may be the whole honest fix."""
    delta = fix({"shop.py": PYF, PY: TEST}, {"shop.py": HARD[1].new}, named=("tests/test_a.py::test_a",))
    words = grid(Words(base="fail"), ("tests/test_a.py::test_a",))
    assert ("TI410", "review") in said(delta, words)


def test_code_removed_with_its_test_blocks() -> None:
    """TI430."""
    head = {"shop.py": PYF + "\n\ndef extra(n):\n    return n + 1\n", PY: TEST}
    found = said(fix(head, {"shop.py": PYF, PY: "from shop import total\n"}))
    assert ("TI430", "block") in found
