"""The assertions of a node, for each language; only the outermost of nested ones (proof.md, 8.3)."""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from app.integrity.checks.calls import form_of, judged_call, matcher_form
from app.integrity.checks.model import BOUND, EXACT, RUNS, TYPE, Check, Judged, judge
from app.integrity.languages import Language, is_javascript
from app.integrity.syntax import Words, arguments_of, line_of, plain_words, split, text_of

_Read = Callable[[Node, Language], "Check | None"]
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
_GO_FAIL = re.compile(r"\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)")
_GO_TESTIFY = re.compile(r"(?:assert|require|is|a|r|c|s|suite|must)\.")


def checks_of(node: Node, language: Language) -> list[Check]:
    """The assertions below `node`, in the order of the text."""
    read = _READERS["javascript" if is_javascript(language) else language.name]
    found: list[Check] = []
    stack = [node]
    while stack:
        here = stack.pop()
        check = read(here, language)
        if check is not None:
            found.append(check)
            continue
        stack.extend(reversed(here.children))
    return sorted(found, key=lambda one: one.node.start_byte)


def _check(node: Node, language: Language, judged: Judged, kind: str = "value") -> Check:
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


def _arguments(node: Node, language: Language) -> list[Words]:
    return [plain_words(one, language) for one in arguments_of(node)]


def _python(node: Node, language: Language) -> Check | None:
    if node.type == "assert_statement":
        condition = next((child for child in node.named_children if child.type != "comment"), None)
        return _check(node, language, judge(plain_words(condition, language))) if condition is not None else None
    if node.type == "with_item":
        call = node.child_by_field_name("value")
        name = _last_name(call) if call is not None and call.type == "call" else ""
        if call is None or not re.fullmatch(r"raises|warns|assertRaises\w*|assertWarns\w*|assertLogs", name):
            return None
        judged = _raised(_arguments(call, language))
        block = node.parent.parent if node.parent is not None else None
        body = block.child_by_field_name("body") if block is not None else None
        subject = plain_words(body, language) if body is not None else ()
        return _check(node, language, Judged(subject, judged.expected, judged.strength), "raises")
    if node.type == "call" and re.fullmatch(r"assert\w*|fail", name := _last_name(node)):
        return _named_call(node, language, name, "xunit")
    return None


def _raised(arguments: list[Words]) -> Judged:
    wanted = arguments[0] if arguments else ()
    text = any(part[:2] == ("match", "=") for part in arguments[1:]) or (
        len(arguments) > 1 and arguments[1][0][0] == '"'
    )
    broad = not wanted or wanted[-1] in ("Exception", "BaseException")
    return Judged((), wanted, EXACT if text else TYPE if broad else BOUND)


def _named_call(node: Node, language: Language, name: str, family: str) -> Check | None:
    form = form_of(name, family)
    arguments = _arguments(node, language)
    if form is None:
        # A helper named like an assertion: it asks for something that is not seen here.
        return _check(node, language, Judged(tuple(w for a in arguments for w in a), (), TYPE, followed=False), "call")
    return _check(node, language, judged_call(name, form, arguments), form.kind)


def _last_name(call: Node) -> str:
    function = call.child_by_field_name("function")
    return re.split(r"[.\s]+", text_of(function))[-1] if function is not None else ""


def _javascript(node: Node, language: Language) -> Check | None:
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
        return _named_call(node, language, name, "node") if form_of(name, "node") else None
    return _matched(node, node, language) if function.type == "member_expression" else None


def _matched(node: Node, call: Node | None, language: Language) -> Check | None:
    """A chain behind `expect(subject)`: the strongest matcher counts, `not` makes it a bound."""
    names: list[str] = []
    wanted = _arguments(call, language) if call is not None else []
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
    arguments = _arguments(root[0], language)
    subject = tuple(word for part in arguments for word in part)
    if form is None:
        return _check(node, language, Judged(subject, (), TYPE, followed=False), "call")
    judged = _by_matcher(subject, form.strength, wanted, (form.kind, matchers[0] if matchers else "be"))
    negated = "not" in names or "not_to" in names or "to_not" in names
    if negated and judged.strength > TYPE:
        judged = Judged(judged.subject, judged.expected, BOUND, judged.tolerance)
    return _check(node, language, judged, form.kind)


