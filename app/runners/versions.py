"""Dotted version numbers against ranges like `>=1.2,<2`; pure."""

import operator
import re
from collections.abc import Callable, Mapping

COMPARE: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


def is_in_range(version: str, wanted: str) -> bool:
    """Whether the numbers at the start of `version` fit every part of `wanted`; an empty range fits everything."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    if not wanted:
        return True
    if found is None:
        return False
    parts = (re.fullmatch(r"(>=|<=|==|>|<)(\d+(?:\.\d+)*)", part.strip()) for part in wanted.split(","))
    return all(part is not None and COMPARE[part[1]](_numbers(found[1]), _numbers(part[2])) for part in parts)


def _numbers(text: str) -> tuple[int, ...]:
    """Eight numbers, so that 1.2 and 1.2.0 are equal."""
    numbers = [int(part) for part in text.split(".")][:8]
    return tuple(numbers + [0] * (8 - len(numbers)))
