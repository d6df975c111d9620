"""Documentation that the pull request changed, and what it states (proof.md, 7.1)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.integrity.classes import class_of
from app.integrity.model import Delta
from app.integrity.rules.case import lines_of

_SPECIFICATION = re.compile(r"(?i)(?:openapi|swagger|schema|\.proto$|\.graphql$|\.avsc$|\.xsd$|\.wsdl$)")
_DURATION = re.compile(
    r"(?i)\b(\d+(?:\.\d+)?)\s*-?\s*(ms|milliseconds?|s|secs?|seconds?|m|min|mins|minutes?|h|hours?)\b"
)
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60}
_SPELLED = {word: n for n, word in enumerate(_WORDS)} | _TENS
_SPELLED_DURATION = re.compile(rf"(?i)\b({'|'.join(_SPELLED)})\s+(milliseconds?|seconds?|minutes?|hours?)\b")


@dataclass(frozen=True)
class Text:
    """The lines of one document that the pull request removed and added; `numbers` are line numbers of the new ones."""

    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    numbers: tuple[int, ...]


def documents(delta: Delta) -> Iterator[Text]:
    """Changed lines of documents, change logs, specifications, docstrings and documentation comments."""
    for change in delta.pull:
        path = change.path
        old = lines_of(delta.base.get(change.old or ""))
        new = lines_of(delta.head.get(change.new or ""))
        whole = class_of(path, delta.moved) == "doc" or _SPECIFICATION.search(path)
        if not whole:
            if class_of(path, delta.moved) != "source":
                continue
            old, new = _comments(path, old), _comments(path, new)
        known_old, known_new = {x.strip() for x in old}, {x.strip() for x in new}
        added = [(n, line) for n, line in enumerate(new, 1) if line.strip() and line.strip() not in known_old]
        removed = [line for line in old if line.strip() and line.strip() not in known_new]
        if added or removed:
            yield Text(path, tuple(removed), tuple(x for _, x in added), tuple(n for n, _ in added))


_DOC_LINE = re.compile(r"^\s*(?:///|//!|/\*\*|\*(?!/)|\*/)")


def _comments(path: str, lines: list[str]) -> list[str]:
    """Documentation inside source, at its line; every other line is made empty."""
    if path.endswith((".py", ".pyi")):
        return _docstrings(lines)
    if path.endswith((".go", ".rb")):
        mark = "//" if path.endswith(".go") else "#"
        return [
            line if line.lstrip().startswith(mark) and _before_declaration(lines, n, mark) else ""
            for n, line in enumerate(lines)
        ]
    return [line if _DOC_LINE.match(line) else "" for line in lines]


def _before_declaration(lines: list[str], n: int, mark: str) -> bool:
    rest = next((line.strip() for line in lines[n:] if not line.strip().startswith(mark)), "")
    return (
        rest.startswith(("func ", "type ", "package ", "var ", "const ", "def ", "class ", "module "))
        or re.match(r"[A-Z]\w* ?=", rest) is not None
    )


def _docstrings(lines: list[str]) -> list[str]:
    shown, quote = [], ""
    for line in lines:
        if quote:
            shown.append(line)
            quote = "" if quote in line else quote
            continue
        found = re.match(r'\s*[rRuU]?("""|\'\'\')', line)
        if found is None:
            shown.append("")
            continue
        shown.append(line)
        rest = line[found.end() :]
        quote = "" if found[1] in rest else found[1]
    return shown


def seconds_in(text: str) -> list[float]:
    """Durations that a text writes with digits or number words, in seconds."""
    scale = {"ms": 0.001, "mi": 60.0, "m": 60.0, "h": 3600.0, "s": 1.0}
    found = []
    for amount, unit in _DURATION.findall(text):
        found.append(float(amount) * _scale(unit.casefold(), scale))
    for word, unit in _SPELLED_DURATION.findall(text):
        found.append(_SPELLED[word.casefold()] * _scale(unit.casefold(), scale))
    return found


def _scale(unit: str, scale: dict[str, float]) -> float:
    if unit.startswith(("ms", "millis")):
        return 0.001
    return scale.get(unit[:2], scale.get(unit[0], 1.0))


def states_time(delta: Delta, old_limit: float) -> bool:
    """Documentation gained a duration that it did not hold before and that is at least the old limit.

    A limit of 1000 or more is read as milliseconds.
    """
    limit = old_limit / 1000 if old_limit >= 1000 else old_limit
    for text in documents(delta):
        before = set(seconds_in("\n".join(text.old)))
        if any(value >= limit and value not in before for value in seconds_in("\n".join(text.new))):
            return True
    return False


def whole_word(value: str, text: str) -> bool:
    """The value stands in the text, and no letter, digit or dot of a number touches it."""
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", text) is not None
