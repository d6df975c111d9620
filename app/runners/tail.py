"""The end of a long answer, with what its missing beginning must not hide (RN-4, VF-6)."""

import json
from dataclasses import dataclass, field

from app.runners.codes import plain
from app.runners.runner import TEXT_BYTES
from app.runs.verdicts import MARKER_WORDS

FIELD_CHARS = 20_000
"""Input and output of a tool call are cut here; the end is kept."""


@dataclass
class TextTail:
    """The end of an answer, at most 64 KiB (RN-4); remembers whether a marker line was cut away (VF-6)."""

    hides_marker: bool = False
    _pieces: list[str] = field(default_factory=list)
    _chars: int = 0
    _cut_in_line: bool = False

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._chars += len(piece)
        if self._chars > 4 * TEXT_BYTES:
            self.take()

    def is_empty(self) -> bool:
        return not self._pieces

    def is_at_line_start(self) -> bool:
        return not self._pieces or self._pieces[-1].endswith("\n")

    def take(self) -> str:
        """The text so far, cut to its end."""
        text = "".join(self._pieces)
        data = text.encode()
        if len(data) > TEXT_BYTES:
            kept = data[-TEXT_BYTES:].decode("utf-8", "ignore")
            self._look_for_marker(text[: len(text) - len(kept)], kept)
            text = kept
        self._pieces, self._chars = ([text] if text else []), len(text)
        return text

    def _look_for_marker(self, gone: str, kept: str) -> None:
        lines = gone.split("\n")
        lines[-1] += kept[:40] if lines[-1] else ""
        self.hides_marker |= any(line.startswith(MARKER_WORDS) for line in lines[self._cut_in_line :])
        self._cut_in_line = not gone.endswith("\n")


def cut(value: object) -> str:
    """One field of an event as text."""
    if value is None:
        return ""
    return (plain(value) if isinstance(value, str) else json.dumps(value))[-FIELD_CHARS:]
