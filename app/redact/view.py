"""A text with parts left out, which can still say where each byte came from."""

import re
from bisect import bisect_right
from functools import cached_property

from app.redact.patterns import compile_bytes

# ANSI sequences, control characters, zero-width and bidirectional marks: they may sit inside a secret (RD3, RD4).
_NOISE = (
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xef\xbb\xbf"
)
# A line break, written out or escaped, with the time stamp that GitHub Actions puts before each line.
_BREAK = rb"(?:\r?\n|\\r\\n|\\n)(?:\d{4}-\d\d-\d\dT[\d:.]+Z )?[ \t]*"

NOISE = re.compile(_NOISE)
BREAK = re.compile(_BREAK)
_NOISY = compile_bytes(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\xe2\xef]")
NOISE_OR_BREAK = re.compile(_NOISE + b"|" + _BREAK)


class View:
    """The text `whole` without what `pattern` matches; where bytes came from is worked out when first asked."""

    def __init__(self, whole: bytes, pattern: re.Pattern[bytes]) -> None:
        self._whole = whole
        # google-re2 finds out five times faster that there is nothing to leave out.
        self._pattern = pattern if pattern is not NOISE or _NOISY.search(whole) else None
        self.data = self._pattern.sub(b"", whole) if self._pattern else whole

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The span of the whole text for the non-empty span `start:end` of this view."""
        return start + self._gone_before(start), end + self._gone_before(end - 1)

    def cut_in(self, start: int, end: int) -> int | None:
        """The first position in the span before which something was left out, or None."""
        positions = self._cuts[0]
        index = bisect_right(positions, start)
        return positions[index] if index < len(positions) and positions[index] < end else None

    def _gone_before(self, at: int) -> int:
        positions, gone = self._cuts
        index = bisect_right(positions, at)
        return gone[index - 1] if index else 0

    @cached_property
    def _cuts(self) -> tuple[list[int], list[int]]:
        """Positions in `data` where something is missing, and the bytes missing up to each in sum."""
        positions: list[int] = []
        gone: list[int] = []
        removed = 0
        for match in self._pattern.finditer(self._whole) if self._pattern else ():
            positions.append(match.start() - removed)
            removed += match.end() - match.start()
            gone.append(removed)
        return positions, gone
