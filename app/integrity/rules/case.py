"""A fix, read once for all rules: its changed files, their test units, and which old unit became which new one."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from app.integrity.checks.find import checks_of
from app.integrity.checks.model import Check
from app.integrity.classes import Class, class_in, class_of, class_of_change, is_vendored
from app.integrity.model import LINE_CHARS, LINES, Blob, Change, Delta, Finding, Grid, Severity
from app.integrity.sentences import SENTENCES
from app.integrity.symbols import Symbols, symbols_of
from app.integrity.syntax import Parsed, Word, parse, words_of
from app.integrity.units import Pair, Unit, is_named, pair_units, units_of

EMPTY = Blob(b"")


@dataclass(frozen=True)
class FileView:
    """One changed file: `cls` is the class of the change, `old` and `new` its syntax where a grammar exists."""

    change: Change
    cls: Class
    before: Blob | None
    after: Blob | None
    old: Parsed | None
    new: Parsed | None

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def is_new(self) -> bool:
        return self.before is None

    @cached_property
    def old_units(self) -> list[Unit]:
        return units_of(self.old) if self.old is not None else []

    @cached_property
    def new_units(self) -> list[Unit]:
        return units_of(self.new) if self.new is not None else []

    @cached_property
    def pairs(self) -> list[Pair]:
        """Old units with their new ones, in this file alone."""
        return pair_units(self.old_units, self.new_units)

    @cached_property
    def old_lines(self) -> list[str]:
        return lines_of(self.before)

    @cached_property
    def new_lines(self) -> list[str]:
        return lines_of(self.after)

    @cached_property
    def added(self) -> list[tuple[int, str]]:
        """Lines that the fix wrote, with their number; moved and re-indented lines are none."""
        return [(n, line) for n, line in _only_in(self.new_lines, self.old_lines)]

    @cached_property
    def removed(self) -> list[tuple[int, str]]:
        return [(n, line) for n, line in _only_in(self.old_lines, self.new_lines)]

    @cached_property
    def old_words(self) -> list[Word]:
        return words_of(self.old.root, self.old.language) if self.old is not None else []

    @cached_property
    def new_words(self) -> list[Word]:
        return words_of(self.new.root, self.new.language) if self.new is not None else []

    def outside(self, which: str) -> list[Word]:
        """The words of the file that stand in no unit; `which` is `old` or `new`."""
        parsed, units = (self.old, self.old_units) if which == "old" else (self.new, self.new_units)
        if parsed is None:
            return []
        return words_of(parsed.root, parsed.language, [node for unit in units for node in (unit.node, *unit.marks)])


def lines_of(blob: Blob | None) -> list[str]:
    """Text lines without their ends and trailing blanks; none for binary content."""
    if blob is None or b"\0" in blob.data[:8000]:
        return []
    text = blob.data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return [line.rstrip() for line in text.split("\n")]


def _only_in(these: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, str]]:
    left, right = [line.strip() for line in these], [line.strip() for line in others]
    if len(left) + len(right) > 4_000:
        known = set(right)
        yield from ((n, line) for n, line in enumerate(these, 1) if line.strip() and line.strip() not in known)
        return
    matcher = difflib.SequenceMatcher(None, right, left, autojunk=False)
    for tag, _, _, start, end in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            yield from ((n + 1, these[n]) for n in range(start, end) if left[n])


@dataclass(frozen=True)
class Move:
    """A unit that left one file and stands in another."""

    old_file: FileView
    old: Unit
    new_file: str
    new: Unit


@dataclass
class Case:
    """What every rule reads. `grid` is None for the static gate alone; then no condition on cells holds (PV-3)."""

    delta: Delta
    grid: Grid | None = None
    _checks: dict[tuple[int, int, int], list[Check]] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> list[FileView]:
        return [self._view(change) for change in sorted(self.delta.fix, key=lambda one: one.path)]

    def _view(self, change: Change) -> FileView:
        delta = self.delta
        before = delta.head.get(change.old) if change.old is not None else None
        after = delta.fixed.get(change.new) if change.new is not None else None
        cls = class_of_change(change, delta.moved)
        if change.new is not None and after is not None and after.mode == "120000":
            cls = min(
                cls, class_in(delta.fixed, change.new, delta.moved), key=("harness", "test", "source", "doc").index
            )
        old = parse(change.old or "", before.data) if before is not None and before.mode != "120000" else None
        new = parse(change.new or "", after.data) if after is not None and after.mode != "120000" else None
        return FileView(change, cls, before, after, old, new)

    def of(self, *classes: Class) -> list[FileView]:
        """Changed files of these classes; vendored code is a case of its own (TI600)."""
        return [file for file in self.files if file.cls in classes and not is_vendored(file.path)]

    @cached_property
    def tests(self) -> list[FileView]:
        """Changed files that hold units, before or after, whatever their class."""
        return [
            file
            for file in self.files
            if not is_vendored(file.path) and (file.cls == "test" or file.old_units or file.new_units)
        ]

    @cached_property
    def moves(self) -> list[Move]:
        """Units that are gone from a file and stand in another changed file under the same name."""
        gone = [(file, pair.old) for file in self.tests for pair in file.pairs if pair.new is None and pair.old]
        come = [(file, pair.new) for file in self.tests for pair in file.pairs if pair.old is None and pair.new]
        found = []
        for file, old in gone:
            target = next(((other, new) for other, new in come if new.own == old.own and other is not file), None)
            if target is not None:
                come.remove(target)
                found.append(Move(file, old, target[0].path, target[1]))
        return found

    @cached_property
    def pairs(self) -> list[tuple[FileView, Pair]]:
        """All pairs of all test files; a unit that moved between files is one pair, shown at its new place."""
        moved_old = {id(move.old): move for move in self.moves}
        moved_new = {id(move.new) for move in self.moves}
        views = {file.path: file for file in self.tests}
        found = []
        for file in self.tests:
            for pair in file.pairs:
                if pair.old is not None and (move := moved_old.get(id(pair.old))) is not None:
                    found.append((views[move.new_file], Pair(move.old, move.new)))
                elif pair.new is None or id(pair.new) not in moved_new:
                    found.append((file, pair))
        return found

    def is_named(self, file: FileView, unit: Unit | None) -> bool:
        """The unit is one of the named failing tests, in its old file or its new one."""
        if unit is None:
            return False
        paths = [path for path in (file.change.old, file.change.new) if path is not None]
        return any(is_named(unit, path, self.delta.named) for path in paths)

    def checks(self, unit: Unit, parsed: Parsed) -> list[Check]:
        key = (id(parsed), unit.node.start_byte, unit.node.end_byte)
        if key not in self._checks:
            self._checks[key] = checks_of(unit.node, parsed.language)
        return self._checks[key]

    def parsed_of(self, file: FileView, unit: Unit) -> Parsed:
        """The syntax tree that a unit of this file, or of the file it came from, belongs to."""
        for one in self.tests:
            if unit in one.old_units and one.old is not None:
                return one.old
            if unit in one.new_units and one.new is not None:
                return one.new
        raise LookupError(unit.name)

    @cached_property
    def pull_paths(self) -> set[str]:
        return {path for change in self.delta.pull for path in (change.old, change.new) if path is not None}

    @cached_property
    def source_parts(self) -> bool:
        return any(file.cls == "source" for file in self.files)

    def word(self, cell: str) -> str:
        """The word of a cell, `n/a` without a grid."""
        return self.grid.word(cell) if self.grid is not None else "n/a"

    @cached_property
    def symbols(self) -> Symbols:
        return symbols_of(self.delta)

    @property
    def alone(self) -> bool:
        """The source part alone satisfies the original tests (O = pass)."""
        return self.word("fixed_source_with_original_tests") == "pass"

    def head_class(self, path: str) -> Class:
        return class_of(path, self.delta.moved)

    def finding(
        self, rule: str, severity: Severity, file: FileView, spot: "Spot | None" = None, soft: bool = False
    ) -> Finding:
        """A finding with its sentence; `spot` says where in the file and what was there."""
        spot = spot or Spot()
        title, sentence = SENTENCES.get(rule, (rule, ""))
        return Finding(
            rule=rule,
            severity=severity,
            file=file.path,
            line=spot.line,
            side="old" if file.after is None or spot.side == "old" else "new",
            unit=spot.unit.name if spot.unit else None,
            before=cut(spot.before),
            after=cut(spot.after),
            title=spot.title or title,
            explanation=spot.why or sentence,
            named=self.is_named(file, spot.unit),
            touched_by_pr=bool({file.change.old, file.change.new} & self.pull_paths),
            soft=soft,
        )


@dataclass(frozen=True)
class Spot:
    """Where a finding is and what stood there; `title` and `why` replace the rule's own words."""

    unit: Unit | None = None
    line: int | None = None
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    side: str = "new"
    title: str = ""
    why: str = ""

    def at(self, line: int | None) -> "Spot":
        return replace(self, line=line)


def cut(lines: Sequence[str]) -> tuple[str, ...]:
    """At most 3 lines of 200 characters, control characters made visible as blanks."""
    shown = ("".join(sign if sign.isprintable() else " " for sign in line.strip())[:LINE_CHARS] for line in lines)
    return tuple(line for line in shown if line)[:LINES]
