"""CTest: progress rows and the list of failed tests."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.model import FailureKind

_CTEST_ROW = re.compile(r"\s*\d+/\d+ Test +#\d+: (\S.*?) \.*\s*\*\*\*(\S[^0-9]*)")
_CTEST_LISTED = re.compile(r"\s+\d+ - (\S.*) \(([^()]+)\)(?:\s+\S.*)?$")
_CTEST_TOTAL = re.compile(r"\d+% tests passed, (\d+) tests? failed out of (\d+)")
_KINDS: dict[str, FailureKind] = {
    "Failed": "fail",
    "Timeout": "timeout",
    "Not Run": "not_run",
    "BAD_COMMAND": "not_run",
}


def ctest_kind(word: str) -> FailureKind:
    word = word.strip()
    return _KINDS.get(word, "crash" if word.isupper() or "Exception" in word or word.startswith("SEGFAULT") else "fail")


class CTest:
    name: ClassVar[str] = "ctest"
    wakes: ClassVar[tuple[str, ...]] = ("tests FAILED:", "tests failed out of", "test failed out of")
    shapes: ClassVar[tuple[str, ...]] = (r"\*\*\*(?:\x1b\[[0-9;]*m)*[A-Z]",)

    def __init__(self) -> None:
        self._listing = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._listing:
            row = _CTEST_LISTED.match(text)
            if row:
                out.failure(Found(row[1], ctest_kind(row[2]), rank=2, message=row[2]))
            self._listing = row is not None
            return self._listing
        if text.startswith("The following tests FAILED:"):
            self._listing = True
            return True
        row = _CTEST_ROW.match(text) if "***" in text else None
        if row:
            out.failure(
                Found(row[1].rstrip(" ."), ctest_kind(row[2]), message=row[2].strip(), detail=self._own_output(out))
            )
        total = _CTEST_TOTAL.match(text)
        if total:
            out.total(int(total[1]), int(total[2]))
        return False

    @staticmethod
    def _own_output(out: Sink) -> list[str]:
        """With `-V` the output stands above the row, else below; both ends are kept by the log's own tail."""
        lines: list[str] = []
        for above in out.above(60):
            if above.lstrip().startswith(("Start ", "test ")) or (" Test " in above and "#" in above):
                break
            lines.insert(0, above)
        return lines

    def end(self, out: Sink) -> None:
        self._listing = False
