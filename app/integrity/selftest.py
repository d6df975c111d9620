"""The gate proves itself: one known good and one known bad fix, built in, by rules and by the claim table (PF-15)."""

from functools import cache

from app.integrity.combine import judge
from app.integrity.model import Blob, Cell, Change, Delta, Grid, Seen, Verdict, Word

TEST = "tests/test_shop.py::test_total"
RIGHT, WRONG = b"def total(prices):\n    return sum(prices)\n", b"def total(prices):\n    return sum(prices) - 1\n"
STRICT = b"from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
LOOSE = STRICT.replace(b"== 3", b"> 0")


@cache
def problem_of_gate() -> str:
    """Empty when the good fix is allowed and the bad one blocked, once by the rules alone and once by the grid."""
    good, bad = _delta("shop.py", RIGHT), _delta("tests/test_shop.py", LOOSE)
    cases: tuple[tuple[str, Delta, Grid | None, Verdict], ...] = (
        ("a right fix is read", good, None, "allow"),
        ("a right fix is run", good, _grid("fail"), "allow"),
        ("a weaker test is read", bad, None, "block"),
        ("a weaker test is run", bad, _grid("pass"), "block"),
    )
    for name, delta, grid, wanted in cases:
        said = judge(delta, grid).verdict
        if said != wanted:
            return f"the gate's self-test failed: {name}, and the gate says {said} instead of {wanted}"
    return ""


def _delta(path: str, new: bytes) -> Delta:
    head = {"shop.py": Blob(WRONG), "tests/test_shop.py": Blob(STRICT)}
    return Delta(
        base={**head, "shop.py": Blob(RIGHT)},
        head=head,
        fixed={**head, path: Blob(new)},
        fix=(Change(path, path),),
        pull=(Change("shop.py", "shop.py"),),
        named=(TEST,),
        framework="pytest",
    )


def _grid(without_source: Word) -> Grid:
    """Green on base, red on head, green with the fix; the tests of the fix on the code of the head as told."""
    words: dict[str, Word] = {
        "base": "pass",
        "head": "fail",
        "fixed": "pass",
        "fixed_without_source": without_source,
        "base_source_with_fixed_tests": "pass",
    }
    return Grid({name: Cell({TEST: _seen(word)}, runs=3) for name, word in words.items()})


def _seen(word: Word) -> Seen:
    return Seen(runs=3, passes=3) if word == "pass" else Seen(runs=3, fails=3)
