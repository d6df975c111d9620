"""TI410 in every language: the values of one assertion as a special case, and tables that are no such thing."""

from dataclasses import dataclass

import pytest

from tests.unit.integrity.fixes import Words, fix, grid, said

PASS = grid(Words(base="pass"), ("t",))


@dataclass(frozen=True)
class Case:
    name: str
    test: tuple[str, str]
    source: tuple[str, str, str]
    named: str
    found: bool = True


JS = ("test/a.test.js", "test('one', () => {\n  expect(roman(44)).toBe('XLIV');\n});\n")
EACH = (
    "test/a.test.js",
    "test.each([[44, 'XLIV'], [9, 'IX']])('one %i', (n, want) => {\n  expect(roman(n)).toBe(want);\n});\n",
)
GO = (
    "a_test.go",
    'package a\n\nfunc TestOne(t *testing.T) {\n\ttests := []struct {\n\t\tn int\n\t\twant string\n\t}{\n\t\t{44, "XLIV"},\n\t\t{9, "IX"},\n\t}\n\tfor _, tc := range tests {\n\t\tif got := Roman(tc.n); got != tc.want {\n\t\t\tt.Error("no")\n\t\t}\n\t}\n}\n',  # noqa: E501
)
RS = ("tests/a.rs", '#[test]\nfn one() {\n    assert_eq!(roman(44), "XLIV");\n}\n')
JAVA = (
    "src/test/java/ATest.java",
    'public class ATest {\n  @Test\n  public void one() {\n    assertEquals("XLIV", Roman.of(44));\n  }\n}\n',
)
RB = (
    "test/test_a.rb",
    'class TestA < Minitest::Test\n  def test_one\n    assert_equal "XLIV", Roman.of(44)\n  end\nend\n',
)
SPEC = (
    "spec/a_spec.rb",
    'RSpec.describe Roman do\n  it "one" do\n    expect(Roman.of(44)).to eq("XLIV")\n  end\nend\n',
)
PY = ("tests/test_a.py", 'def test_one():\n    assert roman(44) == "XLIV"\n')

JSF = "function roman(n) {\n  return go(n);\n}\n"
GOF = "package a\n\nfunc Roman(n int) string {\n\treturn run(n)\n}\n"
RSF = "pub fn roman(n: u32) -> String {\n    run(n)\n}\n"
JAF = "public class Roman {\n  static String of(int n) {\n    return run(n);\n  }\n}\n"
RBF = "module Roman\n  def self.of(n)\n    run(n)\n  end\nend\n"
PYF = "def roman(n):\n    return run(n)\n"

