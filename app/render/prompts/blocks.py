"""Put outside text into a prompt: label, fence, cut that is stated; and mask what looks like an authority."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from markupsafe import Markup

from app.redact import Redactor
from app.render.text import clean, cut_middle, longest_run, one_line

EVIDENCE_ID = re.compile(r"E-[0-9a-f]{10,}", re.IGNORECASE)
HIDDEN = "E-(hidden)"
_PLAIN_ARGUMENT = re.compile(r"[\w./:\[\]=,+-]+", re.ASCII)
_OURS = frozenset({"evidence_id", "approve_needs", "diff_id", "nonce", "feedback_ids"})
_FILE_HEADER = re.compile(r"^(?=diff --git |--- (?!.*\n(?!\+\+\+ )))", re.MULTILINE)

T = TypeVar("T")


def prepared(inputs: T, redactor: Redactor) -> T:
    """The same inputs with every text redacted, cleaned and masked (PM-5, PM-6); our own ids and the nonce stay."""
    return _prepared(inputs, redactor)  # type: ignore[no-any-return]


def _prepared(value: Any, redactor: Redactor) -> Any:
    if type(value) is str:
        return mask(clean(redactor.text(value)))
    if isinstance(value, tuple):
        return tuple(_prepared(item, redactor) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.name not in _OURS]
        return replace(value, **{name: _prepared(getattr(value, name), redactor) for name in names})
    return value


def mask(text: str) -> str:
    """`text` without anything shaped like an evidence id."""
    return EVIDENCE_ID.sub(HIDDEN, text)


def block(text: str, lang: str = "text") -> Markup:
    """A fence longer than any run of backticks inside; whole, whatever its length."""
    body = text.strip("\n")
    ticks = "`" * max(3, longest_run(body) + 1)
    return Markup(f"{ticks}{lang}\n{body}\n{ticks}")


def tail(text: str, size: int) -> tuple[str, str]:
    """The last `size` characters of `text` and what to say about the cut; `size` 0 means none."""
    text = text.strip()
    if len(text) <= size:
        return text, ""
    return (text[-size:] if size else ""), f"last {size} of {len(text)} characters"


def head(text: str, size: int) -> tuple[str, str]:
    """The first `size` characters of `text` and what to say about the cut."""
    text = text.strip()
    if len(text) <= size:
        return text, ""
    return text[:size], f"first {size} of {len(text)} characters"


def split_diff(diff: str) -> list[str]:
    """The diff file by file, in order; a text without a file header is one piece."""
    starts = [match.start() for match in _FILE_STARTS.finditer(diff)]
    if not starts:
        return [diff] if diff.strip() else []
    pieces = [diff[a:b] for a, b in zip(starts, [*starts[1:], len(diff)], strict=True)]
    return [diff[: starts[0]], *pieces] if diff[: starts[0]].strip() else pieces


_FILE_STARTS = re.compile(r"^(?:diff --git [^\n]*\n|--- [^\n]*\n(?=\+\+\+ ))", re.MULTILINE)
_NAME = re.compile(r"^(?:\+\+\+ (?:b/)?|--- (?:a/)?)(?!/dev/null)([^\n\t]+)", re.MULTILINE)


def file_name(piece: str) -> str:
    """The path that a file's part of a diff is about, on one line."""
    names = _NAME.findall(piece)
    return cut_middle(one_line(names[-1] if names else "?"), 120)


def plain_command(arguments: tuple[str, ...]) -> bool:
    """Whether a command line may be shown: every argument is plain (PM-10)."""
    return bool(arguments) and all(_PLAIN_ARGUMENT.fullmatch(argument) for argument in arguments)
