"""Runs of base64 or hexadecimal text inside a text, decoded at every alignment."""

import binascii
from collections.abc import Iterator
from dataclasses import dataclass

from app.redact.patterns import compile_bytes

# Base64 of letters, digits and dots never needs the signs `+ / - _`, and paths and names are full of them.
_BASE64 = compile_bytes(rb"[A-Za-z0-9]{24,}")
_HEX = compile_bytes(rb"[0-9A-Fa-f]{24,}")


@dataclass(frozen=True)
class Run:
    """Decoded bytes; each `group` of them stands for `letters` letters of the text from `start` to `end`."""

    data: bytes
    start: int
    end: int
    letters: int
    group: int

    def encoded_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the text for a span of `data`."""
        first = self.start + start // self.group * self.letters
        last = self.start + -(-end // self.group) * self.letters
        return first, min(last, self.end)


def decoded_runs(data: bytes) -> Iterator[Run]:
    """All runs; a run of `n` letters gives four readings as base64, or two as hexadecimal."""
    for match in _BASE64.finditer(data):
        start, letters = match.start(), match.group()
        for offset in range(4):
            usable = letters[offset : len(letters) - ((len(letters) - offset) % 4 == 1)]
            padding = b"=" * (-len(usable) % 4)
            yield Run(binascii.a2b_base64(usable + padding), start + offset, start + offset + len(usable), 4, 3)
    for match in _HEX.finditer(data):
        start, letters = match.start(), match.group()
        for offset in range(2):
            usable = letters[offset : offset + (len(letters) - offset) // 2 * 2]
            yield Run(binascii.unhexlify(usable), start + offset, start + offset + len(usable), 2, 1)