def _by_matcher(subject: Words, strength: int, wanted: list[Words], kind: tuple[str, str]) -> Judged:
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
        from app.integrity.syntax import number

        value = number(wanted[1][0]) if len(wanted) > 1 and len(wanted[1]) == 1 else None
        digits = kind[1] == "toBeCloseTo"
        tolerance = (10.0 ** -(value if value is not None else 2)) / 2 if digits else value
    length = subject[-1:] in (("length",), ("size",)) or subject[-3:-2] in (("length",), ("size",), ("len",))
    return Judged(subject, expected, min(strength, 4) if length and strength == EXACT else strength, tolerance)


def _go(node: Node, language: Language) -> Check | None:
    if node.type == "if_statement" and (block := node.child_by_field_name("consequence")) is not None:
        fails = next((one for one in _calls(block) if _GO_FAIL.fullmatch(_function(one))), None)
        condition = node.child_by_field_name("condition")
        nested = any(child.type in ("if_statement", "for_statement") for child in _statements(block))
        if fails is None or condition is None or nested:
            return None
        return _check(node, language, _failing_when(plain_words(condition, language)), "value")
    if node.type != "call_expression":
        return None
    name = _function(node)
    if _GO_TESTIFY.match(name):
        arguments = _arguments(node, language)
        arguments = arguments[1:] if arguments and arguments[0] in (("t",), ("tb",), ("b",)) else arguments
        form = form_of(name.split(".")[-1], "go")
        return _check(node, language, judged_call(name, form, arguments), form.kind) if form is not None else None
    if _GO_FAIL.fullmatch(name) and not _below_condition(node):
        return _check(node, language, Judged((name,), (), TYPE), "fail")
    return None


def _failing_when(words: Words) -> Judged:
    """`if got != want { t.Error }`: what the test wants is the opposite of the condition."""
    for sign in ("||",):
        parts = split(words, sign)
        if len(parts) > 1:
            judged = [_failing_when(part) for part in parts]
            best = max(judged, key=lambda one: one.strength)
            bounds = [one for one in judged if one.strength == BOUND]
            return bounds[0] if len(bounds) == len(judged) else best
    parts = split(words, "&&")
    if len(parts) > 1:
        judged = [_failing_when(part) for part in parts]
        weakest = min(judged, key=lambda one: one.strength)
        return Judged(weakest.subject, weakest.expected, min(BOUND, weakest.strength))
    if words[:1] == ("!",):
        return judge(words[1:])
    parts = split(words, "!=")
    if len(parts) == 2:
        if parts[1] == ("nil",):
            return Judged(parts[0], parts[1], TYPE)
        from app.integrity.checks.model import compare

        return compare(parts[0], parts[1], "==")
    inner = judge(words)
    return Judged(inner.subject, inner.expected, TYPE if inner.expected == ("nil",) else min(inner.strength, BOUND))


