"""Changed copies of source lines that the fix or the pull request touched: a hint, never a verdict (proof.md, 10)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from app.integrity.model import Delta, Finding
from app.integrity.rules.case import Case, lines_of
from app.integrity.sentences import SENTENCES
from app.integrity.syntax import Parsed, parse, text_of, walk

MOST, LEAST, SHOWN = 20, 3, 5

# Token swaps only (decisions.md, row 89), on leaves of the syntax tree, the same for all languages.
SWAPS: Mapping[str, str] = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "+=": "-=",
    "-=": "+=",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
}
_NUMBERS = frozenset(("integer", "number", "int_literal", "integer_literal", "decimal_integer_literal"))
_NEVER = frozenset(
    ("import_statement", "import_from_statement", "import_declaration", "use_declaration", "type_arguments")
)


@dataclass(frozen=True)
class Mutant:
    """One token of one file in another way; `data` is the whole file."""

    path: str
    line: int
    before: str
    after: str
    data: bytes


def mutants_of(delta: Delta) -> list[Mutant]:
    """At most 20, spread over the touched lines of source that the fixed tree has (MM-1 to MM-3)."""
    found = [mutant for path, lines in sorted(_touched(delta).items()) for mutant in _in_file(delta, path, lines)]
    if len(found) <= MOST:
        return found
    return [found[n * len(found) // MOST] for n in range(MOST)]


def _touched(delta: Delta) -> dict[str, set[int]]:
    """Lines of the fix; where it has no source part, lines of the pull request: a fix of tests has no others."""
    case = Case(delta)
    lines = {file.path: {n for n, _ in file.added} for file in case.of("source") if file.after is not None}
    if any(lines.values()):
        return lines
    found: dict[str, set[int]] = {}
    for change in delta.pull:
        if change.new is None or case.head_class(change.new) != "source" or change.new not in delta.fixed:
            continue
        known = {line.strip() for line in lines_of(delta.base.get(change.old or ""))}
        rows = enumerate(lines_of(delta.fixed.get(change.new)), 1)
        found[change.new] = {n for n, line in rows if line.strip() and line.strip() not in known}
    return found


def _in_file(delta: Delta, path: str, lines: set[int]) -> Iterator[Mutant]:
    data = delta.fixed[path].data
    parsed = parse(path, data)
    if parsed is None or parsed.broken or b"\r" in data:
        return
    for node in walk(parsed.root, _NEVER | parsed.language.strings | parsed.language.comments):
        line = node.start_point[0] + 1
        if node.child_count or line not in lines or _is_left_out(node, parsed):
            continue
        after = _swapped(node)
        if after is not None:
            text = data[: node.start_byte] + after.encode() + data[node.end_byte :]
            yield Mutant(path, line, text_of(node), after, text)


def _is_left_out(node: Node, parsed: Parsed) -> bool:
    """Strings, comments, imports and signs that are no operator, such as the `*` of a pointer or of an import."""
    above = node.parent
    while above is not None:
        if above.type in _NEVER or above.type in parsed.language.strings:
            return True
        above = above.parent
    inner = node.parent
    return inner is not None and inner.type in (
        "pointer_type",
        "type_parameters",
        "generic_type",
        "list_splat",
        "unary_expression",
    )


def _swapped(node: Node) -> str | None:
    text = text_of(node)
    if node.type in _NUMBERS:
        return str(int(text) + 1) if text.isdecimal() else None
    return SWAPS.get(text)


@dataclass(frozen=True)
class Mutation:
    """What became of the mutants that could be run; `survivors` are at most 5."""

    mutants: int
    killed: int
    survivors: tuple[Mutant, ...] = ()

    def as_json(self) -> dict[str, object]:
        shown = [f"{one.path}:{one.line}: {one.before} -> {one.after}" for one in self.survivors[:SHOWN]]
        return {"mutants": self.mutants, "killed": self.killed, "survivors": shown}


def finding_of(mutation: Mutation) -> Finding | None:
    """MM100: at least 3 mutants and none killed. Nothing else follows from the numbers (MM-5)."""
    if mutation.mutants < LEAST or mutation.killed:
        return None
    title, sentence = SENTENCES["MM100"]
    first = mutation.survivors[0] if mutation.survivors else None
    return Finding(
        rule="MM100",
        severity="review",
        file=first.path if first else None,
        line=first.line if first else None,
        before=tuple(one.before for one in mutation.survivors[:3]),
        after=tuple(one.after for one in mutation.survivors[:3]),
        title=title,
        explanation=sentence,
        source="mutation",
    )
