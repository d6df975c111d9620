"""One log file per turn: what the agent's process wrote, redacted line by line, in the room of the run (D4, RN-82)."""

from pathlib import Path

from app.redact import Redactor

FILE_BYTES = 10 * 1024 * 1024
LINE_BYTES = 64 * 1024


class TurnLog:
    """Takes raw output as it comes; a line is written when it is whole, so that no secret is cut in two."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._path, self._redactor = path, redactor
        self._left = FILE_BYTES
        self._open: dict[str, bytes] = {}

    def __call__(self, stream: str, data: bytes) -> None:
        """Some bytes of `stdout` or `stderr`; after 10 MiB nothing more is kept."""
        if self._left <= 0:
            return
        whole, newline, rest = (self._open.get(stream, b"") + data).rpartition(b"\n")
        if not newline and len(rest) > LINE_BYTES:
            whole, rest = rest, b""
        self._open[stream] = rest
        if whole:
            self._write(stream, whole)

    def close(self) -> None:
        """Write what has no end of line."""
        for stream, rest in self._open.items():
            if rest and self._left > 0:
                self._write(stream, rest)
        self._open.clear()

    def _write(self, stream: str, lines: bytes) -> None:
        text = self._redactor.text(lines.decode("utf-8", "replace"))
        written = "".join(f"{stream} {line}\n" for line in text.split("\n")).encode("utf-8", "replace")[: self._left]
        self._left -= len(written)
        with self._path.open("ab") as file:
            file.write(written)
