"""What the readers of all languages share: a node as a check, calls by name, matchers behind a subject."""

from tree_sitter import Node

from app.integrity.checks.calls import form_of, judged_call
from app.integrity.checks.model import BOUND, EXACT, TYPE, Check, Judged, judge
from app.integrity.languages import Language
from app.integrity.syntax import Words, arguments_of, line_of, number, plain_words


def check_at(node: Node, language: Language, judged: Judged, kind: str = "value") -> Check:
    return Check(
        kind=kind,
        subject=judged.subject,
        expected=judged.expected,
        strength=judged.strength,
        line=line_of(node),
        words=plain_words(node, language),
        node=node,
        tolerance=judged.tolerance,
        followed=judged.followed,
        same=judged.same,
    )


def argument_words(node: Node, language: Language) -> list[Words]:
    return [plain_words(one, language) for one in arguments_of(node)]


def named_call(node: Node, language: Language, name: str, family: str) -> Check | None:
    form = form_of(name, family)
    arguments = argument_words(node, language)
    if form is None:
        # A helper named like an assertion: it asks for something that is not seen here.
        return check_at(
            node, language, Judged(tuple(w for a in arguments for w in a), (), TYPE, followed=False), "call"
        )
    return check_at(node, language, judged_call(name, form, arguments), form.kind)


def by_matcher(subject: Words, strength: int, wanted: list[Words], kind: tuple[str, str]) -> Judged:
    expected = tuple(word for part in wanted for word in part)
    if strength == EXACT and subject and expected == subject:
        return Judged(subject, expected, 0, same=True)
    if any(word in ("any", "anything", "a_kind_of", "anything") for word in expected) and strength == EXACT:
        return Judged(subject, expected, TYPE)
    if any(
        word in ("objectContaining", "stringContaining", "arrayContaining", "stringMatching", "closeTo")
        for word in expected
    ):
        return Judged(subject, expected, min(strength, BOUND))
    if kind[0] == "raises":
        return Judged(
            subject, expected, EXACT if any(word[0] in '"/' for word in expected) else BOUND if expected else TYPE
        )
    inner = judge(subject)
    if inner.strength in (EXACT, BOUND) and expected[:1] in ((), ("true",), ("True",)) and kind[0] == "value":
        return Judged(inner.subject, inner.expected, min(inner.strength, strength))
    if subject and subject[0] in ("typeof", "type") and strength == EXACT:
        return Judged(subject, expected, TYPE)
    tolerance = None
    if kind[0] == "close":
        value = number(wanted[1][0]) if len(wanted) > 1 and len(wanted[1]) == 1 else None
        digits = kind[1] == "toBeCloseTo"
        tolerance = (10.0 ** -(value if value is not None else 2)) / 2 if digits else value
    length = subject[-1:] in (("length",), ("size",)) or subject[-3:-2] in (("length",), ("size",), ("len",))
    return Judged(subject, expected, min(strength, 4) if length and strength == EXACT else strength, tolerance)
