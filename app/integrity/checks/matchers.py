"""Assertions by a chain of matchers behind a subject: JavaScript, Java, Ruby."""

import re

from tree_sitter import Node

from app.integrity.checks.calls import form_of, matcher_form
from app.integrity.checks.model import BOUND, EXACT, RUNS, TYPE, Check, Judged
from app.integrity.checks.read import argument_words, by_matcher, check_at, named_call
from app.integrity.languages import Language
from app.integrity.syntax import Words, arguments_of, plain_words, text_of

_EXPECT = re.compile(r"(?:[\w.]+\.)?(?:expect|expectTypeOf|assertThat|is_expected|_|value)")
_CHAIN = frozenset(
    (
        "to",
        "be",
        "been",
        "not",
        "resolves",
        "rejects",
        "and",
        "that",
        "is",
        "have",
        "has",
        "with",
        "at",
        "of",
        "same",
        "deep",
        "eventually",
        "strictly",
        "not_to",
        "to_not",
        "each",
        "soft",
    )
)


def javascript(node: Node, language: Language) -> Check | None:
    if node.type == "member_expression" and (node.parent is None or node.parent.type == "expression_statement"):
        return _matched(node, None, language)
    if node.type != "call_expression":
        return None
    function = node.child_by_field_name("function")
    if function is None:
        return None
    whole = re.sub(r"\s+", "", text_of(function))
    plain = re.fullmatch(r"(?:\w+\.)?assert(?:\.strict)?(?:\.(\w+))?|(?:t|test|ctx)\.(\w+)", whole)
    if plain is not None and (whole.split(".")[0] in ("assert", "t", "test", "ctx") or ".assert" in whole):
        name = plain[1] or plain[2] or "ok"
        return named_call(node, language, name, "node") if form_of(name, "node") else None
    return _matched(node, node, language) if function.type == "member_expression" else None


def _matched(node: Node, call: Node | None, language: Language) -> Check | None:
    """A chain behind `expect(subject)`: the strongest matcher counts, `not` makes it a bound."""
    names: list[str] = []
    wanted = argument_words(call, language) if call is not None else []
    here: Node | None = node
    while here is not None:
        if here.type == "call_expression":
            function = here.child_by_field_name("function")
            if function is not None and function.type == "identifier":
                return (
                    _expected(node, language, (here, function), (names, wanted))
                    if _EXPECT.fullmatch(text_of(function))
                    else None
                )
            here = function
        elif here.type == "member_expression":
            names.append(text_of(found) if (found := here.child_by_field_name("property")) is not None else "")
            here = here.child_by_field_name("object")
            if here is not None and here.type == "identifier" and text_of(here) == "expect":
                return None
        else:
            return None
    return None


def _expected(
    node: Node, language: Language, root: tuple[Node, Node], said: tuple[list[str], list[Words]]
) -> Check | None:
    names, wanted = said
    matchers = [name for name in names if name not in _CHAIN]
    form = matcher_form(matchers[0]) if matchers else (matcher_form("be") if names and not matchers else None)
    if not names:
        return None
    arguments = argument_words(root[0], language)
    subject = tuple(word for part in arguments for word in part)
    if form is None:
        return check_at(node, language, Judged(subject, (), TYPE, followed=False), "call")
    judged = by_matcher(subject, form.strength, wanted, (form.kind, matchers[0] if matchers else "be"))
    negated = "not" in names or "not_to" in names or "to_not" in names
    if negated and judged.strength > TYPE:
        judged = Judged(judged.subject, judged.expected, BOUND, judged.tolerance)
    return check_at(node, language, judged, form.kind)


def java(node: Node, language: Language) -> Check | None:
    if node.type != "method_invocation":
        return None
    name = text_of(found) if (found := node.child_by_field_name("name")) is not None else ""
    owner = node.child_by_field_name("object")
    chain = owner
    while chain is not None and chain.type == "method_invocation":
        inner = text_of(one) if (one := chain.child_by_field_name("name")) is not None else ""
        if inner in ("assertThat", "expectThat", "assertWithMessage", "assertThatThrownBy"):
            subject = tuple(word for part in argument_words(chain, language) for word in part)
            form = matcher_form(name)
            if form is None:
                return check_at(node, language, Judged(subject, (), TYPE, followed=False), "call")
            return check_at(
                node,
                language,
                by_matcher(subject, form.strength, argument_words(node, language), (form.kind, name)),
                form.kind,
            )
        chain = chain.child_by_field_name("object")
    if name == "assertThat" and len(arguments := argument_words(node, language)) == 2:
        exact = arguments[1][:1] in (("is",), ("equalTo",)) and not any(
            w.startswith(("any", "not")) for w in arguments[1]
        )
        return check_at(node, language, Judged(arguments[0], arguments[1], EXACT if exact else BOUND))
    if re.fullmatch(r"(?:assert|fail)\w*", name) and name != "assertThat" and not name.startswith("assum"):
        return named_call(node, language, name, "xunit")
    return None


def ruby(node: Node, language: Language) -> Check | None:
    if node.type != "call":
        return None
    method = node.child_by_field_name("method")
    name = text_of(method) if method is not None else ""
    receiver = node.child_by_field_name("receiver")
    if name in ("to", "not_to", "to_not") and receiver is not None:
        return _rspec(node, receiver, name, language)
    if name.startswith(("must_", "wont_")) and receiver is not None:
        form = matcher_form(name)
        subject = plain_words(receiver, language)
        judged = by_matcher(
            subject,
            form.strength if form else TYPE,
            argument_words(node, language),
            (form.kind if form else "value", name),
        )
        return check_at(node, language, judged, form.kind if form else "value")
    if receiver is None and re.fullmatch(r"(?:assert|refute)\w*|flunk", name):
        check = named_call(node, language, name, "xunit")
        block = node.child_by_field_name("block")
        if check is not None and check.kind == "raises" and block is not None:
            judged = Judged(plain_words(block, language), check.expected, check.strength)
            return check_at(node, language, judged, "raises")
        return check
    return None


def _rspec(node: Node, receiver: Node, name: str, language: Language) -> Check | None:
    root = receiver.child_by_field_name("method") if receiver.type == "call" else receiver
    if root is None or text_of(root) not in ("expect", "is_expected"):
        return None
    matcher = next(iter(arguments_of(node)), None)
    if matcher is None:
        return None
    call = matcher
    while (
        call.type == "call"
        and (inner := call.child_by_field_name("receiver")) is not None
        and inner.type in ("call", "identifier")
    ):
        call = inner
    found = call.child_by_field_name("method") if call.type == "call" else call
    word = text_of(found) if found is not None else ""
    block = receiver.child_by_field_name("block") if receiver.type == "call" else None
    subject = (
        plain_words(block, language)
        if block is not None
        else tuple(w for a in argument_words(receiver, language) for w in a)
    )
    wanted = argument_words(call, language) if call.type == "call" else []
    form = matcher_form(word)
    if form is None:
        strength, kind = (TYPE if word.startswith("be_") else RUNS + 1), "value"
    else:
        strength, kind = form.strength, form.kind
    if word == "be" and not wanted:
        strength = BOUND if len(plain_words(matcher, language)) > 1 else TYPE
    judged = by_matcher(subject, strength, wanted, (kind, word))
    if name != "to" and judged.strength > TYPE:
        judged = Judged(
            judged.subject, judged.expected, TYPE if word in ("be_nil", "be_empty", "raise_error") else BOUND
        )
    return check_at(node, language, judged, kind)
