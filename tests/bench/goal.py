"""One goal of a measurement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """`seen` and `wanted` are for people and carry their units."""

    name: str
    seen: str
    wanted: str
    is_met: bool
