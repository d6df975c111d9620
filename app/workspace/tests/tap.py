"""Read a report in the Test Anything Protocol (proof.md, PX-32)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.workspace.tests.model import Outcome, TestRow

_POINT = re.compile(r"(not )?ok(?: +(\d+))?(?: +(?:- +)?(.*))?")
_PLAN = re.compile(r"1\.\.(\d+)(?:\s*#.*)?")
_MARK = re.compile(r"(?<!\\)#\s*(?:skip|todo)", re.IGNORECASE)
_SUBTEST = re.compile(r"# Subtest: (.*)")
_BEGIN = re.compile(rb"(?:TAP version \d+|1\.\.\d+|(?:not )?ok\b|# Subtest:)")
DETAIL = 3000


@dataclass
class _Level:
    """The points of one depth of indentation: how many were planned, how many came."""

    name: str = ""
    planned: int | None = None
    points: int = 0


@dataclass
class _Reader:
    rows: dict[str, list[TestRow]] = field(default_factory=dict)
    levels: list[tuple[int, _Level]] = field(default_factory=lambda: [(0, _Level())])
    agrees: bool = True

    def line(self, text: str) -> None:
        bare = text.strip()
        depth = len(text) - len(text.lstrip(" "))
        if (found := _SUBTEST.fullmatch(bare)) is not None:
            self.levels.append((depth + 1, _Level(found[1].strip())))
        elif (plan := _PLAN.fullmatch(bare)) is not None:
            self._at(depth).planned = int(plan[1])
        elif (point := _POINT.fullmatch(bare)) is not None:
            self._point(depth, point)
        elif bare.startswith("Bail out!"):
            self.agrees = False

    def _at(self, depth: int) -> _Level:
        """The level that a line of this depth belongs to; what is deeper has ended."""
        while len(self.levels) > 1 and self.levels[-1][0] > depth:
            self._close()
        return self.levels[-1][1]

    def _close(self) -> None:
        level = self.levels.pop()[1]
        self.agrees &= level.planned == level.points

    def _point(self, depth: int, point: re.Match[str]) -> None:
        level = self._at(depth)
        level.points += 1
        said = point[3] or ""
        mark = _MARK.search(said)
        name = (said[: mark.start()] if mark is not None else said).replace("\\#", "#").strip()
        outcome: Outcome = "skipped" if mark is not None else "failed" if point[1] else "passed"
        above = [one.name for _, one in self.levels if one.name]
        self.rows.setdefault(" > ".join([*above, name or str(level.points)]), []).append(
            TestRow(outcome, said[:DETAIL])
        )

    def end(self) -> None:
        while self.levels:
            self._close()


def is_tap(report: bytes) -> bool:
    return _BEGIN.match(report.removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def read_tap(report: bytes) -> dict[str, list[TestRow]] | None:
    """Every point by its description, below those of its parents; None where a plan and its points disagree."""
    reader = _Reader()
    for text in _without_diagnostics(report.decode("utf-8", "replace")):
        reader.line(text)
    reader.end()
    return reader.rows if reader.agrees else None


def _without_diagnostics(text: str) -> Iterator[str]:
    """YAML below a point may hold anything, lines that look like points too."""
    inside = False
    for line in text.splitlines():
        bare = line.strip()
        if inside or (bare == "---" and line != bare):
            inside = bare != "..."
        else:
            yield line
