"""Time limits that were raised and sleeps that were added: TI240, TI241."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.rules.marks import unit_words
from app.integrity.syntax import Word, bare_stream, line_at, number

_NUMBER = r"(?P<n>[0-9][0-9_.eE+]*)"
_LIMIT = re.compile(
    r"(?:\b[\w]*(?:[tT]ime_?[oO]ut|TIMEOUT|[dD]eadline|[tT]ime_?[lL]imit|withTimeLimit)\w*\b(?: [(=:.,] ?|"
    r" \w+(?= [(.:])| \{ |=> )"
    r"(?:[\w.:(\"]+ ){0,6}?" + _NUMBER + r"|\bDuration :: from_(?P<unit>secs|millis|secs_f64) \( (?P<m>[0-9_.]+)|"
    r"\btime \. After \( (?P<k>[0-9_]+)|\b(?P<j>[0-9_]+) \* time \. (?P<gounit>Second|Minute|Millisecond)|"
    r"\bDuration \. of(?P<junit>Seconds|Millis|Minutes) \( (?P<o>[0-9_]+))"
)
_UPPER = re.compile(
    r"\b(?:elapsed|duration|took|seconds|millis|runtime|spent|delta|dt|ms|"
    r"time)\w*(?: [\w.()-]+){0,8}? <=? (?P<n>[0-9][0-9_.eE]*)"
)
_JS_THIRD = re.compile(r"\} , (?P<n>[0-9][0-9_]*) \)$")
_SLEEP = re.compile(
    r"\b(?:sleep|Sleep|usleep|delay|waitForTimeout|setTimeout) \( (?:[\w.*() =>{},]+? )?(?P<n>[0-9][0-9_.]*)|"
    r"\bsleep (?P<m>[0-9][0-9_.]*)"
)
_WAIT = re.compile(r"\b(?:waitFor|wait_for|wait_until|eventually|Eventually|until|poll)\b")
_UNITS = {"Minute": 60.0, "Millisecond": 0.001, "millis": 0.001, "Millis": 0.001, "Minutes": 60.0}


@dataclass(frozen=True)
class Limit:
    """A time as it is written, in the unit that it has there; `line` is where."""

    value: float
    line: int


def times(case: Case) -> Iterator[Finding]:
    """Compare the times of each old unit with those of its new one, and of what stands around the units."""
    for file, pair in case.pairs:
        if pair.old is not None and pair.new is not None and pair.old.words != pair.new.words:
            old = unit_words(pair.old, case.parsed_of(file, pair.old))
            new = unit_words(pair.new, case.parsed_of(file, pair.new))
            yield from _raised(case, file, (old, new), Spot(pair.new))
            yield from _sleeps(case, file, (old, new), Spot(pair.new))
    for file in case.of("test", "harness"):
        if file.new is not None and file.old is not None:
            yield from _raised(case, file, (file.outside("old"), file.outside("new")), Spot())
        elif file.new is None and file.old is None and file.before is not None:
            yield from _in_settings(case, file)


def limits_in(words: Sequence[Word]) -> list[Limit]:
    """The time limits that code states, in the order of the text."""
    text = bare_stream(words)
    found = []
    for pattern in (_LIMIT, _UPPER, _JS_THIRD):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            written = next((groups[key] for key in ("n", "m", "k", "j", "o") if groups.get(key)), None)
            value = number(written) if written else None
            unit = groups.get("unit") or groups.get("gounit") or groups.get("junit") or ""
            if value is not None:
                found.append(Limit(value * _UNITS.get(unit, 1.0), line_at(words, text, match.start())))
    return found


def _raised(case: Case, file: FileView, sides: tuple[list[Word], list[Word]], spot: Spot) -> Iterator[Finding]:
    old, new = limits_in(sides[0]), limits_in(sides[1])
    for n, limit in enumerate(new):
        if len(old) == len(new) and limit.value <= old[n].value:
            continue
        if len(old) != len(new) and any(limit.value <= one.value for one in old):
            continue
        if not old and not _adds_time(file, limit):
            continue
        before = [f"limit {one.value:g}" for one in old[:3]]
        yield case.finding(
            "TI240",
            _severity(case, limit, old),
            file,
            Spot(spot.unit, limit.line, before, [f"limit {limit.value:g}"]),
        )
    if old and not new and spot.unit is not None:
        yield case.finding("TI240", "block", file, Spot(spot.unit, spot.unit.line, [f"limit {old[0].value:g}"]))


def _adds_time(file: FileView, limit: Limit) -> bool:
    """JavaScript runners stop a test after 2 or 5 seconds, so a limit above that is a raised one."""
    javascript = file.new is not None and file.new.language.name in ("javascript", "typescript")
    return javascript and limit.value > 5000


def _severity(case: Case, limit: Limit, old: list[Limit]) -> Severity:
    """A person looks when documentation that the pull request changed states the longer time, else a block."""
    from app.integrity.evidence.documents import states_time

    smallest = min((one.value for one in old), default=0.0)
    return "review" if states_time(case.delta, smallest) else "block"


def _sleeps(case: Case, file: FileView, sides: tuple[list[Word], list[Word]], spot: Spot) -> Iterator[Finding]:
    old, new = (_sleeping(words) for words in sides)
    total_old, total_new = sum(one.value for one in old), sum(one.value for one in new)
    if new and total_new > total_old:
        yield case.finding("TI241", "review", file, Spot(spot.unit, new[0].line, after=[f"sleeps {total_new:g}"]))


def _sleeping(words: Sequence[Word]) -> list[Limit]:
    text = bare_stream(words)
    found = []
    for match in _SLEEP.finditer(text):
        value = number(match["n"] or match["m"])
        if value is not None:
            found.append(Limit(value, line_at(words, text, match.start())))
    return found


_SETTING = re.compile(r"(?i)\b\w*time_?out\w*\b[\"']?\s*[:=,]\s*[\"']?([0-9][0-9_.]*)|--timeout[= ]([0-9.]+)")


def _in_settings(case: Case, file: FileView) -> Iterator[Finding]:
    """`timeout = 30` in a settings file of a runner."""

    def values(lines: Sequence[tuple[int, str]]) -> list[tuple[int, float, str]]:
        return [
            (n, value, line)
            for n, line in lines
            for match in _SETTING.finditer(line)
            if (value := number(match[1] or match[2])) is not None
        ]

    old, new = values(file.removed), values(file.added)
    for n, value, line in new:
        if old and value > max(one[1] for one in old):
            yield case.finding("TI240", "block", file, Spot(None, n, [old[0][2]], [line]))
