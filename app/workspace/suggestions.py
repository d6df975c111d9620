"""A fix as suggestions of a review, where all of it stands at lines that the pull request's diff shows; pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, Line, PatchedFile, PatchSet

MOST, MOST_CHARS = 30, 20_000


@dataclass(frozen=True)
class Suggestion:
    """Lines `start` to `line` of a file of the head become `text`; an empty text takes them away."""

    path: str
    start: int
    line: int
    text: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def suggestions_of(fix: bytes, pull: bytes) -> tuple[Suggestion, ...]:
    """Every change of `fix` (head to fixed) at lines of `pull` (base to head); empty if one of them cannot be said so.

    New, deleted and binary files, modes, other line ends and a missing last line end cannot.
    """
    try:
        changed, shown = PatchSet(fix.decode()), PatchSet(pull.decode("utf-8", "replace"))
    except (UnidiffParseError, UnicodeDecodeError):
        return ()
    found: list[Suggestion] = []
    for file in changed:
        ranges = [_range(hunk) for other in shown if other.path == file.path for hunk in other]
        made = list(_of_file(file))
        if not made or _is_more_than_text(file) or not all(_is_shown(one, ranges) for one in made):
            return ()
        found += made
    fits = len(found) <= MOST and sum(len(one.text) for one in found) <= MOST_CHARS
    return tuple(found) if fits and not any("\r" in one.text for one in found) else ()


def _range(hunk: Hunk) -> tuple[int, int]:
    return hunk.target_start, hunk.target_start + hunk.target_length - 1


def _is_shown(one: Suggestion, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= one.start and one.line <= last for first, last in ranges)


def _is_more_than_text(file: PatchedFile) -> bool:
    modes = any(line.startswith(("old mode", "new mode")) for line in file.patch_info or ())
    ends = any(line.line_type == "\\" for hunk in file for line in hunk)
    return bool(modes or ends or file.is_added_file or file.is_removed_file or file.is_binary_file)


def _of_file(file: PatchedFile) -> Iterator[Suggestion]:
    for hunk in file:
        lines = list(hunk)
        at = 0
        while at < len(lines):
            if lines[at].is_context:
                at += 1
                continue
            end = next((n for n in range(at, len(lines)) if lines[n].is_context), len(lines))
            if (one := _of_group(file.path, lines, at, end)) is not None:
                yield one
            at = end


def _of_group(path: str, lines: list[Line], at: int, end: int) -> Suggestion | None:
    """Lines without a context line between them; what only adds takes the line before or after it along."""
    text = "".join(line.value for line in lines[at:end] if line.is_added)
    removed = [_place(line) for line in lines[at:end] if line.is_removed]
    if removed:
        return Suggestion(path, removed[0], removed[-1], text)
    if at > 0:
        before = lines[at - 1]
        return Suggestion(path, _place(before), _place(before), before.value + text)
    if end < len(lines):
        after = lines[end]
        return Suggestion(path, _place(after), _place(after), text + after.value)
    return None


def _place(line: Line) -> int:
    return int(line.source_line_no or 0)
