"""Guards in front of assertions, and hand-made retry loops: TI130 and a part of TI250."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from app.integrity.checks.model import Check
from app.integrity.model import Finding
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.syntax import Parsed, bare_stream, line_of, plain_words, text_of, walk, words_of
from app.integrity.units import Pair, Unit

_BRANCHES = frozenset(
    (
        "if_statement",
        "if",
        "unless",
        "if_expression",
        "if_modifier",
        "unless_modifier",
        "elif_clause",
        "conditional_expression",
        "ternary_expression",
        "switch_statement",
        "match_expression",
        "conditional",
        "match_statement",
        "expression_switch_statement",
        "case",
    )
)
_CATCHERS = frozenset(("try_statement", "begin", "rescue_modifier", "try_with_resources_statement"))
_HANDLERS = frozenset(("except_clause", "catch_clause", "rescue", "except_group_clause"))
_LOOPS = frozenset(
    (
        "for_statement",
        "for_in_statement",
        "while_statement",
        "for",
        "while",
        "until",
        "for_expression",
        "while_expression",
        "loop_expression",
        "enhanced_for_statement",
        "do_statement",
        "while_modifier",
        "until_modifier",
    )
)
_FAILS = re.compile(
    r"\b(?:fail|flunk|Fail|FailNow|Fatal|Fatalf|Error|Errorf|raise|throw|assert\w*|expect|panic|unreachable|should)\b"
)
_SUPPRESS = re.compile(r"\b(?:suppress|ignoring|catch_unwind|assertRaises|raises)\b")
_RETURNS = frozenset(("return_statement", "return", "return_expression"))
_COUNTED = re.compile(
    r"\b(?:range|times|upto|attempts?|tries|retries|retry|count|_|i|n|deadline|monotonic|Date|time)\b"
)


@dataclass(frozen=True)
class Guard:
    """What stands around an assertion or in front of it."""

    kind: str
    line: int
    text: str


def guards(case: Case) -> Iterator[Finding]:
    """TI130 for units that head has; a guard in a new unit is information and not shown."""
    for file, pair in case.pairs:
        if pair.old is None or pair.new is None or pair.old.words == pair.new.words:
            continue
        parsed = case.parsed_of(file, pair.new)
        yield from _new_guards(case, file, pair, parsed)
        yield from _retry_loops(case, file, pair, parsed)


def _new_guards(case: Case, file: FileView, pair: Pair, parsed: Parsed) -> Iterator[Finding]:
    assert pair.old is not None and pair.new is not None
    old_parsed = case.parsed_of(file, pair.old)
    before = Counter(guard.kind for guard in _all(pair.old, case.checks(pair.old, old_parsed), old_parsed))
    after = _all(pair.new, case.checks(pair.new, parsed), parsed)
    for guard in after:
        if before[guard.kind] > 0:
            before[guard.kind] -= 1
            continue
        loop = guard.kind == "loop"
        if loop and _length_is_checked(case.checks(pair.new, parsed)):
            continue
        block = case.is_named(file, pair.new) and not loop
        spot = Spot(pair.new, guard.line, after=[guard.text])
        yield case.finding("TI130", "block" if block else "review", file, spot, soft=not block)


def _length_is_checked(checks: list[Check]) -> bool:
    return any(
        word in ("len", "length", "size", "count", "Len", "lengthOf", "toHaveLength", "assertNumQueries")
        for check in checks
        for word in check.words
    )


def _all(unit: Unit, checks: list[Check], parsed: Parsed) -> list[Guard]:
    """Guards around the assertions (once each), and branches that leave the unit before an assertion."""
    found: dict[tuple[int, int], Guard] = {}
    for check in checks:
        for node, kind in _around(check.node, unit.node, parsed):
            found[node.start_byte, node.end_byte] = Guard(kind, line_of(node), text_of(node).split("\n")[0])
    last = max((check.node.start_byte for check in checks), default=0)
    for node, kind in _leaving(unit.node, last, parsed):
        found[node.start_byte, node.end_byte] = Guard(kind, line_of(node), text_of(node).split("\n")[0])
    return [found[key] for key in sorted(found)]


def _around(node: Node, top: Node, parsed: Parsed) -> Iterator[tuple[Node, str]]:
    child, above = node, node.parent
    while above is not None and child != top:
        if above.type in _BRANCHES and not _is_condition(above, child) and not _other_side_fails(above, child, parsed):
            yield above, "branch"
        elif above.type in _CATCHERS and _swallows(above, child, parsed):
            yield above, "catch"
        elif above.type == "with_statement" and _suppresses(above, parsed):
            yield above, "suppress"
        elif above.type in _LOOPS and not _literal_loop(above, parsed):
            yield above, "loop"
        elif above.type == "call_expression" and _catch_call(above, parsed):
            yield above, "catch"
        child, above = above, above.parent


def _is_condition(branch: Node, child: Node) -> bool:
    return branch.child_by_field_name("condition") == child


def _other_side_fails(branch: Node, child: Node, parsed: Parsed) -> bool:
    """The side that the assertion is not on ends in a failure, or holds an assertion too."""
    others = [node for node in branch.named_children if node != child and not _is_condition(branch, node)]
    return any(_FAILS.search(bare_stream(words_of(node, parsed.language))) for node in others)


def _swallows(attempt: Node, child: Node, parsed: Parsed) -> bool:
    handlers = [
        node
        for node in walk(attempt)
        if (node.type in _HANDLERS and node.parent == attempt) or (node.type in _HANDLERS and _near(node, attempt))
    ]
    if attempt.type == "rescue_modifier":
        return True
    if any(child == handler or _within(child, handler) for handler in handlers):
        return False
    return bool(handlers) and any(
        not _FAILS.search(bare_stream(words_of(_body(handler), parsed.language))) for handler in handlers
    )


def _body(handler: Node) -> Node:
    return handler.child_by_field_name("body") or (handler.named_children[-1] if handler.named_children else handler)


def _near(node: Node, attempt: Node) -> bool:
    above = node.parent
    while above is not None and above.type not in _CATCHERS:
        above = above.parent
    return above == attempt


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _suppresses(block: Node, parsed: Parsed) -> bool:
    head = next((child for child in block.children if child.type == "with_clause"), None)
    return head is not None and "suppress" in text_of(head)


def _literal_loop(loop: Node, parsed: Parsed) -> bool:
    """A loop over a literal list that is not empty, or over rows of a table, runs at least once."""
    right = loop.child_by_field_name("right") or loop.child_by_field_name("value")
    if right is None:
        clause = next((child for child in loop.named_children if child.type == "range_clause"), None)
        right = clause.child_by_field_name("right") if clause is not None else None
    if right is None:
        return False
    if right.type in ("list", "tuple", "array", "array_expression", "composite_literal", "set", "range"):
        return right.named_child_count > 0
    if right.type in ("identifier", "call"):
        return right.type == "identifier" or text_of(right).startswith(("range(", "enumerate([", "enumerate(("))
    return False


def _catch_call(call: Node, parsed: Parsed) -> bool:
    """`promise.catch(() => {})` around an assertion."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "member_expression":
        return False
    name = function.child_by_field_name("property")
    if name is None or text_of(name) != "catch":
        return False
    box = call.child_by_field_name("arguments")
    return box is not None and not _FAILS.search(bare_stream(words_of(box, parsed.language)))


