"""Changed copies of touched source lines (MM-1 to MM-5)."""

import pytest

from app.integrity.mutants import MOST, Mutant, Mutation, finding_of, mutants_of
from tests.unit.integrity.fixes import fix


@pytest.mark.parametrize(
    ("path", "line", "swapped"),
    [
        ("a.py", "    return a < b and c == 1", {"<": "<=", "and": "or", "==": "!=", "1": "2"}),
        ("a.js", "  return a + b === 3 && true;", {"+": "-", "===": "!==", "3": "4", "&&": "||", "true": "false"}),
        ("a.go", "\treturn a*b >= 2 || c", {"*": "/", ">=": ">", "2": "3", "||": "&&"}),
        ("a.rs", "    a - b != 7", {"-": "+", "!=": "==", "7": "8"}),
        ("a.rb", "  a > b ? 1 : 2", {">": ">=", "1": "2", "2": "3"}),
        ("A.java", "    return a <= 4;", {"<=": "<", "4": "5"}),
    ],
)
def test_tokens_are_swapped_in_every_language(path: str, line: str, swapped: dict[str, str]) -> None:
    """MM-2, decision 89."""
    frames = {
        "a.py": "def f(a, b, c):\n{}\n",
        "a.js": "function f(a, b) {{\n{}\n}}\n",
        "a.go": "package a\n\nfunc F(a, b int, c bool) bool {{\n{}\n}}\n",
        "a.rs": "fn f(a: i32, b: i32) -> bool {{\n{}\n}}\n",
        "a.rb": "def f(a, b)\n{}\nend\n",
        "A.java": "class A {{\n  boolean f(int a) {{\n{}\n  }}\n}}\n",
    }
    frame = frames[path]
    found = mutants_of(fix({path: frame.format("")}, {path: frame.format(line)}))
    assert {one.before: one.after for one in found} == swapped


def test_strings_comments_and_imports_are_left_alone() -> None:
    """MM-2."""
    new = "from a import b  # 1 + 1\nx = '1 < 2'\n"
    assert mutants_of(fix({"a.py": "y = z\n"}, {"a.py": new})) == []


def test_a_mutant_is_the_whole_file_with_one_token_changed() -> None:
    found = mutants_of(fix({"a.py": "def f(a):\n    return a\n"}, {"a.py": "def f(a):\n    return a + 1\n"}))
    assert [one.data for one in found] == [b"def f(a):\n    return a - 1\n", b"def f(a):\n    return a + 2\n"]


def test_a_fix_of_tests_mutates_what_the_pull_request_touched() -> None:
    """MM-1."""
    base, head = (
        {"a.py": "x = y\n", "tests/test_a.py": "t = 1\n"},
        {"a.py": "x = y + 1\n", "tests/test_a.py": "t = 1\n"},
    )
    found = mutants_of(fix(head, {"tests/test_a.py": "t = 2\n"}, base))
    assert {one.path for one in found} == {"a.py"}


def test_there_are_at_most_twenty_spread_over_the_lines() -> None:
    """MM-3."""
    found = mutants_of(fix({"a.py": "x = y\n"}, {"a.py": "".join(f"x{n} = y + z\n" for n in range(100))}))
    assert len(found) == MOST
    assert found[-1].line > 90


SURVIVOR = Mutant("a.py", 2, "<", "<=", b"")


def test_three_mutants_and_none_killed_ask_a_person() -> None:
    """MM100, MM-5: nothing else follows from the numbers."""
    said = finding_of(Mutation(3, 0, (SURVIVOR,) * 3))
    assert said is not None
    assert (said.rule, said.severity, said.line) == ("MM100", "review", 2)
    assert finding_of(Mutation(2, 0, (SURVIVOR,) * 2)) is None
    assert finding_of(Mutation(20, 1, (SURVIVOR,) * 19)) is None
