"""Cases of the readers: invented text, what must be read from it, and the framings that must change nothing."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import re2

from app.failures.frameworks import DETECTORS
from app.failures.frameworks.detector import Detector, Sink
from app.failures.log.reader import Reader, Wakes
from app.failures.model import Options, Reading
from app.failures.read import read_log
from app.failures.recorder import Record, Recorder

STAMP = "2026-11-30T09:00:01.5609499Z "


@dataclass(frozen=True)
class Case:
    """`ids` are the failing tests in order; `place` and `message` are those of the first one; `kind` is the job's."""

    name: str
    text: str
    ids: tuple[str, ...]
    kind: str | None = None
    place: tuple[str, int | None] | None = None
    message: str = ""
    framework: str = ""
    flaky: tuple[str, ...] = ()


def read(text: str) -> Reading:
    return read_log([text.encode()])


def names(reading: Reading) -> list[str]:
    return [found.test_id for found in reading.findings if not found.flaky]


def check(case: Case) -> None:
    """What one case asks of the plain text."""
    reading = read(case.text)
    assert not reading.notes
    assert names(reading) == list(case.ids)
    assert [found.test_id for found in reading.flaky] == list(case.flaky)
    if case.kind is not None:
        assert reading.job_kind == case.kind
    if not case.ids:
        return
    first = reading.findings[0]
    if case.place is not None:
        assert (first.file, first.line) == case.place
    assert case.message in first.error_head
    if case.framework:
        assert first.framework == case.framework


def stamped(text: str) -> str:
    """As GitHub's download gives it: a stamp on every line, a byte order mark in front."""
    return "\ufeff" + "".join(f"{STAMP}{line}\n" for line in text.splitlines())


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def columns(text: str) -> str:
    """As `gh run view --log` gives it: job, step, stamp."""
    return "".join(f"build (ubuntu, 3.12)\tUNKNOWN STEP\t{STAMP}{line}\n" for line in text.splitlines())


def composed(text: str) -> str:
    """As docker compose prints one container, with its colour; prefixes count once they have company (CL-1)."""
    warm_up = "\x1b[36mapp-1  |\x1b[0m starting\n" * 4
    return warm_up + "".join(f"\x1b[36mapp-1  |\x1b[0m {line}\n" for line in text.splitlines())


def built(text: str) -> str:
    """As buildx prints one step."""
    return "".join(f"#19 {22 + at / 100:.2f} {line}\n" for at, line in enumerate(text.splitlines()))


def coloured(text: str) -> str:
    """Every line in colour, its words untouched."""
    return "".join(f"\x1b[31m{line}\x1b[39m\n" if line.strip() else line + "\n" for line in text.splitlines())


FRAMINGS = {
    "stamped": stamped,
    "crlf": crlf,
    "gh columns": columns,
    "compose": composed,
    "buildx": built,
    "coloured": coloured,
}


def check_framing(case: Case, framing: str) -> None:
    """A frame around the text changes no name, no flaky mark and no place (CL-2, CL-6, LP-1)."""
    plain = read(case.text)
    framed = read(FRAMINGS[framing](case.text))
    assert not framed.notes
    assert names(framed) == names(plain)
    assert [found.test_id for found in framed.flaky] == [found.test_id for found in plain.flaky]
    assert [(found.file, found.line) for found in framed.findings] == [
        (found.file, found.line) for found in plain.findings
    ]
    assert [_flat(found.error_head) for found in framed.findings] == [
        _flat(found.error_head) for found in plain.findings
    ]


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


class EveryLine(Wakes):
    """The naive loop: each line is cleaned and wakes every detector."""

    def __init__(self, detectors: tuple[type[Detector], ...]) -> None:
        super().__init__(detectors)
        self.jump = re2.compile(r"(?s).")
        self._all = list(range(len(detectors)))

    def who(self, raw: bytes) -> list[int]:
        return self._all


def found_by(wakes: Wakes, chunks: Iterable[bytes]) -> list[tuple[str, str, int]]:
    record = Record(Options())

    def make(reader: Reader, at: int, stream: str) -> tuple[Detector, Sink]:
        return DETECTORS[at](), Recorder(record, reader, DETECTORS[at].name, stream)

    Reader(wakes, make).read(chunks)
    assert not record.broken
    return sorted((found.id, found.framework, found.rank) for run in record.runs for found in run.found)