def _leaving(top: Node, last: int, parsed: Parsed) -> Iterator[tuple[Node, str]]:
    """Branches with a return that stand before the last assertion, and returns of the unit itself."""
    for node in walk(top):
        if node.type not in _RETURNS or node.start_byte > last:
            continue
        above = node.parent
        inner = False
        while above is not None and above != top:
            if above.type in parsed.language.functions and above.parent is not None and above.parent != top:
                inner = above.parent.type != "arguments" or above.parent.parent != top
                if inner:
                    break
            if above.type in _BRANCHES and not _FAILS.search(bare_stream(words_of(above, parsed.language))):
                yield above, "return"
                break
            above = above.parent
        if not inner and above == top:
            yield node, "return"


def _retry_loops(case: Case, file: FileView, pair: Pair, parsed: Parsed) -> Iterator[Finding]:
    """TI250: a new counted loop that breaks or returns once the condition holds."""
    assert pair.old is not None and pair.new is not None
    old = [plain_words(node, parsed.language) for node in _loops(pair.old)]
    for loop in _loops(pair.new):
        if plain_words(loop, parsed.language) in old:
            continue
        text = bare_stream(words_of(loop, parsed.language))
        leaves = re.search(r"\b(?:break|return)\b", text)
        tries = re.search(r"\b(?:try|rescue|except|catch|recover)\b", text) or re.search(r"\bif\b|\bunless\b|&&", text)
        if leaves and tries and _COUNTED.search(text):
            spot = Spot(pair.new, line_of(loop), after=[text_of(loop).split("\n")[0]])
            yield case.finding("TI250", "block", file, spot)


def _loops(unit: Unit) -> list[Node]:
    return [node for node in walk(unit.node) if node.type in _LOOPS and node.is_named]
