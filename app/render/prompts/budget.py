"""How long each part of a prompt may be, and what is cut first (prompts.md, 3.4)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

HARD_END_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Caps:
    """Characters shown of each part (a token is taken as three bytes); 0 means the short form, or nothing."""

    details: tuple[int, ...] = ()
    error_head: int = 300
    test_id: int = 200
    body: int = 2100
    pull_diff: int = 18_000
    conventions: int = 4500
    last_diff: int = 12_000
    run_diff: int = 18_000
    step_diff: int = 48_000
    output: int = 12_000
    output_lines: int = 1_000_000
    note: int = 1800
    summary: int = 4500
    events: int = 20


TOTALS: Mapping[str, int] = {
    "step": 8_000,
    "plan_review": 32_000,
    "agent_work": 32_000,
    "agent_correct": 20_000,
    "agent_resume": 33_000,
    "review": 48_000,
    "self_repair": 12_000,
    "reask": 3_000,
    "final": 6_000,
}

START: Mapping[str, Mapping[str, Any]] = {"agent_correct": {"output": 6000}}

DETAILS = "details"
_HEADS = ({"error_head": 150, "test_id": 120}, {"error_head": 80, "test_id": 80})
_WORK = ({"pull_diff": 0}, {"body": 0}, DETAILS, *_HEADS)

Cut = Mapping[str, Any] | str

CUTS: Mapping[str, tuple[Cut, ...]] = {
    "plan_review": ({"body": 0}, {"pull_diff": 0}, {"conventions": 0}, DETAILS, *_HEADS),
    "agent_work": _WORK,
    "agent_resume": _WORK,
    "agent_correct": ({"conventions": 0}, {"last_diff": 0}, {"output_lines": 20}, DETAILS, *_HEADS),
    "review": (
        {"note": 0},
        {"body": 0},
        {"pull_diff": 0},
        {"output_lines": 20},
        {"output_lines": 1},
        {"conventions": 0},
        {"run_diff": 0},
        DETAILS,
        {"step_diff": 24_000},
        {"step_diff": 6_000},
        {"step_diff": 0},
        *_HEADS,
    ),
    "self_repair": ({"summary": 1500}, {"events": 5}),
}


def estimate(text: str) -> int:
    """Tokens of a prompt: UTF-8 bytes / 3, rounded up."""
    return -(-len(text.encode()) // 3)


def ladder(name: str, failures: int, detail_chars: int = 3000) -> list[tuple[Caps, tuple[str, ...]]]:
    """All caps that a prompt may be rendered with, from nothing cut to everything cut, each with what was cut."""
    caps = replace(Caps(details=(detail_chars,) * failures), **START.get(name, {}))
    steps: list[tuple[Caps, tuple[str, ...]]] = [(caps, ())]
    for cut in CUTS.get(name, ()):
        done = steps[-1][1]
        if isinstance(cut, str):
            steps += [(replace(caps, details=shown), (*done, DETAILS)) for shown in _details(caps.details)]
        else:
            steps.append((replace(caps, **cut), (*done, *cut)))
        caps = steps[-1][0]
    return steps


def _details(shown: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """From the last failure back to the second: 1000 characters, then the error head alone; then the first one."""
    now = list(shown)
    for size in (1000, 0):
        for i in reversed(range(1, len(now))):
            now[i] = min(now[i], size)
            yield tuple(now)
    for size in (1500, 0):
        if now:
            now[0] = min(now[0], size)
            yield tuple(now)
