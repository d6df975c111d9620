"""Prepare outside text for a prompt: redact, clean, mask what looks like an authority, cut with a note of the cut."""

import re
import shlex
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from markupsafe import Markup

from app.redact import Redactor
from app.render.text import clean, cut_middle, longest_run, one_line

T = TypeVar("T")

EVIDENCE_ID = re.compile(r"E-[0-9a-f]{10,}", re.IGNORECASE)
HIDDEN = "E-(hidden)"
OURS = frozenset({"evidence_id", "approve_needs", "diff_id", "nonce"})
_PLAIN_ARGUMENT = re.compile(r"[\w./:\[\]=,+-]+", re.ASCII)
_GIT_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_BARE_FILE = re.compile(r"^--- [^\n]*\n(?=\+\+\+ )", re.MULTILINE)
_PATH = re.compile(r"^(?:\+\+\+ (?:b/)?|--- (?:a/)?)(?!/dev/null)([^\n\t]+)", re.MULTILINE)


@dataclass(frozen=True)
class Piece:
    """Text for one block. `side` says what was kept ("first", "last") when `shown` is less than `total` `unit`s."""

    text: str
    side: str = ""
    shown: int = 0
    total: int = 0
    unit: str = "characters"
    left_out: tuple[str, ...] = ()


def prepared(inputs: T, redactor: Redactor) -> T:
    """The same inputs with every text redacted, cleaned and masked (PM-5, PM-6); our own ids and the nonce stay."""
    result: T = _prepared(inputs, redactor)
    return result


def _prepared(value: Any, redactor: Redactor) -> Any:
    if type(value) is str:
        return mask(clean(redactor.text(value)))
    if isinstance(value, tuple):
        return tuple(_prepared(item, redactor) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [part.name for part in fields(value) if part.name not in OURS]
        return replace(value, **{name: _prepared(getattr(value, name), redactor) for name in names})
    return value


def mask(text: str) -> str:
    """`text` without anything shaped like an evidence id."""
    return EVIDENCE_ID.sub(HIDDEN, text)


def block(text: str, lang: str = "text") -> Markup:
    """The whole text in a fence longer than any run of backticks inside."""
    body = text.strip("\n")
    ticks = "`" * max(3, longest_run(body) + 1)
    return Markup(f"{ticks}{lang}\n{body}\n{ticks}")


def whole(text: str) -> Piece:
    return Piece(text.strip("\n"))


def last(text: str, size: int, total: int = 0) -> Piece:
    """The last `size` characters; `total` is the length before an earlier cut of the same text."""
    text = text.strip("\n")
    total = max(total, len(text))
    kept = text[-size:] if size else ""
    return Piece(kept, "last" if len(kept) < total else "", len(kept), total)


def first(text: str, size: int) -> Piece:
    """The first `size` characters; a document keeps its beginning."""
    text = text.strip("\n")
    kept = text[:size]
    return Piece(kept, "first" if len(kept) < len(text) else "", len(kept), len(text))


def last_lines(text: str, lines: int, size: int) -> Piece:
    """The last `lines` lines, and of them the last `size` characters."""
    rows = text.strip("\n").split("\n")
    if len(rows) <= lines:
        return last(text, size)
    kept = "\n".join(rows[-lines:])[-size:]
    return Piece(kept, "last", min(lines, kept.count("\n") + 1), len(rows), "lines")


def whole_files(diff: str, size: int, files: int = 0) -> Piece:
    """Whole files of a diff in order while they fit in `size` characters; the rest by name."""
    pieces = split_diff(diff)
    kept = 0
    used = 0
    for piece in pieces:
        used += len(piece)
        if used > size:
            break
        kept += 1
    names = tuple(file_name(piece) for piece in pieces[kept:])
    return Piece("".join(pieces[:kept]).strip("\n"), "", kept, max(files, len(pieces)), "files", names)


@lru_cache(maxsize=8)
def split_diff(diff: str) -> tuple[str, ...]:
    """The diff file by file, in order; a text without a file header is one piece."""
    header = _GIT_FILE if _GIT_FILE.search(diff) else _BARE_FILE
    starts = [match.start() for match in header.finditer(diff)]
    if not starts:
        return (diff,) if diff.strip() else ()
    starts[0] = 0
    return tuple(diff[a:b] for a, b in zip(starts, [*starts[1:], len(diff)], strict=True))


def file_name(piece: str) -> str:
    """The path that a file's part of a diff is about, on one line."""
    names = _PATH.findall(piece[:4000])
    return cut_middle(one_line(names[-1] if names else piece[:80]), 120)


def plain_command(arguments: tuple[str, ...]) -> str:
    """The command as one quoted line, or empty if an argument is not plain (PM-10)."""
    if not all(_PLAIN_ARGUMENT.fullmatch(argument) for argument in arguments):
        return ""
    return shlex.join(arguments)
