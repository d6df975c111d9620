"""A file that keeps the head and the tail of a stream that is too long (GH-27)."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

_LINE_BYTES = 4096


@dataclass(frozen=True)
class Written:
    """`seen` bytes went by, `left_out` of them are not in the file; in their place stands a line that says so."""

    seen: int
    left_out: int


def write_capped(chunks: Iterable[bytes], to: Path, cap_bytes: int) -> Written:
    """Write `chunks` to `to`; of more than `cap_bytes` the first half and at least the last quarter of it are kept."""
    seen = 0
    head_room = cap_bytes // 2
    with to.open("wb") as file, TemporaryFile(dir=to.parent) as one, TemporaryFile(dir=to.parent) as other:
        tail = _Tail(one, other, max(cap_bytes // 4, 1))
        for chunk in chunks:
            room = max(head_room - seen, 0)
            file.write(chunk[:room])
            tail.write(chunk[room:])
            seen += len(chunk)
        return Written(seen, tail.append_to(file))


class _Tail:
    """The end of a stream in two files of `part_bytes`: when one is full, the older one is begun anew."""

    def __init__(self, older: IO[bytes], newer: IO[bytes], part_bytes: int) -> None:
        self._older, self._newer = older, newer
        self._part_bytes = part_bytes
        self._left_out = 0

    def write(self, data: bytes) -> None:
        while data:
            room = self._part_bytes - self._newer.tell()
            self._newer.write(data[:room])
            data = data[room:]
            if data:
                self._left_out += self._older.tell()
                self._older.seek(0)
                self._older.truncate()
                self._older, self._newer = self._newer, self._older

    def append_to(self, file: IO[bytes]) -> int:
        """Add what is kept to `file`, from the start of a line after a cut; the number of bytes left out."""
        self._older.seek(0)
        self._newer.seek(0)
        if self._left_out:
            self._left_out += len(self._older.readline(_LINE_BYTES))
            file.write(b"\n[%d bytes were left out here]\n" % self._left_out)
        shutil.copyfileobj(self._older, file)
        shutil.copyfileobj(self._newer, file)
        return self._left_out
