"""The rows of a parametrised, table or `each` test."""

from tree_sitter import Node

from app.integrity.syntax import Parsed, Words, line_of, plain_words, walk
from app.integrity.units import Unit

_LISTS = frozenset(("list", "array", "tuple", "literal_value", "array_expression", "array_initializer", "set"))


def row_nodes(unit: Unit, parsed: Parsed) -> list[Node]:
    """Entries of the longest literal list that stands in the unit's marks, in its call or in its body."""
    best: list[Node] = []
    roots = list(unit.marks) or [unit.node]
    for root in (*roots, unit.node):
        for node in walk(root):
            if node.type not in _LISTS:
                continue
            entries = [child for child in node.named_children if child.type not in parsed.language.comments]
            compound = [child for child in entries if _is_row(child)]
            if len(compound) == len(entries) and len(entries) > len(best) and len(entries) > 1:
                best = entries
    return best


def _is_row(node: Node) -> bool:
    """A row holds several values: a tuple, a list, an object, a call with values, an element of a composite literal."""
    if node.type in (
        "tuple",
        "list",
        "array",
        "object",
        "literal_value",
        "tuple_expression",
        "array_initializer",
        "dictionary",
        "hash",
    ):
        return True
    if node.type in ("literal_element", "keyed_element", "call", "composite_literal"):
        return any(child.named_child_count for child in node.named_children)
    return False


def rows_of(unit: Unit, parsed: Parsed) -> list[Words]:
    """The rows as words."""
    return [plain_words(node, parsed.language) for node in row_nodes(unit, parsed)]


def lines_of_rows(unit: Unit, parsed: Parsed) -> list[int]:
    return [line_of(node) for node in row_nodes(unit, parsed)]
