"""Find known secret values in a text: whole, in part, reversed, written as in a URL (RD3)."""

from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import quote

from app.redact.patterns import compile_bytes

PART = 12
"""The shortest part of a longer secret that is found, in bytes."""
SHORTEST = 8
"""Shorter values than this are not looked for: they would blank ordinary words."""

# Each window of 12 bytes holds one whole anchor of 6 that starts at a multiple of 7.
_ANCHOR, _STRIDE = 6, 7


class KnownSecrets:
    """An index over the values; `find` costs one linear pass when nothing is there."""

    def __init__(self, values: Iterable[str]) -> None:
        anchors: dict[bytes, list[tuple[bytes, int]]] = defaultdict(list)
        for form in {form for value in values for form in _forms(value)}:
            for at in range(0, len(form) - _ANCHOR + 1, _STRIDE):
                anchors[form[at : at + _ANCHOR]].append((form, at))
        self._anchors = dict(anchors)
        self._pattern = compile_bytes(b"|".join(_literal(anchor) for anchor in anchors)) if anchors else None

    def find(self, data: bytes) -> list[tuple[int, int]]:
        """Spans of `data` that hold at least `PART` bytes of a secret in a row, or a shorter secret whole."""
        spans: list[tuple[int, int]] = []
        if self._pattern is None:
            return spans
        at = 0
        while match := self._pattern.search(data, at):
            start = match.start()
            longest = max(
                (_extend(data, start, form, begin) for form, begin in self._anchors[data[start : match.end()]]),
                key=lambda span: span[1] - span[0],
            )
            if longest[1] > longest[0]:
                spans.append(longest)
            at = max(longest[1], start + 1)
        return spans


def _forms(value: str) -> set[bytes]:
    """The ways in which one value is written; a PEM counts line by line, without its BEGIN and END."""
    forms: set[bytes] = set()
    for line in value.replace("\\n", "\n").splitlines():
        stripped = line.strip()
        if len(stripped) < SHORTEST or stripped.startswith("-----"):
            continue
        quoted = quote(stripped, safe="")
        for form in (stripped, stripped[::-1], quoted, quoted.lower()):
            forms.add(form.encode())
    return forms


def _literal(anchor: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in anchor)


def _extend(data: bytes, at: int, form: bytes, begin: int) -> tuple[int, int]:
    """The longest span around `at` where `data` and `form` agree; empty when it is too short to count."""
    start, left = at, begin
    while left > 0 and start > 0 and form[left - 1] == data[start - 1]:
        left, start = left - 1, start - 1
    end, right = at, begin
    while right < len(form) and end < len(data) and form[right] == data[end]:
        right, end = right + 1, end + 1
    return (start, end) if end - start >= min(PART, len(form)) else (at, at)
