"""Tests inside source files: the source of one version with the tests of another (proof.md, PC-7, PT-4)."""

from tree_sitter import Node

from app.integrity.syntax import parse, text_of

MARK = b"#[cfg(test)]"


def holds_tests(path: str, data: bytes) -> bool:
    """A Rust file with a test module. Other languages keep tests in files of their own."""
    return path.endswith(".rs") and MARK in data.replace(b" ", b"")


def mixed(path: str, source: bytes, tests: bytes) -> bytes:
    """`source` with the test modules of `tests` in place of its own; `source` as it is where one cannot be split."""
    ours, theirs = _spans(path, source), _spans(path, tests)
    if ours is None or theirs is None:
        return source
    texts = [tests[start:end] for start, end in theirs]
    left, at = [], 0
    for start, end in ours:
        left.append(source[at:start])
        at = end
    plain = b"".join([*left, source[at:]])
    return plain if not texts else plain.rstrip(b"\n") + b"\n\n" + b"\n\n".join(texts) + b"\n"


def _spans(path: str, data: bytes) -> list[tuple[int, int]] | None:
    """The bytes of each item behind `#[cfg(test)]`, its attributes included; None for a file that cannot be read."""
    parsed = parse(path, data)
    if parsed is None or parsed.broken or b"\r" in data:
        return None
    return [_with_attributes(node) for node in parsed.root.named_children if node.type == "mod_item" and _is_test(node)]


def _is_test(node: Node) -> bool:
    return any("".join(text_of(mark).split()) == MARK.decode() for mark in _attributes(node))


def _attributes(node: Node) -> list[Node]:
    found: list[Node] = []
    before = node.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        found.append(before)
        before = before.prev_sibling
    return found


def _with_attributes(node: Node) -> tuple[int, int]:
    marks = [mark for mark in _attributes(node) if mark.type == "attribute_item"]
    return min([node.start_byte, *(mark.start_byte for mark in marks)]), node.end_byte
