"""Find the test units of a file and pair the old ones with the new (proof.md, 8.2, PI-3)."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from app.integrity.languages import is_javascript
from app.integrity.syntax import Parsed, Words, arguments_of, line_of, plain_words, string_value, text_of, walk

SIMILAR = 0.8
LONG = 3000
_JS_UNIT = re.compile(
    r"(?:x|f)?(?:it|test|specify)(?:\.(?:only|skip|todo|failing|concurrent|each|fails|serial|sequential))*"
)
_JS_SUITE = re.compile(r"(?:x|f)?(?:describe|context|suite)(?:\.(?:only|skip|each|concurrent|todo|sequential))*")
_RUBY_UNIT = frozenset(
    ("it", "specify", "scenario", "example", "test", "its", "xit", "fit", "xspecify", "xscenario", "xexample")
)
_RUBY_SUITE = frozenset(("describe", "context", "feature", "xdescribe", "xcontext", "fdescribe", "fcontext"))
_JAVA_TEST = re.compile(
    r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Theory|Property)\b"
)


@dataclass(frozen=True)
class Unit:
    """A test: its qualified name, its node, and what belongs to it (decorators, attributes, annotations)."""

    name: str
    own: str
    node: Node
    marks: tuple[Node, ...]
    words: Words = field(repr=False)

    @property
    def line(self) -> int:
        return line_of(self.node)


def units_of(parsed: Parsed) -> list[Unit]:
    """The units of a file in the order of the text; a name that occurs twice has two."""
    return [Unit(name, own, node, marks, _words(parsed, node, marks)) for name, own, node, marks in _found(parsed)]


def _words(parsed: Parsed, node: Node, marks: tuple[Node, ...]) -> Words:
    return tuple(word for one in (*marks, node) for word in plain_words(one, parsed.language))


_Row = tuple[str, str, Node, tuple[Node, ...]]


def _found(parsed: Parsed) -> Iterator[_Row]:
    name = parsed.language.name
    if is_javascript(parsed.language):
        yield from _javascript(parsed.root)
    elif name == "ruby":
        yield from _ruby(parsed.root)
    else:
        for node in walk(parsed.root):
            row = _DECLARED[name](node)
            if row is not None:
                yield row


def _python(node: Node) -> _Row | None:
    if node.type != "function_definition":
        return None
    own = _name(node)
    if not own.startswith("test") or _inside(node, "function_definition"):
        return None
    above = node.parent
    decorated = above is not None and above.type == "decorated_definition"
    marks = [child for child in above.children if child.type == "decorator"] if above is not None and decorated else []
    return _qualified(node, own, "class_definition", "."), own, node, tuple(marks)


def _go(node: Node) -> _Row | None:
    if node.type != "function_declaration":
        return None
    own = _name(node)
    return (own, own, node, ()) if re.fullmatch(r"(?:Test|Fuzz|Example)(?:[A-Z_0-9]\w*)?", own) else None


def _rust(node: Node) -> _Row | None:
    if node.type != "function_item":
        return None
    marks = tuple(_attributes(node))
    if not any(re.search(r"\b(?:test|rstest|test_case|wasm_bindgen_test)\b", _head(text_of(mark))) for mark in marks):
        return None
    own = _name(node)
    return _qualified(node, own, "mod_item", "::"), own, node, marks


def _head(attribute: str) -> str:
    return attribute.split("(", 1)[0] if "cfg" not in attribute else ""


def _attributes(node: Node) -> Iterator[Node]:
    before = node.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if before.type == "attribute_item":
            yield before
        before = before.prev_sibling


def _java(node: Node) -> _Row | None:
    if node.type != "method_declaration":
        return None
    marks = tuple(child for child in node.children if child.type == "modifiers")
    own = _name(node)
    old_style = own.startswith("test") and "TestCase" in _superclass(node)
    if not old_style and not any(_JAVA_TEST.search(text_of(mark)) for mark in marks):
        return None
    return _qualified(node, own, "class_declaration", "."), own, node, ()


def _superclass(node: Node) -> str:
    owner = _inside(node, "class_declaration")
    found = owner.child_by_field_name("superclass") if owner is not None else None
    return text_of(found) if found is not None else ""


_DECLARED = {"python": _python, "go": _go, "rust": _rust, "java": _java}


def _javascript(root: Node) -> Iterator[_Row]:
    stack: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, suites = stack.pop()
        inner = suites
        if node.type == "call_expression":
            callee = _callee(node)
            title = _title(node)
            if title is not None and _JS_UNIT.fullmatch(callee):
                yield " > ".join((*suites, title)), title, node, ()
            elif title is not None and _JS_SUITE.fullmatch(callee):
                inner = (*suites, title)
        stack.extend((child, inner) for child in reversed(node.children))


def _callee(node: Node) -> str:
    """`it.each` of `it.each([...])("name", ...)` too."""
    function = node.child_by_field_name("function")
    while function is not None and function.type == "call_expression":
        function = function.child_by_field_name("function")
    return re.sub(r"\s+", "", text_of(function)) if function is not None else ""


def _title(node: Node) -> str | None:
    first = next(iter(arguments_of(node)), None)
    return string_value(first) if first is not None and first.type in ("string", "template_string") else None


def _ruby(root: Node) -> Iterator[_Row]:
    stack: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, suites = stack.pop()
        inner = suites
        if node.type in ("class", "module"):
            inner = (*suites, _name(node))
        elif node.type == "method" and _name(node).startswith("test"):
            yield "#".join(("::".join(suites), _name(node))), _name(node), node, ()
        elif node.type == "call" and (method := node.child_by_field_name("method")) is not None:
            word, first = text_of(method), next(iter(arguments_of(node)), None)
            blocked = node.child_by_field_name("block") is not None
            if word in _RUBY_SUITE and first is not None and blocked:
                inner = (*suites, string_value(first) if first.type == "string" else text_of(first))
            elif word in _RUBY_UNIT and first is not None and first.type == "string":
                title = string_value(first)
                yield " > ".join((*suites, title)), title, node, ()
        stack.extend((child, inner) for child in reversed(node.children))


def _name(node: Node) -> str:
    found = node.child_by_field_name("name")
    return text_of(found) if found is not None else ""


def _inside(node: Node, kind: str) -> Node | None:
    above = node.parent
    while above is not None and above.type != kind:
        above = above.parent
    return above


def _qualified(node: Node, own: str, kind: str, sign: str) -> str:
    names = [own]
    above = _inside(node, kind)
    while above is not None:
        names.append(_name(above))
        above = _inside(above, kind)
    return sign.join(reversed(names))


def is_named(unit: Unit, path: str, named: Sequence[str]) -> bool:
    """A named failing test means this unit, in whatever way its framework writes ids (proof.md, 5.1)."""
    return any(_means(test, unit, path) for test in named)


def _means(test: str, unit: Unit, path: str) -> bool:
    head = test.split("[", 1)[0] if "::" in test and "[" in test else test
    file = re.match(r"([^\s:>]+\.\w+)(?:::| > )", head)
    if file is not None and not (path == file[1] or path.endswith(f"/{file[1]}") or file[1].endswith(f"/{path}")):
        return False
    own = unit.own.split("%")[0].rstrip() if "%" in unit.own else unit.own
    tail = re.sub(r"^.*?(?:::| > )", "", head, count=1) if file is not None else head
    found = tail.rfind(own)
    if found < 0:
        return False
    before, after = tail[:found], tail[found + len(own) :]
    return (not before or (not before[-1].isalnum() and before[-1] != "_")) and (
        not after or after[0] in "/[( :" or own != unit.own
    )


@dataclass(frozen=True)
class Pair:
    """An old unit and what became of it; `old` is None for a new one, `new` for one that is gone."""

    old: Unit | None
    new: Unit | None
    renamed: bool = False


def pair_units(old: Sequence[Unit], new: Sequence[Unit]) -> list[Pair]:
    """Pairs by qualified name, then by own name, then by the most similar body (at least 0.8 of its words)."""
    left, right = list(old), list(new)
    pairs: list[Pair] = []
    for key in ("name", "own"):
        for one in list(left):
            other = next((unit for unit in right if getattr(unit, key) == getattr(one, key)), None)
            if other is not None:
                pairs.append(Pair(one, other))
                left.remove(one)
                right.remove(other)
    for one in list(left):
        scored = [(similarity(one.words, unit.words), n) for n, unit in enumerate(right)]
        score, n = max(scored, default=(0.0, -1))
        if score >= SIMILAR:
            pairs.append(Pair(one, right.pop(n), renamed=True))
            left.remove(one)
    return [*pairs, *(Pair(one, None) for one in left), *(Pair(None, one) for one in right)]


def similarity(one: Words, other: Words) -> float:
    """Share of words that two texts have in common, in order."""
    if not one or not other or min(len(one), len(other)) / max(len(one), len(other)) < 0.5:
        return 0.0
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    quick = matcher.quick_ratio()
    # The exact ratio takes the square of the length; what it could change is only asked for where it matters.
    return quick if quick < SIMILAR or len(one) > LONG else matcher.ratio()
