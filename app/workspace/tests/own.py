"""A repository's own test command from its base's .github/remedy.yml: what is started, how its report is matched."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.failures.frameworks.detector import Found
from app.failures.reports import Report, read_report
from app.workspace.tests.model import OwnCommand, TestJob, TestRow, worst
from app.workspace.tests.tap import is_tap, read_tap

NO_REPORT = "the command wrote no report that can be read"


@dataclass(frozen=True)
class Share:
    """The named tests that one own command is for."""

    command: OwnCommand
    tests: tuple[str, ...]


def shares(own: Sequence[OwnCommand], framework: str, test_ids: Sequence[str]) -> tuple[list[Share], list[str]]:
    """Each named test goes to the first command for it; the rest has none."""
    taken: dict[int, list[str]] = {}
    rest = []
    for test in test_ids:
        fitting = (n for n, command in enumerate(own) if _is_for(command, framework, test))
        n = next(fitting, None)
        if n is None:
            rest.append(test)
        else:
            taken.setdefault(n, []).append(test)
    return [Share(own[n], tuple(tests)) for n, tests in sorted(taken.items())], rest


def setups(job: TestJob) -> tuple[tuple[str, ...], ...]:
    """The set-up of every entry that is for one of the named tests, each command once."""
    fitting = (one for one in job.own if any(_fits(one, job.framework, test) for test in job.test_ids))
    return tuple(dict.fromkeys(argv for one in fitting for argv in one.setup))


def _is_for(command: OwnCommand, framework: str, test: str) -> bool:
    return bool(command.run) and _fits(command, framework, test)


def _fits(command: OwnCommand, framework: str, test: str) -> bool:
    if command.framework not in ("generic", framework):
        return False
    file = re.split(r"::| > ", test, maxsplit=1)[0]
    return not command.paths or any(fnmatchcase(file, pattern) for pattern in command.paths)


def starts(share: Share) -> list[tuple[str, ...]]:
    """The argv lists to run: once for each named test, or the whole suite once."""
    if not share.command.run_named:
        return [share.command.run]
    return [tuple(word.replace("{id}", test) for word in share.command.run_named) for test in share.tests]


def read_rows(reports: Sequence[bytes | None], tests: Sequence[str]) -> dict[str, TestRow]:
    """A row for every named test from the reports of all starts; without a report each is an `error` (PX-1)."""
    rows = all_rows(reports)
    if rows is None:
        return {test: TestRow("error", NO_REPORT) for test in tests}
    return {test: worst(_matching(test, rows)) for test in tests}


def all_rows(reports: Sequence[bytes | None]) -> dict[str, list[TestRow]] | None:
    """Every row that passed or failed, by its id; None where no report can be read."""
    report = Report()
    rows: dict[str, list[TestRow]] = {}
    read = 0
    for data in reports:
        if data is not None and is_tap(data):
            said = read_tap(data)
            read += said is not None
            for name, found in (said or {}).items():
                rows.setdefault(name, []).extend(found)
        elif data is not None:
            read_report("report", data, report)
    if not report.files + read:
        return None
    for name in report.passed:
        rows.setdefault(name, []).append(TestRow("passed"))
    for failing in report.failing:
        rows.setdefault(failing.id, []).append(_row(failing))
    return rows


def _row(found: Found) -> TestRow:
    detail = "\n".join([found.message, *found.detail])[-3000:]
    failed = found.flaky or found.kind in ("fail", "timeout", "unexpected_success")
    return TestRow("failed" if failed else "error", detail, retried=found.flaky)


def _matching(test: str, rows: Mapping[str, list[TestRow]]) -> list[TestRow]:
    """By proof.md, 4.4: equal; equal but for separators; then the one id that is a tail of the other."""
    if test in rows:
        return rows[test]
    wanted = folded(test)
    same = [row for name, found in rows.items() for row in found if folded(name) == wanted]
    if same:
        return same
    tails = [found for name, found in rows.items() if _is_tail(folded(name), wanted)]
    return tails[0] if len(tails) == 1 else []


def folded(name: str) -> str:
    """A test's id without the signs that tools join its parts with: `a/b.py::C::t` and `a.b.C.t` are one."""
    head, bracket, rest = name.partition("[")
    plain = re.sub(r"\.(?:py|js|ts|rb|java|go|rs)(?=::| > |$)", "", head)
    return re.sub(r"::| > |/|\s+", ".", plain).casefold() + bracket + rest


def _is_tail(one: str, other: str) -> bool:
    return one.endswith(f".{other}") or other.endswith(f".{one}")
