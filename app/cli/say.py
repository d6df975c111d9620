"""Lines for a person in front of a terminal, or one event per line for everything else (UX-T2, UX-T4)."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

SIGNS = {
    "ok": "✓",
    "passed": "✓",
    "same": "✓",
    "failed": "✗",
    "hold": "!",
    "warning": "!",
    "differs": "!",
    "wait": "●",
    "not checked": "–",
}
# ANSI colours by sign; the word always stands beside it.
_COLOURS = {"✓": "32", "✗": "31", "!": "33", "●": "36", "–": "2"}


def is_plain() -> bool:
    """Is nobody looking who wants signs and colours?"""
    names = ("NO_COLOR", "CI")
    return not sys.stdout.isatty() or os.environ.get("TERM") == "dumb" or any(os.environ.get(name) for name in names)


def say(level: str, part: str, text: str) -> None:
    """One line on stdout: `✓ queue      started`, plain `09:10:46 ok    queue      started`."""
    if is_plain():
        line = f"{datetime.now(UTC):%H:%M:%S} {level:<5} {part:<10} {text}"
    else:
        line = f"{paint(level, SIGNS[level])} {part:<10} {text}"
    print(line, flush=True)


def rule(width: int) -> str:
    """A line below a table's head."""
    return ("-" if is_plain() else "─") * width


def dot() -> str:
    """Between two facts on one line."""
    return "-" if is_plain() else "·"


def at(ms: int | None) -> str:
    """A moment of the ledger for people; empty for none."""
    return "" if ms is None else f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M}"


def clean(text: str) -> str:
    """Text from outside, for a terminal: one line, nothing that moves the cursor."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def say_head(text: str) -> None:
    """The first line of a command; a terminal gets a blank line below it."""
    print(text if is_plain() else f"{text}\n", flush=True)


def sign(level: str) -> str:
    """The sign of a level and a blank; nothing where signs are not wanted."""
    return "" if is_plain() else f"{SIGNS[level]} "


def paint(level: str, text: str) -> str:
    """The text in the colour of a level; as it is where colours are not wanted."""
    return text if is_plain() else f"\x1b[{_COLOURS[SIGNS[level]]}m{text}\x1b[0m"


@contextmanager
def busy(text: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is being done, gone at the end; call what it gives to change the text."""
    if is_plain() or not sys.stderr.isatty():
        yield lambda _text: None
        return
    from rich.console import Console

    with Console(stderr=True).status(text) as status:
        yield lambda new: status.update(new)


def say_turn(words: str, address: str) -> None:
    """What a person must do, the address alone on its line and whole, as it is copied (UX-T3)."""
    print(f"\nYour turn: {words}\n{address}\n", flush=True)
