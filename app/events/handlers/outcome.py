"""What a handler answers: handled or why not, and which doorbells to ring after the commit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Heard:
    """`ignored` says why nothing was done; `rings` are (job, id) pairs; `commands` are rows to be run now."""

    ignored: str = ""
    rings: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()


def ignored(why: str) -> Heard:
    return Heard(ignored=why)