def _calls(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        here = stack.pop()
        if here.type == "call_expression":
            yield here
        stack.extend(reversed(here.children))


def _function(call: Node) -> str:
    found = call.child_by_field_name("function")
    return re.sub(r"\s+", "", text_of(found)) if found is not None else ""


def _statements(block: Node) -> list[Node]:
    return [
        one
        for child in block.named_children
        for one in (child.named_children if child.type == "statement_list" else [child])
    ]


def _below_condition(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type not in ("function_declaration", "func_literal"):
        if above.type == "if_statement":
            return True
        above = above.parent
    return False


def _rust(node: Node, language: Language) -> Check | None:
    if node.type != "macro_invocation":
        return None
    name = re.sub(r"\s+", "", text_of(found)) if (found := node.child_by_field_name("macro")) is not None else ""
    name = name.split("::")[-1]
    if not re.fullmatch(r"(?:debug_)?assert\w*", name):
        return None
    words = plain_words(node, language)
    start = next((n for n, word in enumerate(words) if word in ("(", "[", "{")), len(words))
    arguments = split(words[start + 1 : -1])
    form = form_of(f"{name.removeprefix('debug_')}!", "xunit") or form_of(name.removeprefix("debug_"), "xunit")
    if form is None:
        return _check(node, language, Judged(words, (), TYPE, followed=False), "call")
    if arguments and arguments[0][:2] == ("matches", "!"):
        inside = split(arguments[0][3:-1])
        exact = len(inside) == 2 and not any(word in ("_", "..") for word in inside[1])
        return _check(node, language, Judged(inside[0], tuple(inside[-1]), EXACT if exact else TYPE))
    return _check(node, language, judged_call(name, form, arguments), form.kind)


def _java(node: Node, language: Language) -> Check | None:
    if node.type != "method_invocation":
        return None
    name = text_of(found) if (found := node.child_by_field_name("name")) is not None else ""
    owner = node.child_by_field_name("object")
    chain = owner
    while chain is not None and chain.type == "method_invocation":
        inner = text_of(one) if (one := chain.child_by_field_name("name")) is not None else ""
        if inner in ("assertThat", "expectThat", "assertWithMessage", "assertThatThrownBy"):
            subject = tuple(word for part in _arguments(chain, language) for word in part)
            form = matcher_form(name)
            if form is None:
                return _check(node, language, Judged(subject, (), TYPE, followed=False), "call")
            return _check(
                node,
                language,
                _by_matcher(subject, form.strength, _arguments(node, language), (form.kind, name)),
                form.kind,
            )
        chain = chain.child_by_field_name("object")
    if name == "assertThat" and len(arguments := _arguments(node, language)) == 2:
        exact = arguments[1][:1] in (("is",), ("equalTo",)) and not any(
            w.startswith(("any", "not")) for w in arguments[1]
        )
        return _check(node, language, Judged(arguments[0], arguments[1], EXACT if exact else BOUND))
    if re.fullmatch(r"(?:assert|fail)\w*", name) and name != "assertThat" and not name.startswith("assum"):
        return _named_call(node, language, name, "xunit")
    return None


def _ruby(node: Node, language: Language) -> Check | None:
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
        judged = _by_matcher(
            subject, form.strength if form else TYPE, _arguments(node, language), (form.kind if form else "value", name)
        )
        return _check(node, language, judged, form.kind if form else "value")
    if receiver is None and re.fullmatch(r"(?:assert|refute)\w*|flunk", name):
        check = _named_call(node, language, name, "xunit")
        block = node.child_by_field_name("block")
        if check is not None and check.kind == "raises" and block is not None:
            judged = Judged(plain_words(block, language), check.expected, check.strength)
            return _check(node, language, judged, "raises")
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
        else tuple(w for a in _arguments(receiver, language) for w in a)
    )
    wanted = _arguments(call, language) if call.type == "call" else []
    form = matcher_form(word)
    if form is None:
        strength, kind = (TYPE if word.startswith("be_") else RUNS + 1), "value"
    else:
        strength, kind = form.strength, form.kind
    if word == "be" and not wanted:
        strength = BOUND if len(plain_words(matcher, language)) > 1 else TYPE
    judged = _by_matcher(subject, strength, wanted, (kind, word))
    if name != "to" and judged.strength > TYPE:
        judged = Judged(
            judged.subject, judged.expected, TYPE if word in ("be_nil", "be_empty", "raise_error") else BOUND
        )
    return _check(node, language, judged, kind)


_READERS: dict[str, _Read] = {
    "python": _python,
    "javascript": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "ruby": _ruby,
}
