"""How much captured text of the failing tests an agent gets: about a tenth of the log, shared out (W5, IT-15)."""

from collections.abc import Sequence

SHARE_OF_LOG = 0.10
LEAST_CHARS = 2_000
MOST_CHARS = 48_000


def budget_of(bytes_total: int) -> int:
    """Characters for the failing tests of logs of this size: a tenth, within 2,000 and 48,000."""
    return max(LEAST_CHARS, min(MOST_CHARS, int(bytes_total * SHARE_OF_LOG)))


def tails_within(texts: Sequence[str], chars: int) -> list[str]:
    """The end of each text, from a line's start on, together at most `chars` characters.

    The room is shared evenly: what a short text leaves goes to the longer ones.
    """
    given = _share([len(text) for text in texts], max(0, chars))
    return [_tail(text, size) for text, size in zip(texts, given, strict=True)]


def _share(wanted: Sequence[int], chars: int) -> list[int]:
    given = [0] * len(wanted)
    left, open_ones = chars, [at for at, size in enumerate(wanted) if size]
    while open_ones and left >= len(open_ones):
        part = left // len(open_ones)
        done = [at for at in open_ones if wanted[at] <= part]
        for at in done or open_ones:
            given[at] = min(wanted[at], part)
            left -= given[at]
        open_ones = [at for at in open_ones if at not in done] if done else []
    return given


def _tail(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    kept = text[len(text) - size :]
    line = kept.find("\n")
    return kept[line + 1 :] if 0 <= line < len(kept) - 1 else kept
