"""What the assertion functions of the frameworks ask for: name to kind, strength and place of the arguments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.integrity.checks.model import (
    BOUND,
    EXACT,
    NOTHING,
    PART,
    TYPE,
    Judged,
    compare,
    is_length,
    judge,
    tolerance_in,
)
from app.integrity.syntax import Words, number

_STATEMENT = "condition"


@dataclass(frozen=True)
class Form:
    """`order` says where things stand: `es` expected then subject, `se`, `s` subject alone, or a bare condition."""

    strength: int
    order: str
    kind: str = "value"


def _forms(table: Sequence[tuple[str, Form]]) -> list[tuple[re.Pattern[str], Form]]:
    return [(re.compile(pattern), form) for pattern, form in table]


_XUNIT = _forms(
    (
        (r"assert(?:Not|_not_)?(?:Equals?|Same|_equal|_same|_eq|_ne|Eq)\b", Form(EXACT, "xx")),
        (
            r"assert(?:DictEqual|ListEqual|TupleEqual|SetEqual|SequenceEqual|MultiLineEqual|Is|ArrayEquals|IterableEquals|LinesMatch)",
            Form(EXACT, "xx"),
        ),
        (r"assertCountEqual|assertItemsEqual", Form(EXACT, "xx")),
        (
            r"assert_?(?:NotAlmostEqual|AlmostEquals?|in_delta|in_epsilon|InDelta|allclose|almost_equal)",
            Form(BOUND, "xx", "close"),
        ),
        (r"assert_?(?:True|_truthy)?|assert!|debug_assert!|assertTrue|assertThat", Form(TYPE, _STATEMENT)),
        (r"assert_?(?:False)|refute|assertFalse|assert_not", Form(TYPE, "denied")),
        (r"assert_?(?:Raises|RaisesRegex|Throws|ThrowsExactly|raises|raise)\w*", Form(BOUND, "raises", "raises")),
        (
            r"assert_?(?:In|NotIn|includes?|Greater|GreaterEqual|Less|LessEqual|Regex|NotRegex|match|operator|Contains)\w*",
            Form(BOUND, "xx"),
        ),
        (r"assert_(?:in|not_in|matches|contains|starts_with)\w*", Form(BOUND, "xx")),
        (
            r"assert_?(?:IsInstance|kind_of|instance_of|respond_to|IsNotNone|NotNull|InstanceOf|predicate|nil|IsNone|Null|empty|not_nil)\w*",
            Form(TYPE, "xx"),
        ),
        (r"assertNot(?:Equals?|Same|In)\w*|assertIsNot\w*|refute_\w+|assert_not_\w+|assert_ne!", Form(BOUND, "xx")),
        (r"assert_(?:matches|snapshot|debug_snapshot)!|assertMatchesSnapshot", Form(EXACT, "xx")),
        (r"fail|flunk", Form(TYPE, "s", "fail")),
    )
)

# node:assert and chai's assert
_NODE = _forms(
    (
        (
            r"(?:strictEqual|deepStrictEqual|equal|equals|deepEqual|same|is|deepLooseEqual|strictSame|propertyVal|lengthOf|sameMembers|sameOrderedMembers|partialDeepStrictEqual)",
            Form(EXACT, "se"),
        ),
        (r"(?:throws|rejects|throwsAsync|doesNotThrow|doesNotReject)", Form(BOUND, "raises", "raises")),
        (
            r"(?:match|doesNotMatch|include|includes|isAbove|isBelow|isAtLeast|isAtMost|closeTo|approximately|not\w+)",
            Form(BOUND, "se"),
        ),
        (r"(?:ok|isTrue|true)", Form(TYPE, _STATEMENT)),
        (r"(?:isFalse|notOk|false)", Form(TYPE, "denied")),
        (r"(?:snapshot|fileSnapshot)", Form(EXACT, "s", "snapshot")),
        (r"(?:is\w+|exists|instanceOf|typeOf|ifError)", Form(TYPE, "se")),
        (r"fail", Form(TYPE, "s", "fail")),
    )
)

_GO = _forms(
    (
        (r"(?:Equal|EqualValues|Exactly|JSONEq|YAMLEq|ElementsMatch|DeepEqual|Same)f?", Form(EXACT, "xx")),
        (r"(?:Len)f?", Form(PART, "se")),
        (r"(?:InDelta|InEpsilon|WithinDuration)\w*", Form(BOUND, "xx", "close")),
        (
            r"(?:EqualError|ErrorIs|ErrorContains|PanicsWithValue|PanicsWithError|ErrorAs)f?",
            Form(EXACT, "se", "raises"),
        ),
        (r"(?:Error|Panics)f?", Form(TYPE, "s", "raises")),
        (r"(?:NoError|NotPanics|Nil|NotNil|Empty|NotEmpty|IsType|Implements|Zero|NotZero)f?", Form(TYPE, "s")),
        (r"(?:Contains|NotContains|Subset|Greater\w*|Less\w*|Regexp|NotEqual|Positive|Negative)f?", Form(BOUND, "se")),
        (r"(?:True|Truef)", Form(TYPE, _STATEMENT)),
        (r"(?:False|Falsef)", Form(TYPE, "denied")),
    )
)

# matchers behind expect(...): jest, vitest, chai, rspec, AssertJ, Truth
MATCHERS: list[tuple[re.Pattern[str], Form]] = _forms(
    (
        (
            r"to(?:Be|Equal|StrictEqual)|equals?|eq|eql|isEqualTo|isSameAs|must_equal|containsExactly\w*|match_array|contain_exactly|hasToString|toHaveReturnedWith|toBe(?:Null|NaN|Undefined|True|False)|deep|be_nil|be_empty|isTrue|isFalse|isEmpty|isNull|isZero|true|false|null|undefined|be_true|be_false",
            Form(EXACT, "e"),
        ),
        (
            r"toHaveLength|lengthOf|have_(?:length|size|exactly)|hasSize\w*|length|toHaveBeenCalledTimes|must_be_empty",
            Form(PART, "e"),
        ),
        (
            r"toMatch(?:Inline)?Snapshot|toMatchFileSnapshot|toThrowErrorMatching\w*Snapshot|matchSnapshot|match_snapshot",
            Form(EXACT, "e", "snapshot"),
        ),
        (
            r"toThrow\w*|throws?|raise_error|raise_exception|must_raise|rejectedWith|throw_symbol|isThrownBy|hasMessage\w*",
            Form(BOUND, "e", "raises"),
        ),
        (
            r"toBeCloseTo|closeTo|approximately|be_within|isCloseTo|must_be_close_to|must_be_within\w*",
            Form(BOUND, "e", "close"),
        ),
        (
            r"toContain\w*|toMatch(?:Object)?|toBe(?:Greater|Less)\w*|include\w*|match|matches|above|below|least|most|gt|gte|lt|lte|within|start_with|end_with|contains?\w*|startsWith|endsWith|is(?:Greater|Less|Between|Positive|Negative)\w*|isIn|must_(?:include|match)|toHaveProperty|property|members|have_\w+|toHaveBeenCalledWith|toHaveBeenLastCalledWith|toSatisfy|satisfy|cover|be_between",
            Form(BOUND, "e"),
        ),
        (
            r"toBe(?:Defined|Truthy|Falsy|InstanceOf|TypeOf)|toHaveBeenCalled|ok|exist|instanceof|instanceOf|an?|be_an?(?:_\w+)?|be_truthy|be_falsey|be_kind_of|be_present|respond_to|isNotNull|isNotEmpty|isInstanceOf|isPresent|be_instance_of|must_be_(?:kind_of|instance_of|nil)|exists|not_to_be_nil|isNotBlank",
            Form(TYPE, "e"),
        ),
        (r"be", Form(EXACT, "e")),
    )
)


def form_of(name: str, family: str) -> Form | None:
    """How an assertion function is read; `family` is `xunit`, `node` or `go`."""
    table = {"xunit": _XUNIT, "node": _NODE, "go": _GO}[family]
    return next((form for pattern, form in table if pattern.fullmatch(name)), None)


def matcher_form(name: str) -> Form | None:
    return next((form for pattern, form in MATCHERS if pattern.fullmatch(name)), None)


def judged_call(name: str, form: Form, arguments: Sequence[Words]) -> Judged:
    """What one call of an assertion function asks for."""
    if not arguments:
        return Judged((name,), (), form.strength)
    if form.order == _STATEMENT:
        return judge(arguments[0])
    if form.order == "denied":
        inner = judge(arguments[0])
        return Judged(inner.subject, inner.expected, min(inner.strength, TYPE if inner.strength < BOUND else BOUND))
    if form.order in ("raises", "s") or len(arguments) < 2:
        return _alone(name, form, arguments)
    first, second = arguments[0], arguments[1]
    judged = compare(first, second, "==")
    if judged.strength == NOTHING:
        return judged
    if form.order == "se":
        judged = Judged(first, second, judged.strength, judged.tolerance)
    strength = min(form.strength, judged.strength) if form.strength < EXACT else judged.strength
    if is_length(judged.subject) and form.strength == EXACT:
        strength = PART
    return Judged(judged.subject, judged.expected, strength, _tolerance(name, form, arguments))


def _alone(name: str, form: Form, arguments: Sequence[Words]) -> Judged:
    if form.order != "raises":
        return Judged(arguments[0], tuple(word for part in arguments[1:] for word in part), form.strength)
    wanted = [part for part in arguments if _is_error(part)]
    broad = not wanted or any(
        part[-1] in ("Exception", "BaseException", "Throwable", "StandardError") for part in wanted
    )
    texts = any(part[0][0] in '"/' or part[:2] == ("match", "=") for part in arguments)
    strength = EXACT if texts else TYPE if broad else BOUND
    subject = tuple(word for part in arguments if part not in wanted for word in part) or (name,)
    return Judged(subject, tuple(word for part in wanted for word in part), strength)


def _is_error(words: Words) -> bool:
    bare = [word for word in words if word not in (".", "class", "::")]
    return bool(bare) and all(word.isidentifier() for word in bare) and bare[-1][:1].isupper()


def _tolerance(name: str, form: Form, arguments: Sequence[Words]) -> float | None:
    """The third argument of an equality of floats, or a named one; 7 places where unittest says nothing."""
    rest = [word for part in arguments[2:] for word in part]
    named = tolerance_in(tuple(rest))
    if named is not None:
        return named
    value = number(arguments[2][0]) if len(arguments) > 2 and len(arguments[2]) == 1 else None
    if name in ("assertAlmostEqual", "assertNotAlmostEqual"):
        return 10.0 ** -(value if value is not None else 7)
    if form.kind == "close" or name in ("assertEquals", "assertArrayEquals"):
        return value
    return None
