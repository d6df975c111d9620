"""The assertions of a node, for each language; only the outermost of nested ones (proof.md, 8.3)."""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from app.integrity.checks.calls import form_of, judged_call
from app.integrity.checks.matchers import java, javascript, ruby
from app.integrity.checks.model import BOUND, EXACT, TYPE, Check, Judged, compare, judge
from app.integrity.checks.read import argument_words, check_at, named_call
from app.integrity.languages import Language, is_javascript
from app.integrity.syntax import Words, plain_words, split, text_of

_Read = Callable[[Node, Language], "Check | None"]

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


def _python(node: Node, language: Language) -> Check | None:
    if node.type == "assert_statement":
        condition = next((child for child in node.named_children if child.type != "comment"), None)
        return check_at(node, language, judge(plain_words(condition, language))) if condition is not None else None
    if node.type == "with_item":
        call = node.child_by_field_name("value")
        name = _last_name(call) if call is not None and call.type == "call" else ""
        if call is None or not re.fullmatch(r"raises|warns|assertRaises\w*|assertWarns\w*|assertLogs", name):
            return None
        judged = _raised(argument_words(call, language))
        block = node.parent.parent if node.parent is not None else None
        body = block.child_by_field_name("body") if block is not None else None
        subject = plain_words(body, language) if body is not None else ()
        return check_at(node, language, Judged(subject, judged.expected, judged.strength), "raises")
    if node.type == "call" and re.fullmatch(r"assert\w*|fail", name := _last_name(node)):
        return named_call(node, language, name, "xunit")
    return None


def _raised(arguments: list[Words]) -> Judged:
    wanted = arguments[0] if arguments else ()
    text = any(part[:2] == ("match", "=") for part in arguments[1:]) or (
        len(arguments) > 1 and arguments[1][0][0] == '"'
    )
    broad = not wanted or wanted[-1] in ("Exception", "BaseException")
    return Judged((), wanted, EXACT if text else TYPE if broad else BOUND)


def _last_name(call: Node) -> str:
    function = call.child_by_field_name("function")
    return re.split(r"[.\s]+", text_of(function))[-1] if function is not None else ""


def _go(node: Node, language: Language) -> Check | None:
    if node.type == "if_statement" and (block := node.child_by_field_name("consequence")) is not None:
        fails = next((one for one in _calls(block) if _GO_FAIL.fullmatch(_function(one))), None)
        condition = node.child_by_field_name("condition")
        nested = any(child.type in ("if_statement", "for_statement") for child in _statements(block))
        if fails is None or condition is None or nested:
            return None
        return check_at(
            node, language, _with_initialiser(node, language, _failing_when(plain_words(condition, language)))
        )
    if node.type != "call_expression":
        return None
    name = _function(node)
    if _GO_TESTIFY.match(name):
        arguments = argument_words(node, language)
        arguments = arguments[1:] if arguments and arguments[0] in (("t",), ("tb",), ("b",)) else arguments
        form = form_of(name.split(".")[-1], "go")
        return check_at(node, language, judged_call(name, form, arguments), form.kind) if form is not None else None
    if _GO_FAIL.fullmatch(name) and not _below_condition(node):
        return check_at(node, language, Judged((name,), (), TYPE), "fail")
    return None


def _with_initialiser(node: Node, language: Language, judged: Judged) -> Judged:
    """`if got := f(1); got != 2` asks about `f(1)`; `if diff := cmp.Diff(a, b); diff != ""` compares a and b."""
    first = node.child_by_field_name("initializer")
    words = plain_words(first, language) if first is not None else ()
    if ":=" not in words or len(judged.subject) != 1 or words[: words.index(":=")] != judged.subject:
        return judged
    value = words[words.index(":=") + 1 :]
    inside = split(value[value.index("(") + 1 : -1]) if "(" in value else []
    if "Diff" in value and len(inside) >= 2 and judged.expected == ('"',):
        return compare(inside[0], inside[1], "==")
    return Judged(value, judged.expected, judged.strength, judged.tolerance)


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
        return check_at(node, language, Judged(words, (), TYPE, followed=False), "call")
    if arguments and arguments[0][:2] == ("matches", "!"):
        inside = split(arguments[0][3:-1])
        exact = len(inside) == 2 and not any(word in ("_", "..") for word in inside[1])
        return check_at(node, language, Judged(inside[0], tuple(inside[-1]), EXACT if exact else TYPE))
    return check_at(node, language, judged_call(name, form, arguments), form.kind)


_READERS: dict[str, _Read] = {
    "python": _python,
    "javascript": javascript,
    "go": _go,
    "rust": _rust,
    "java": java,
    "ruby": ruby,
}
