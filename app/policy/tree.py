"""YAML as plain data with the place of every key and value; words are those of YAML 1.2 (pins.md, 8)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Path = tuple[str | int, ...]
Place = tuple[int, int]
"""Line and column, both from 1."""
_DEPTH = 20


class Mistake(Exception):
    """The text is no YAML that we take; `text` says why in words of ours or of the parser."""

    def __init__(self, place: Place, text: str) -> None:
        super().__init__(text)
        self.place = place
        self.text = text


@dataclass
class Tree:
    """`data` is None for an empty file. Blank values are left out, because blank means the default (A16)."""

    data: Any = None
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path, of_key: bool = False) -> Place:
        """Where the value (or the key) of `path` stands; for what is not there, where its parent stands."""
        for end in range(len(path), -1, -1):
            places = self.keys if of_key or end < len(path) else self.values
            if found := places.get(path[:end]) or self.values.get(path[:end]):
                return found
        return (1, 1)


class _Loader(yaml.SafeLoader):
    """Gives the words of YAML 1.2 their meaning; `yes`, `on`, `1:30`, `017` and dates stay text."""


_NULL, _BOOL, _INT, _FLOAT, _TEXT = (f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str"))
_WORDS = {
    _NULL: (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    _BOOL: (r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    _INT: (r"[-+]?(?:0|[1-9][0-9]{0,17})", [*"-+0123456789"]),
    _FLOAT: (r"[-+]?[0-9]+\.[0-9]+", [*"-+0123456789"]),
}
_Loader.yaml_implicit_resolvers = {}
for _tag, (_pattern, _first) in _WORDS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), _first)

_VALUES: Mapping[str, Callable[[str], Any]] = {
    _NULL: lambda _: None,
    _BOOL: lambda word: ("false", "true").index(word.lower()) == 1,
    _INT: int,
    _FLOAT: float,
    _TEXT: str,
}


def read_tree(text: str) -> Tree:
    """Raises Mistake for bad syntax, a key that stands twice, an alias, a tag, or nesting beyond reason."""
    tree = Tree()
    try:
        _refuse(text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise Mistake(place, ", ".join(part for part in (error.context, error.problem) if part)) from error
    except yaml.YAMLError as error:
        raise Mistake((1, 1), "there is a character that YAML does not allow") from error
    if node is not None:
        tree.data = _read(node, (), tree)
    return tree


def _refuse(text: str) -> None:
    """Look at the text without building anything: aliases, and more nesting than a person writes."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        mark = event.start_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if isinstance(event, yaml.AliasEvent):
            raise Mistake(place, "aliases (`*name`) are not read here")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEPTH:
            raise Mistake(place, "this is nested too deeply")


def _read(node: Node, path: Path, tree: Tree) -> Any:
    tree.values[path] = _place(node)
    if isinstance(node, MappingNode) and node.tag == "tag:yaml.org,2002:map":
        return _read_mapping(node, path, tree)
    if isinstance(node, SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        return [_read(item, (*path, index), tree) for index, item in enumerate(node.value)]
    if isinstance(node, ScalarNode) and node.tag in _VALUES:
        try:
            return _VALUES[node.tag](node.value)
        except ValueError as error:
            raise Mistake(_place(node), "this is not the kind of value that its tag names") from error
    raise Mistake(_place(node), "tags (`!name`) are not read here")


def _read_mapping(node: MappingNode, path: Path, tree: Tree) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise Mistake(_place(key), "a key must be one word")
        here = (*path, key.value)
        if here in tree.keys:
            raise Mistake(_place(key), f"this key stands twice; the first is on line {tree.keys[here][0]}")
        tree.keys[here] = _place(key)
        read = _read(value, here, tree)
        if not (read is None or (isinstance(read, str) and not read.strip())):
            data[key.value] = read
    return data


def _place(node: Node) -> Place:
    return (node.start_mark.line + 1, node.start_mark.column + 1)
