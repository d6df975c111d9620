"""Values of the failing test as special cases in product code: TI410."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.rules.rows import row_nodes
from app.integrity.syntax import QUOTE, Parsed, line_of, number, parse, text_of, walk, words_of
from app.integrity.units import is_named, units_of

_TRIVIAL = frozenset(("0", "1", "-1", "true", "false", '"', "0.0", "1.0"))
_PLACES = frozenset(
    (
        *(
            "pair",
            "keyed_element",
            "dictionary",
            "match_arm",
            "switch_case",
            "case_clause",
            "when",
            "expression_case",
            "switch_block_statement_group",
        ),
        *(
            "if_statement",
            "if",
            "if_expression",
            "if_modifier",
            "unless",
            "elif_clause",
            "elsif",
            "conditional_expression",
            "ternary_expression",
            "conditional",
        ),
        *(
            "return_statement",
            "return",
            "return_expression",
            "expression_statement",
            "assignment",
            "variable_declarator",
            "short_var_declaration",
        ),
        *(
            "let_declaration",
            "local_variable_declaration",
            "hash",
            "object",
            "call",
            "call_expression",
            "method_invocation",
            "field_declaration",
        ),
    )
)
_SINGLE_PLACES = frozenset(
    (
        "comparison_operator",
        "binary_expression",
        "binary",
        "pair",
        "keyed_element",
        "match_arm",
        "switch_case",
        "when",
        "expression_case",
        "return_statement",
        "return",
        "case_clause",
    )
)


@dataclass(frozen=True)
class Group:
    """Values of one assertion or one row of a named test."""

    values: frozenset[str]


def hard_coded(case: Case) -> Iterator[Finding]:
    """Pairs of one assertion or row first, then single values, once for each file."""
    groups = list(_test_groups(case))
    every = frozenset(value for group in groups for value in group.values)
    sources = [file for file in case.of("source") if file.new is not None]
    wanted = {value for file in sources if file.new for value in _values(file.new.root, file.new)} & every
    known = _known_values(case, wanted) if wanted else frozenset()
    for file in sources:
        if file.new is None:
            continue
        fresh = set(_values(file.new.root, file.new)) & wanted - known
        found = next(_pairs(file, groups, fresh), None)
        if found is not None:
            severity: Severity = "block" if case.word("base") == "pass" else "review"
            yield case.finding("TI410", severity, file, Spot(None, line_of(found), after=text_of(found).split("\n")))
            continue
        single = next(_singles(file, fresh), None)
        if single is not None:
            yield case.finding(
                "TI410",
                _single_severity(case, file, single),
                file,
                Spot(None, line_of(single), after=text_of(single).split("\n")),
            )


def _test_groups(case: Case) -> Iterator[Group]:
    """Values of the named units as head has them, by assertion and by row."""
    lasts = [re.split(r"::| > |#|/", test.split("[")[0])[-1] for test in case.delta.named]
    names = {word.encode() for last in lasts for word in re.findall(r"\w+", last)}
    for path in case.delta.head:
        if case.head_class(path) not in ("test", "harness") and not path.endswith(".rs"):
            continue
        blob = case.delta.head[path]
        parsed = parse(path, blob.data) if any(name in blob.data for name in names) else None
        if parsed is None:
            continue
        for unit in units_of(parsed):
            if not is_named(unit, path, case.delta.named):
                continue
            rows = row_nodes(unit, parsed)
            for node in (*[check.node for check in case.checks(unit, parsed)], *rows):
                values = frozenset(_values(node, parsed))
                if values:
                    yield Group(values)
            values = frozenset(_values(unit.node, parsed))
            if values and not rows and len(values) <= 6:
                yield Group(values)


def _values(node: Node, parsed: Parsed) -> list[str]:
    """Literals by value, quotes and number bases apart; trivial ones are left out."""
    found = []
    for word in words_of(node, parsed.language):
        if word.text[0] == QUOTE:
            value = word.text
        elif (n := number(word.text)) is not None:
            value = f"{n:g}" if n != int(n) or abs(n) > 1e15 else str(int(n))
        else:
            continue
        if value not in _TRIVIAL:
            found.append(value)
    return found


def _known_values(case: Case, wanted: set[str]) -> frozenset[str]:
    """Those of the wanted values that source code or data files hold at head or base; documentation does not count."""
    found: set[str] = set()
    texts = [value.lstrip(QUOTE).encode() for value in wanted]
    for tree in (case.delta.head, case.delta.base):
        for path in tree:
            if case.head_class(path) != "source":
                continue
            blob = tree[path]
            parsed = parse(path, blob.data) if any(text in blob.data for text in texts) else None
            if parsed is not None:
                found.update(_values_without_docs(parsed))
    return frozenset(found)


def _values_without_docs(parsed: Parsed) -> list[str]:
    docstrings = [
        node
        for node in walk(parsed.root)
        if node.type == "expression_statement"
        and node.named_child_count == 1
        and node.named_children[0].type == "string"
    ]
    hidden = {word for node in docstrings for word in _values(node, parsed)}
    return [value for value in _values(parsed.root, parsed) if value not in hidden]


def _pairs(file: FileView, groups: list[Group], fresh: set[str]) -> Iterator[Node]:
    """The smallest place that holds two values of one assertion or row, at least one of them two signs long."""
    assert file.new is not None
    best: list[tuple[int, Node]] = []
    for node in walk(file.new.root):
        if node.type not in _PLACES or node.end_byte - node.start_byte > 2000:
            continue
        here = set(_values(node, file.new)) & fresh
        if len(here) < 2 or all(len(value.lstrip(QUOTE)) < 2 for value in here):
            continue
        if any(len(here & group.values) >= 2 for group in groups):
            best.append((node.end_byte - node.start_byte, node))
    if best:
        yield min(best, key=lambda one: one[0])[1]


def _singles(file: FileView, fresh: set[str]) -> Iterator[Node]:
    assert file.new is not None
    for node in walk(file.new.root):
        if node.type in _SINGLE_PLACES and node.end_byte - node.start_byte < 400:
            here = set(_values(node, file.new)) & fresh
            if any(len(value.lstrip(QUOTE)) >= 3 for value in here):
                yield node


def _single_severity(case: Case, file: FileView, node: Node) -> Severity:
    if case.word("base") == "pass":
        return "review"
    if not node.type.startswith("return"):
        return "info"
    above = node.parent
    while above is not None and file.new is not None and above.type not in file.new.language.functions:
        above = above.parent
    if above is None:
        return "info"
    body, parameters = above.child_by_field_name("body"), above.child_by_field_name("parameters")
    only = body is not None and body.named_child_count == 1
    return "review" if only and parameters is not None and parameters.named_child_count > 0 else "info"
