"""Names that the pull request removed from source and names that it put there instead (PE-4)."""

from dataclasses import dataclass

from app.integrity.classes import class_of
from app.integrity.model import Delta
from app.integrity.syntax import QUOTE, Words, parse, words_of

RENAMED = "\N{SECTION SIGN}"
"""Stands for any name of the pull request's renames, so that old and new texts can be compared."""


@dataclass(frozen=True)
class Symbols:
    """`gone`: names that base's changed source holds and head's does not; `new`: the other way round."""

    gone: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()

    def old(self, words: Words) -> Words:
        """Words of an old text with each gone name made equal."""
        return tuple(RENAMED if word in self.gone else word for word in words)

    def fresh(self, words: Words) -> Words:
        """Words of a new text with each new name made equal."""
        return tuple(RENAMED if word in self.new else word for word in words)


def symbols_of(delta: Delta) -> Symbols:
    """Names by comparing the changed source files of base and head; a name of one letter is none."""
    before, after = _names(delta, "base"), _names(delta, "head")
    left, right = before - after, after - before
    # A rename has both sides. Without a gone name nothing is renamed, and new names explain nothing.
    return Symbols(frozenset(left), frozenset(right)) if left else Symbols()


def _names(delta: Delta, tree: str) -> set[str]:
    files = delta.base if tree == "base" else delta.head
    found: set[str] = set()
    for change in delta.pull:
        path = change.old if tree == "base" else change.new
        if path is None or class_of(path, delta.moved) != "source" or path not in files:
            continue
        parsed = parse(path, files[path].data)
        if parsed is not None:
            words = (word.text for word in words_of(parsed.root, parsed.language))
            found |= {word for word in words if len(word) > 1 and word[0] != QUOTE and word.isidentifier()}
    return found
