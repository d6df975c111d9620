"""How much of each part fits: measure a text, and drop in the order of ux.md, section 2."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

T = TypeVar("T")

OPEN_CHARACTERS = 1_400
WHOLE_BYTES = 60_000

_FENCE = re.compile(r"^(`{3,})")


@dataclass(frozen=True)
class Space:
    """What one rendering may show; smaller values are tried until the text is below its limits."""

    rows_open: int = 5
    rows: int = 50
    name: int = 60
    prose: int = 400
    diff_lines: int = 200
    evidence_lines: int = 20
    rounds_text: int = 120
    width: int = 200
    fold_proof: bool = False
    fold_patch: bool = False


_OPEN_STEPS: tuple[dict[str, int | bool], ...] = (
    {"fold_patch": True},
    {"rows_open": 4},
    {"rows_open": 3},
    {"prose": 250},
    {"rows_open": 2},
    {"rows_open": 1},
    {"prose": 120, "name": 40},
    {"fold_proof": True},
    {"rows_open": 0},
    {"prose": 80, "name": 24},
)
_WHOLE_STEPS: tuple[dict[str, int | bool], ...] = (
    {"diff_lines": 100},
    {"diff_lines": 20},
    {"evidence_lines": 10},
    {"width": 80},
    {"rounds_text": 0},
    {"rows": 20},
    {"rows": 5},
    {"diff_lines": 5, "evidence_lines": 2},
)


def fitted(render: Callable[[Space], str]) -> str:
    """The fullest text whose open part and whole are below their limits (UX-L4, UX-L5)."""
    space, text = _least(render, Space(), _OPEN_STEPS, lambda made: len(open_part(made)) <= OPEN_CHARACTERS)
    return _least(render, space, _WHOLE_STEPS, lambda made: size(made) <= WHOLE_BYTES, text)[1]


def fitted_parts(render: Callable[[Space], Mapping[str, str]]) -> Mapping[str, str]:
    """The fullest parts of which each is below the limit of one field of a check (UX-L2)."""
    return _least(render, Space(), _WHOLE_STEPS, lambda made: all(size(part) <= WHOLE_BYTES for part in made.values()))[
        1
    ]


def size(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text.encode())


def _least(
    render: Callable[[Space], T],
    space: Space,
    steps: Sequence[dict[str, int | bool]],
    fits: Callable[[T], bool],
    made: T | None = None,
) -> tuple[Space, T]:
    shown = render(space) if made is None else made
    for step in steps:
        if fits(shown):
            break
        space = replace(space, **step)  # type: ignore[arg-type]
        shown = render(space)
    return space, shown


def open_part(text: str) -> str:
    """What shows without unfolding: the text without its marker line and without `<details>`."""
    kept: list[str] = []
    depth = 0
    for line, fenced in _lines(text):
        if not fenced and line.startswith("<details>"):
            depth += 1
        if depth == 0 and not (not kept and line.startswith("<!--")):
            kept.append(line)
        if not fenced and line.startswith("</details>"):
            depth -= 1
    return "\n".join(kept).strip("\n")


def tidy(text: str) -> str:
    """At most one empty line in a row outside fences, none at both ends, one line end at the end."""
    kept: list[str] = []
    for line, fenced in _lines(text):
        if fenced or line.strip() or (kept and kept[-1].strip()):
            kept.append(line if fenced else line.rstrip())
    return "\n".join(kept).strip("\n") + "\n"


def _lines(text: str) -> list[tuple[str, bool]]:
    """Each line and whether it stands inside a fence (its first and last line included)."""
    marked: list[tuple[str, bool]] = []
    ticks = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if ticks:
            marked.append((line, True))
            if line == ticks:
                ticks = ""
        else:
            ticks = found[1] if found else ""
            marked.append((line, bool(found)))
    return marked
