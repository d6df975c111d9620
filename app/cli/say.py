"""Lines for a person in front of a terminal, or one event per line for everything else (UX-T2, UX-T4)."""

import os
import sys
from datetime import UTC, datetime

SIGNS = {"ok": "✓", "failed": "✗", "hold": "!", "wait": "●", "not checked": "–"}


def is_plain() -> bool:
    """Is nobody looking who wants signs and colours?"""
    names = ("NO_COLOR", "CI")
    return not sys.stdout.isatty() or os.environ.get("TERM") == "dumb" or any(os.environ.get(name) for name in names)


def say(level: str, part: str, text: str) -> None:
    """One line on stdout: `✓ queue      started`, plain `09:10:46 ok    queue      started`."""
    if is_plain():
        line = f"{datetime.now(UTC):%H:%M:%S} {level:<5} {part:<10} {text}"
    else:
        line = f"{SIGNS[level]} {part:<10} {text}"
    print(line, flush=True)


def rule(width: int) -> str:
    """A line below a table's head."""
    return ("-" if is_plain() else "─") * width


def dot() -> str:
    """Between two facts on one line."""
    return "-" if is_plain() else "·"


def say_head(text: str) -> None:
    """The first line of a command; a terminal gets a blank line below it."""
    print(text if is_plain() else f"{text}\n", flush=True)
