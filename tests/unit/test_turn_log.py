"""The log file of a turn: whole lines, redacted, bounded."""

from pathlib import Path

from app.redact import Redactor
from app.turns.turn_log import FILE_BYTES, TurnLog

SECRET = "canary-0123456789-abcdef"


def test_a_secret_that_comes_in_two_pieces_is_not_written(tmp_path: Path) -> None:
    """D4, RN-82, S46: both streams, each with its own open line."""
    path = tmp_path / "turn.log"
    log = TurnLog(path, Redactor([SECRET]))
    log("stdout", f"one\nkey {SECRET[:10]}".encode())
    log("stderr", b"warn")
    log("stdout", f"{SECRET[10:]} end\n".encode())
    log("stderr", b"ing")
    assert "one" in path.read_text() and "warn" not in path.read_text()
    log.close()
    lines = path.read_text().splitlines()
    assert lines[0] == "stdout one" and lines[-1] == "stderr warning"
    assert SECRET not in path.read_text() and SECRET[10:] not in path.read_text()


def test_a_flood_ends_at_its_bound_and_a_line_without_end_is_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "turn.log"
    log = TurnLog(path, Redactor([]))
    for _ in range(400):
        log("stdout", b"x" * (1 << 16))
    log.close()
    assert FILE_BYTES - (1 << 17) < path.stat().st_size <= FILE_BYTES
