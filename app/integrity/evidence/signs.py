"""Signs of intent: changed documentation, a value in the title, a replaced literal (PE-11 to PE-13)."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from app.integrity.evidence.documents import documents, whole_word
from app.integrity.model import Finding
from app.integrity.rules.case import Case, FileView, lines_of
from app.integrity.sentences import SENTENCES
from app.integrity.syntax import QUOTE, number, parse, plain_words, words_of

_TRIVIAL = frozenset(("0", "1", "-1", "true", "false", "True", "False", ""))


@dataclass(frozen=True)
class Value:
    """An expected value that the fix replaced: its words on both sides, and where."""

    file: FileView
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def new_part(self) -> list[str]:
        """Words of the new value that the old one does not hold, split at blanks; trivial ones left out."""
        return _fresh(self.new, self.old)

    @property
    def old_part(self) -> list[str]:
        return _fresh(self.old, self.new)


def _fresh(these: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    known = Counter(part for word in others for part in _parts(word))
    found = []
    for word in these:
        for part in _parts(word):
            if known[part] > 0:
                known[part] -= 1
            elif part not in _TRIVIAL:
                found.append(part)
    return found


def _parts(word: str) -> list[str]:
    text = word[1:] if word[0] == QUOTE else word
    return re.findall(r"[\w.@%+-]*\w[\w.@%+-]*", text)


def changed_values(case: Case) -> list[Value]:
    """Expected values that differ between old and new units, and changed lines of expected output."""
    found = []
    for file in case.tests:
        for pair in file.pairs:
            if pair.old is None or pair.new is None or pair.old.words == pair.new.words:
                continue
            old = tuple(w for w in pair.old.words if w[0] == QUOTE or number(w) is not None)
            new = tuple(w for w in pair.new.words if w[0] == QUOTE or number(w) is not None)
            if old != new:
                found.append(Value(file, old, new))
    outputs = [file for file in case.of("test") if not file.old_units and not file.new_units]
    return [
        *found,
        *(Value(one, _as_words(one.removed), _as_words(one.added)) for one in outputs if one.added or one.removed),
    ]


def _as_words(rows: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(QUOTE + line.strip() for _, line in rows)


@dataclass(frozen=True)
class Swap:
    """A literal that the pull request replaced in source, and the line where the new one stands."""

    path: str
    line: int
    old: str
    new: str


def swaps(case: Case) -> Iterator[Swap]:
    """Literals that the pull request replaced by others in otherwise equal lines of source."""
    for change in case.delta.pull:
        if change.old is None or change.new is None or case.head_class(change.new) != "source":
            continue
        base, head = case.delta.base.get(change.old), case.delta.head.get(change.new)
        old, new = parse(change.old, base.data) if base else None, parse(change.new, head.data) if head else None
        if old is None or new is None:
            continue
        yield from _swapped(change.new, words_by_line(old), words_by_line(new))


def words_by_line(parsed: object) -> list[tuple[int, tuple[str, ...]]]:
    """The words of each line of a parsed file."""
    from app.integrity.syntax import Parsed

    assert isinstance(parsed, Parsed)
    rows: dict[int, list[str]] = {}
    for word in words_of(parsed.root, parsed.language):
        rows.setdefault(word.line, []).append(word.text)
    return [(line, tuple(words)) for line, words in sorted(rows.items())]


def _swapped(
    path: str, old: list[tuple[int, tuple[str, ...]]], new: list[tuple[int, tuple[str, ...]]]
) -> Iterator[Swap]:
    known = {words for _, words in old}
    still = {words for _, words in new}
    for line, words in new:
        if words in known:
            continue
        for _, other in old:
            if other in still or len(other) != len(words):
                continue
            differ = [(a, b) for a, b in zip(other, words, strict=True) if a != b]
            if len(differ) == 1 and all(_is_value(word) for word in differ[0]):
                yield Swap(path, line, differ[0][0].lstrip(QUOTE), differ[0][1].lstrip(QUOTE))
                break


def _is_value(word: str) -> bool:
    return word[0] == QUOTE or number(word) is not None


def signs_of(case: Case) -> list[Finding]:
    """The signs that hold, as findings at info (PE-20)."""
    found = []
    told = next(iter(documents(case.delta)), None)
    if told is not None:
        line = told.numbers[0] if told.numbers else None
        found.append(sign("PE-11", told.path, line, told.old[:1], told.new[:1]))
    values = changed_values(case)
    words = [part for value in values for part in value.new_part]
    named = next((word for word in words if len(word) > 1 and whole_word(word, case.delta.title)), None)
    if named is not None and not re.fullmatch(r"(?i)change[ds]?|breaking", named):
        found.append(sign("PE-12", None, None, (), (named,)))
    for swap in swaps(case):
        if any(swap.old in _texts(value.old) and swap.new in _texts(value.new) for value in values):
            found.append(sign("PE-13", swap.path, swap.line, (swap.old,), (swap.new,)))
            break
    return found


def _texts(words: tuple[str, ...]) -> set[str]:
    return {word.lstrip(QUOTE) for word in words} | {part for word in words for part in _parts(word)}


def sign(rule: str, path: str | None, line: int | None, before: tuple[str, ...], after: tuple[str, ...]) -> Finding:
    """A sign or an evidence: where the text stands in head, the old and the new value."""
    title, sentence = SENTENCES[rule]
    return Finding(rule, "info", path, line, "old", None, before, after, title, sentence)


__all__ = ["Swap", "Value", "changed_values", "lines_of", "plain_words", "sign", "signs_of", "swaps"]
