"""The detector that docs/adding-a-framework.md shows is small and works as it stands there."""

import re
from pathlib import Path
from typing import cast

from app.failures.frameworks.detector import Detector, Sink
from app.failures.log.reader import Reader, Wakes
from app.failures.model import Options
from app.failures.recorder import Record, Recorder

PAGE = Path(__file__).parents[3] / "docs" / "adding-a-framework.md"
LOG = (
    b"2026-01-02T03:04:05.0000000Z not good: adds two - slowly (calc.spd:12)\n"
    b"2026-01-02T03:04:05.0000000Z   wanted 3, got 4\n"
    b"2026-01-02T03:04:05.0000000Z not good: cut at the end (calc.spd:20)\n"
    b"2026-01-02T03:04:05.0000000Z spindle: 2 of 9 not good\n"
)


def shown() -> str:
    code = re.search(r"(?s)```python\n(\"\"\"Spindle.*?)```", PAGE.read_text(encoding="utf-8"))
    assert code is not None
    return code[1]


def test_the_shown_detector_reads_its_log() -> None:
    names: dict[str, object] = {}
    exec(shown(), names)  # the text is a page of this repository
    spindle = cast("type[Detector]", names["Spindle"])
    record = Record(Options())

    def make(reader: Reader, at: int, stream: str) -> tuple[Detector, Sink]:
        return spindle(), Recorder(record, reader, spindle.name, stream)

    Reader(Wakes((spindle,)), make).read([LOG])
    (run,) = record.runs
    assert [(one.id, one.message, one.file, one.line) for one in run.found] == [
        ("adds two - slowly", "wanted 3, got 4", "calc.spd", 12),
        ("cut at the end", "spindle: 2 of 9 not good", "calc.spd", 20),
    ]
    assert (run.failed, run.ran, run.ended) == (2, 9, True)


def test_the_shown_detector_is_small() -> None:
    assert len(shown().splitlines()) < 100
