"""One assertion, and the lattice by which two of them are compared (proof.md, 8.4)."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from app.integrity.syntax import Words, is_literal, number, split

EXACT, PART, BOUND, TYPE, RUNS, NOTHING = 5, 4, 3, 2, 1, 0


@dataclass(frozen=True)
class Check:
    """`subject` is what the test asks about, `expected` what it wants; `tolerance` is a number, None for exact.

    `followed` is False for a check whose strength cannot be told, such as a call of a helper.
    """

    kind: str
    subject: Words
    expected: Words
    strength: int
    line: int
    words: Words
    node: Node
    tolerance: float | None = None
    followed: bool = True
    same: bool = False
    """Both sides are one expression, or the check holds whatever the program does (TI124)."""


_COMPARE = ("===", "!==", "==", "!=", "<=", ">=", "<", ">", "is", "in", "eq?", "eql?", "equal?")
_EXACT_SIGNS = frozenset(("===", "==", "is", "eql?", "eq?", "equal?"))
_FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
NOTHING_VALUES = frozenset(("None", "nil", "null", "undefined"))
_TRUE = frozenset(("True", "true", "1"))
_TYPE_CALL = re.compile(
    r"isinstance|instanceof|typeof|is_a\?|kind_of\?|respond_to\?|callable|hasattr|is_ok|is_some|is_err|is_none|"
    r"isPresent|isArray|isFunction|nil\?|type|defined"
)
_LENGTH = re.compile(r"len|length|size|count|Len|\.length|\.size|rowcount|__len__")
_CLOSE = re.compile(
    r"isclose|approx|allclose|almost_equal|assert_allclose|assert_approx|be_within|within|toBeCloseTo|epsilon|InDelta|InEpsilon|Math\.abs|abs|Abs|fabs"
)
_TOLERANCE = re.compile(r"rel_tol|abs_tol|rel|abs|atol|rtol|delta|places|epsilon|tolerance|decimal")


def strip_brackets(words: Words) -> Words:
    """Without brackets that stand around the whole."""
    while len(words) > 2 and words[0] == "(" and words[-1] == ")" and len(split(words[1:-1], "\0")) == 1:
        depth = 0
        for word in words[1:-1]:
            depth += (word == "(") - (word == ")")
            if depth < 0:
                return words
        words = words[1:-1]
    return words


@dataclass(frozen=True)
class Judged:
    """A condition that a test wants to be true: subject, expected, strength."""

    subject: Words
    expected: Words
    strength: int
    tolerance: float | None = None
    followed: bool = True
    same: bool = False


def judge(words: Words) -> Judged:
    """The strength of a bare condition (`a == b`, `len(a) == 2`, `isinstance(a, B)`, `a`)."""
    words = strip_brackets(words)
    for sign in ("or", "||"):
        parts = split(words, sign)
        if len(parts) > 1:
            weakest = min((judge(part) for part in parts), key=lambda one: one.strength)
            same = any(judge(part).same for part in parts)
            return Judged(weakest.subject, (), min(BOUND, weakest.strength), same=same)
    for sign in ("and", "&&"):
        parts = split(words, sign)
        if len(parts) > 1:
            judged = [judge(part) for part in parts]
            exact = [one for one in judged if one.strength == EXACT]
            bounds = {one.subject for one in judged}
            best = exact[0] if exact else min(judged, key=lambda one: one.strength)
            return best if exact or len(bounds) == 1 else Judged(best.subject, best.expected, best.strength)
    if words[:1] in (("not",), ("!",)):
        inner = judge(words[1:])
        strength = BOUND if inner.strength >= BOUND else TYPE
        return Judged(inner.subject, inner.expected, strength, inner.tolerance, inner.followed)
    return _compared(words) or _called(words)


def _compared(words: Words) -> Judged | None:
    for sign in _COMPARE:
        parts = split(words, sign)
        if len(parts) == 3 and sign in _FLIP:
            return Judged(parts[1], parts[0] + parts[2], BOUND)
        if len(parts) != 2:
            continue
        left, right = parts
        negated = left[-1:] == ("not",) or right[:1] == ("not",)
        if negated:
            left, right = (left[:-1] if left[-1] == "not" else left), (right[1:] if right[0] == "not" else right)
        return compare(left, right, sign, negated)
    return None


def compare(left: Words, right: Words, sign: str, negated: bool = False) -> Judged:
    """The strength of one comparison; a literal on the left side is the expected value."""
    plain = is_literal(left) or ("(" not in left and "(" in right)
    if plain and not is_literal(right):
        left, right, sign = right, left, _FLIP.get(sign, sign)
    left, right = strip_brackets(left), strip_brackets(right)
    unequal = negated or sign in ("!=", "!==", "<", ">")
    if left == right and left:
        return Judged(left, right, NOTHING, same=not unequal)
    if is_literal(left) and is_literal(right):
        return Judged(left, right, NOTHING, same=sign in _EXACT_SIGNS and left == right)
    if negated or sign in ("!=", "!=="):
        return Judged(left, right, TYPE if right and right[0] in NOTHING_VALUES else BOUND)
    if sign in _EXACT_SIGNS:
        return _equal(left, right)
    if _CLOSE.search(left[0] if left else "") and right and (value := number(right[0])) is not None:
        return Judged(left, right, BOUND, tolerance=value)
    return Judged(left, right, BOUND)


def _equal(left: Words, right: Words) -> Judged:
    if any(_CLOSE.fullmatch(word) for word in (*left, *right)):
        return Judged(left, right, BOUND, tolerance=tolerance_in((*left, *right)))
    if is_length(left):
        return Judged(left, right, PART)
    if left and _TYPE_CALL.fullmatch(left[0]):
        return Judged(left, right, TYPE)
    return Judged(left, right, EXACT)


def is_length(words: Words) -> bool:
    """Asks for a size: `len(x)`, `x.length`, `x.size()`."""
    bare = tuple(word for word in words if word not in ("(", ")"))
    return bool(bare) and (_LENGTH.fullmatch(words[0]) is not None or _LENGTH.fullmatch(bare[-1]) is not None)


def _called(words: Words) -> Judged:
    """No comparison: a call that names one, a type question, or the truth of a value."""
    if not words or (is_literal(words) and not any(word[0] in "[{(" for word in words)):
        return Judged(words, (), NOTHING, same=bool(words) and words[0] in _TRUE)
    loop = _over_all(words)
    if loop is not None:
        return loop
    names = [word for word in words if word.isidentifier() or word.endswith("?")]
    if any(_CLOSE.fullmatch(name) for name in names):
        return Judged(words, (), BOUND, tolerance=tolerance_in(words))
    if any(name in ("DeepEqual", "Equal", "equals", "isDeepStrictEqual", "isEqual", "deepEqual") for name in names[:3]):
        inside = split(inner_arguments(words))
        if len(inside) == 2:
            return compare(inside[0], inside[1], "==")
        if len(inside) == 1:
            subject = words[: next(n for n, word in enumerate(words) if word in ("equals", "Equal", "isEqual")) - 1]
            return compare(subject, inside[0], "==")
        return Judged(words, (), EXACT)
    if any(
        re.fullmatch(
            r"includes?\??|contains|Contains|HasPrefix|startsWith|starts_with|endswith|startswith|match\??|test|matches|search|fullmatch",
            name,
        )
        for name in names
    ):
        return Judged(words, (), BOUND)
    return Judged(words, (), TYPE)


def _over_all(words: Words) -> Judged | None:
    """`all(a == b for ...)` is as strong as its inside; `any(...)` is a bound at most."""
    if words[0] not in ("all", "any") or words[1:2] != ("(",):
        return None
    inside = words[2:-1]
    at = inside.index("for") if "for" in inside else len(inside)
    inner = judge(inside[:at])
    strength = inner.strength if words[0] == "all" else min(inner.strength, BOUND)
    return Judged(words, inner.expected, strength, inner.tolerance)


def inner_arguments(words: Words) -> Words:
    """What stands between the first bracket and the last."""
    start = words.index("(") if "(" in words else len(words)
    return words[start + 1 : -1]


def tolerance_in(words: Words) -> float | None:
    """A named tolerance, `places=n` as 10^-n; the smallest number after a name; None when none is written."""
    for n, word in enumerate(words):
        if _TOLERANCE.fullmatch(word) and n + 2 < len(words) and words[n + 1] in ("=", ":", "=>"):
            value = number(words[n + 2])
            if value is not None:
                return 10.0**-value if word in ("places", "decimal") else value
    return None
