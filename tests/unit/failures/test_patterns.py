"""Every pattern of the folder on hostile lines: linear, and within 50 ms on a line at the cap (LT-1, LT-3, ST-L6)."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import app.failures
from app.failures.fingerprint import RULES, normalise
from app.failures.frameworks.causes import CAUSES
from app.failures.frameworks.rows.shapes import SHAPES
from app.failures.log.clean import LINE_CAP, clean

SECONDS = 0.05
WORTH_MEASURING = 0.001
GROWTH = 2.6


def modules() -> Iterator[object]:
    for module in pkgutil.walk_packages(app.failures.__path__, "app.failures."):
        yield importlib.import_module(module.name)


def patterns() -> dict[str, re.Pattern[str]]:
    found = {}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                found[f"{module.__name__.removeprefix('app.failures.')}.{name}"] = value  # type: ignore[attr-defined]
    found |= {f"shape {at} {shape.name}": shape.pattern for at, shape in enumerate(SHAPES)}
    found |= {f"cause {at} {cause.tool}": cause.pattern for at, cause in enumerate(CAUSES)}
    found |= {f"rule {rule.name}": rule.pattern for rule in RULES}
    return found


PATTERNS = patterns()
SOURCE = "\n".join(path.read_text() for path in Path(app.failures.__path__[0]).rglob("*.py"))
SEARCHED = set(re.findall(r"\b(_?[A-Z][A-Z_]+)\.(?:search|sub|findall)\(", SOURCE))


def hostile(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    """One letter, blanks, dots, the pattern's own literals repeated, and a good beginning with a bad end."""
    for sign in ("x", " ", ".", "-", "_", "/", ":", "(", "[", "1", "›", "é", "\t", "=", "'"):
        yield sign * size
    literals = [part for part in re.split(r"[^\w ./:=(\[-]+|\\[a-zA-Z]", pattern.pattern) if part.strip("()[")]
    for part in literals[:6]:
        piece = part.replace("(", "").replace("[", "") or "x"
        yield (piece * size)[:size]
        yield (piece + "x" * size)[:size]
        yield (piece + " " * size)[:size]
        yield ((piece + "a.b:1 ") * size)[:size]
    yield "a" * (size // 2) + " " * (size // 2)
    yield ("a.py:" * size)[:size]
    yield ("1 " * size)[:size]
    yield (" a" * size)[:size]


def took(pattern: re.Pattern[str], text: str, searched: bool) -> float:
    run = pattern.search if searched else pattern.match
    best = 9.0
    for _ in range(3):
        began = time.thread_time()
        run(text)
        best = min(best, time.thread_time() - began)
        if best < WORTH_MEASURING:
            break
    return best


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_quick_on_hostile_lines(name: str) -> None:
    pattern = PATTERNS[name]
    searched = name.rsplit(".", 1)[-1] in SEARCHED or name.startswith("rule ")
    for text, longer in zip(hostile(pattern, LINE_CAP), hostile(pattern, 2 * LINE_CAP), strict=True):
        seconds = took(pattern, text, searched)
        assert seconds < SECONDS, text[:40]
        if seconds > WORTH_MEASURING:
            assert took(pattern, longer, searched) < GROWTH * seconds + WORTH_MEASURING, text[:40]


@pytest.mark.parametrize("sign", ["x", " ", ".", "\x1b", "\x1b[", "\r", "\x1b]8;;", "travis_fold:x:"])
def test_cleaning_is_linear(sign: str) -> None:
    began = time.thread_time()
    clean((sign * LINE_CAP).encode()[: 4 * LINE_CAP])
    assert time.thread_time() - began < SECONDS


@pytest.mark.parametrize("sign", ["x", " ", "0", "a1", "/", "/tmp/", "1:", "1.", "***", "0x", "-", "12:34:"])
def test_normalising_is_quick(sign: str) -> None:
    began = time.thread_time()
    normalise(sign * 20_000)
    normalise(sign * 20_000, is_id=True)
    assert time.thread_time() - began < 0.5
