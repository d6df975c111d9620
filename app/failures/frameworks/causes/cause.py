"""One line of a log that tells why a job failed."""

import re
from dataclasses import dataclass

from app.failures.model import JobKind

# Some text before the sentence, within bounds.
ANY = r".{0,400}?"


@dataclass(frozen=True)
class Cause:
    """One of the `wakes` must stand in the line, and `pattern` must match it. `tool` is a name of section 5."""

    kind: JobKind
    tool: str
    wakes: tuple[str, ...]
    pattern: re.Pattern[str]


def cause(kind: JobKind, tool: str, wakes: tuple[str, ...], pattern: str) -> Cause:
    return Cause(kind, tool, wakes, re.compile(pattern))