CASES = [
    Case(
        "js if",
        JS,
        ("src/a.js", JSF, JSF.replace("  return", "  if (n === 44) return 'XLIV';\n  return")),
        "test/a.test.js > one",
    ),
    Case(
        "js switch",
        JS,
        ("src/a.js", JSF, JSF.replace("  return", "  switch (n) {\n    case 44:\n      return 'XLIV';\n  }\n  return")),
        "test/a.test.js > one",
    ),
    Case(
        "js map",
        JS,
        (
            "src/a.js",
            JSF,
            "const known = new Map([[44, 'XLIV']]);\n"
            + JSF.replace("  return", "  if (known.has(n)) return known.get(n);\n  return"),
        ),
        "test/a.test.js > one",
    ),
    Case(
        "js ternary of a row",
        EACH,
        ("src/a.js", JSF, JSF.replace("return go(n)", "return n === 44 ? 'XLIV' : go(n)")),
        "test/a.test.js > one 44",
    ),
    Case(
        "go if",
        GO,
        ("a.go", GOF, GOF.replace("\treturn", '\tif n == 44 {\n\t\treturn "XLIV"\n\t}\n\treturn')),
        "TestOne",
    ),
    Case(
        "go switch",
        GO,
        ("a.go", GOF, GOF.replace("\treturn", '\tswitch n {\n\tcase 44:\n\t\treturn "XLIV"\n\t}\n\treturn')),
        "TestOne",
    ),
    Case("go map", GO, ("a.go", GOF, GOF.replace("func", 'var known = map[int]string{44: "XLIV"}\n\nfunc')), "TestOne"),
    Case(
        "rust match",
        RS,
        (
            "src/lib.rs",
            RSF,
            RSF.replace("    run(n)", '    match n {\n        44 => "XLIV".to_string(),\n        _ => run(n),\n    }'),
        ),
        "one",
    ),
    Case(
        "rust if",
        RS,
        (
            "src/lib.rs",
            RSF,
            RSF.replace("    run(n)", '    if n == 44 {\n        return "XLIV".into();\n    }\n    run(n)'),
        ),
        "one",
    ),
    Case(
        "java if",
        JAVA,
        ("src/main/java/Roman.java", JAF, JAF.replace("    return", '    if (n == 44) return "XLIV";\n    return')),
        "ATest#one",
    ),
    Case(
        "java switch",
        JAVA,
        (
            "src/main/java/Roman.java",
            JAF,
            JAF.replace("    return", '    switch (n) {\n      case 44: return "XLIV";\n    }\n    return'),
        ),
        "ATest#one",
    ),
    Case(
        "java map",
        JAVA,
        (
            "src/main/java/Roman.java",
            JAF,
            JAF.replace("  static", '  static final Map<Integer, String> KNOWN = Map.of(44, "XLIV");\n  static'),
        ),
        "ATest#one",
    ),
    Case(
        "ruby modifier",
        RB,
        ("lib/a.rb", RBF, RBF.replace("    run", '    return "XLIV" if n == 44\n    run')),
        "TestA#test_one",
    ),
    Case(
        "ruby case",
        RB,
        ("lib/a.rb", RBF, RBF.replace("    run(n)", '    case n\n    when 44 then "XLIV"\n    else run(n)\n    end')),
        "TestA#test_one",
    ),
    Case(
        "ruby hash",
        SPEC,
        ("lib/a.rb", RBF, RBF.replace("  def", '  KNOWN = { 44 => "XLIV" }.freeze\n  def')),
        "spec/a_spec.rb > Roman one",
    ),
    Case(
        "python match",
        PY,
        (
            "a.py",
            PYF,
            PYF.replace("    return", '    match n:\n        case 44:\n            return "XLIV"\n    return'),
        ),
        "tests/test_a.py::test_one",
    ),
    Case(
        "python get",
        PY,
        ("a.py", PYF, PYF.replace("run(n)", '{44: "XLIV"}.get(n) or run(n)')),
        "tests/test_a.py::test_one",
    ),
    Case(
        "python tuple",
        PY,
        ("a.py", "KNOWN = []\n" + PYF, 'KNOWN = [(44, "XLIV")]\n' + PYF),
        "tests/test_a.py::test_one",
    ),
    Case(
        "real roman numerals",
        RB,
        ("lib/a.rb", RBF, RBF.replace("  def", '  TABLE = { 50 => "L", 40 => "XL", 10 => "X" }.freeze\n  def')),
        "TestA#test_one",
        False,
    ),
    Case(
        "the value of another test",
        JS,
        ("src/a.js", JSF, JSF.replace("  return", "  if (n === 45) return 'XLV';\n  return")),
        "test/a.test.js > one",
        False,
    ),
    Case(
        "known before",
        PY,
        (
            "a.py",
            'KNOWN = {44: "XLIV"}\n' + PYF,
            'KNOWN = {44: "XLIV"}\n' + PYF.replace("run(n)", "KNOWN.get(n) or run(n)"),
        ),
        "tests/test_a.py::test_one",
        False,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_pair_of_the_test_in_source_blocks(case: Case) -> None:
    """TI410 with B = pass."""
    path, old, new = case.source
    head = {path: old, case.test[0]: case.test[1]}
    found = said(fix(head, {path: new}, named=(case.named,)), PASS)
    assert (("TI410", "block") in found) == case.found, found
