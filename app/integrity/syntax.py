"""Parse a file into nodes and words; text is compared without comments, formatting and kinds of quotes (PI-8)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node, Parser

from app.integrity.languages import Language, language_of

FILE_BYTES = 2 * 1024 * 1024
DEPTH = 2000
Words = tuple[str, ...]
QUOTE = '"'
"""Begins the word of a string literal; the rest of the word is its content."""


@dataclass(frozen=True)
class Parsed:
    """A file that was read. `broken`: the grammar met an error somewhere; what stands around it is still there."""

    path: str
    language: Language
    root: Node
    broken: bool


@lru_cache(maxsize=256)
def parse(path: str, data: bytes) -> Parsed | None:
    """None for a language without a grammar, or a file past the limits (PI-12)."""
    language = language_of(path)
    if language is None or len(data) > FILE_BYTES:
        return None
    root = Parser(language.grammar()).parse(_plain(data)).root_node
    return None if _too_deep(root) else Parsed(path, language, root, root.has_error)


def _plain(data: bytes) -> bytes:
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return unicodedata.normalize("NFC", text.decode()).encode()
    except UnicodeDecodeError:
        return text


def _too_deep(root: Node) -> bool:
    cursor, depth = root.walk(), 0
    while True:
        if cursor.goto_first_child():
            depth += 1
            if depth > DEPTH:
                return True
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
            depth -= 1


def walk(node: Node, stop: frozenset[str] = frozenset()) -> Iterator[Node]:
    """All nodes below and with `node`, in the order of the text; what is below a type of `stop` is left out."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        if found.type not in stop or found == node:
            stack.extend(reversed(found.children))


@dataclass(frozen=True)
class Word:
    """A leaf of the tree: its text and its line, from 1."""

    text: str
    line: int


def words_of(node: Node, language: Language, leave_out: Sequence[Node] = ()) -> list[Word]:
    """The leaves in order, without comments; a string is one word. `leave_out` are nodes that are skipped whole."""
    found: list[Word] = []
    skipped = {(one.start_byte, one.end_byte, one.type) for one in leave_out}
    stack = [node]
    while stack:
        here = stack.pop()
        if here.type in language.comments or (skipped and (here.start_byte, here.end_byte, here.type) in skipped):
            continue
        if here.type in language.strings:
            found.append(Word(QUOTE + string_value(here), here.start_point[0] + 1))
        elif here.child_count == 0:
            if text := text_of(here):
                found.append(Word(text, here.start_point[0] + 1))
        else:
            stack.extend(reversed(here.children))
    return found


_CLOSERS = frozenset(")]}")


def plain_words(node: Node, language: Language) -> Words:
    """The words without what formatting may add: commas before a closing sign, semicolons, empty words."""
    words = [word.text for word in words_of(node, language) if word.text not in (";", "\n")]
    kept = [
        word for n, word in enumerate(words) if not (word == "," and n + 1 < len(words) and words[n + 1] in _CLOSERS)
    ]
    return tuple(kept)


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip()


def line_of(node: Node) -> int:
    return int(node.start_point[0]) + 1


_PREFIX = re.compile(r"^[a-zA-Z@%]{0,3}#{0,3}(?=[\"'`/(\[{<:|])")


def string_value(node: Node) -> str:
    """The content of a literal without prefix and quotes; escapes stay as they are written."""
    text = text_of(node)
    if text.startswith(":"):
        return text[1:]
    text = _PREFIX.sub("", text)
    for quote in ('"""', "'''", '"', "'", "`", "/"):
        if text.startswith(quote) and len(text) >= 2 * len(quote):
            return text[len(quote) :].rstrip("#").removesuffix(quote)
    return text


def arguments_of(node: Node) -> list[Node]:
    """The argument nodes of a call, without signs; empty when it has none."""
    box = node.child_by_field_name("arguments")
    if box is None:
        return []
    return [child for child in box.named_children if child.type not in ("comment", "line_comment", "block_comment")]


def split(words: Sequence[str], sign: str = ",") -> list[Words]:
    """Parts between signs that stand in no bracket."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in ("(", "[", "{", "|(")) - (word in (")", "]", "}"))
        if word == sign and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts if part]


def stream(words: Sequence[Word]) -> str:
    """The words with one blank between them, for patterns; strings as `"..."` with blanks made `_`."""
    return " ".join(word.text if word.text[0] != QUOTE else f'"{_joined(word.text[1:])}"' for word in words)


def bare_stream(words: Sequence[Word]) -> str:
    """The same with every string empty: for patterns that mean code, not text."""
    return " ".join(word.text if word.text[0] != QUOTE else '""' for word in words)


def _joined(text: str) -> str:
    return "_".join(text.split()).replace('"', "'")


def line_at(words: Sequence[Word], text: str, position: int) -> int:
    """The line of a place in the `stream` of these words."""
    n = text.count(" ", 0, position)
    return words[min(n, len(words) - 1)].line if words else 1


def is_literal(words: Sequence[str]) -> bool:
    """Only literals and the signs between them: a number, a string, a list of these."""
    return bool(words) and all(_LITERAL_WORD.fullmatch(word) or word[0] == QUOTE for word in words)


_LITERAL_WORD = re.compile(
    r"[-+]?\.?[0-9][\w.]*|[\[\](){},:;&.!?*+-]|=>|true|false|True|False|None|nil|null|undefined|vec|"
    r"string|int|float64|Decimal|dict|set|list|tuple|frozenset|map|struct|Some|Ok|Err|to_string|String|from|"
    r"List|of|Arrays|asList|\|"
)
NUMBER = re.compile(
    r"[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+|0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
)


def number(word: str) -> float | None:
    """The value of a number literal in any of the languages; suffixes of a type apart."""
    text = word.replace("_", "").rstrip("fFdDlLuU") if not word.lower().startswith("0x") else word.replace("_", "")
    try:
        return float(int(text, 0))
    except ValueError:
        pass
    found = NUMBER.match(text)
    if found is None or (not word[:1].isdigit() and not word.startswith(".")):
        return None
    try:
        return float(found[0])
    except ValueError:
        return None
