"""node:test, jest, vitest and mocha (proof.md, 5.1)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from app.workspace.sandbox.model import WORKSPACE, Result
from app.workspace.tests.execute import Command
from app.workspace.tests.frameworks.model import DETAIL, NO_REPORT, Ground, Row, Said, Start, counted, file_of
from app.workspace.tests.frameworks.programs import find_program, node_package
from app.workspace.tests.model import Outcome

MAX_FILES = 300
_NODE_FILES = re.compile(
    r"(?:.*/)?(?:[^/]*[.\-_]test\.[cm]?js|test\.[cm]?js|test-[^/]*\.[cm]?js)|(?:.*/)?test/(?:.*/)?[^/]*\.[cm]?js"
)


def _files(ground: Ground, ids: Sequence[str] | None) -> list[str]:
    """The files of the named tests that are in the tree."""
    wanted = dict.fromkeys(file_of(test) for test in ids or ())
    return [file for file in wanted if file in set(ground.paths)]


@dataclass(frozen=True)
class NodeTest:
    """One process for each file, because the report has no file name in it."""

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        node = find_program("node", ground.tools)
        every = [path for path in ground.paths if _NODE_FILES.fullmatch(path) and "node_modules/" not in path]
        files = _files(ground, ids) if ids is not None else every[:MAX_FILES]
        options = ("--test", "--test-reporter=junit", "--test-reporter-destination={report}")
        return [
            Start(Command((node.path, *options, f"./{file}"), binds=node.binds, folders=(node.folder,)), (file,))
            for file in files
        ]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        if report is None:
            return NO_REPORT
        try:
            root = fromstring(report)
        except (ParseError, DefusedXmlException, ValueError):
            return NO_REPORT
        rows = list(_cases(root, (start.files[0],)))
        whole = [row for row in rows if row.id.endswith(start.files[0]) and row.outcome != "passed"]
        if whole:
            return Said(tuple(row for row in rows if row not in whole), {start.files[0]: whole[0].detail})
        return Said(tuple(rows))


def _cases(element: Element, path: tuple[str, ...]) -> Iterator[Row]:
    for child in element:
        name = child.get("name", "")
        if child.tag == "testsuite":
            yield from _cases(child, (*path, name))
        elif child.tag == "testcase":
            bad = next((one for one in child if one.tag in ("failure", "error")), None)
            skipped = any(one.tag == "skipped" for one in child)
            outcome: Outcome = "skipped" if skipped else "failed" if bad is not None else "passed"
            detail = f"{bad.get('message', '')}\n{bad.text or ''}"[-DETAIL:] if bad is not None else ""
            yield Row(" > ".join((*path, name)), outcome, detail)


# words of jest's and vitest's JSON -> ours
_STATUS: Mapping[object, Outcome] = {
    "passed": "passed",
    "failed": "failed",
    "pending": "skipped",
    "todo": "skipped",
    "skipped": "skipped",
    "disabled": "skipped",
    "focused": "passed",
}


@dataclass(frozen=True)
class Jest:
    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        node = find_program("node", ground.tools)
        script, binds = node_package("jest", "bin/jest.js", ground.tools)
        files = _files(ground, ids) if ids is not None else []
        if ids is not None and not files:
            return []
        paths = ("--runTestsByPath", *files) if files else ()
        root = ground.seen(WORKSPACE)
        argv = (
            node.path,
            script,
            "--ci",
            "--json",
            "--outputFile={report}",
            "--rootDir",
            root,
            "--cache=false",
            *paths,
        )
        return [Start(Command(argv, binds={**node.binds, **binds}, folders=(node.folder,)), tuple(files), root)]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        if report is None and _nothing_found(result):
            return Said()
        return _suites(report, start.root)


def _nothing_found(result: Result) -> bool:
    """The runner says that its configuration leaves no file to run; that is no broken run."""
    return re.search(rb"(?i)no tests? (?:files? )?found", result.stdout_tail + result.stderr_tail) is not None


@dataclass(frozen=True)
class Vitest:
    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        node = find_program("node", ground.tools)
        script, binds = node_package("vitest", "vitest.mjs", ground.tools)
        files = _files(ground, ids) if ids is not None else []
        if ids is not None and not files:
            return []
        root = ground.seen(WORKSPACE)
        argv = (node.path, script, "run", "--root", root, "--reporter=json", "--outputFile={report}", *files)
        env = {"VITE_CACHE_DIR": "/tmp/vite"}
        return [
            Start(Command(argv, env=env, binds={**node.binds, **binds}, folders=(node.folder,)), tuple(files), root)
        ]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        if report is None and _nothing_found(result):
            return Said()
        return _suites(report, start.root)


def _suites(report: bytes | None, root: str) -> Said:
    """`testResults[].assertionResults[]`; a failed file without rows could not be loaded."""
    said = _object(report)
    files = said.get("testResults") if said is not None else None
    if said is None or not isinstance(files, list):
        return NO_REPORT
    rows: list[Row] = []
    broken: dict[str, str] = {}
    for one in _objects(files):
        file = _relative(str(one.get("name", "")), root)
        found = list(_objects(one.get("assertionResults")))
        if not found and one.get("status") == "failed":
            broken[file] = str(one.get("message", ""))[-DETAIL:]
        for test in found:
            titles = [str(part) for part in cast(list[object], test.get("ancestorTitles") or [])]
            name = " > ".join((file, *(part for part in titles if part), str(test.get("title", ""))))
            detail = "\n".join(str(part) for part in cast(list[object], test.get("failureMessages") or []))[-DETAIL:]
            retried = isinstance(count := test.get("invocations"), int) and count > 1
            rows.append(Row(name, _STATUS.get(test.get("status"), "error"), detail, retried))
    return Said(tuple(rows), broken, forged=counted(rows, said.get("numPassedTests")))


@dataclass(frozen=True)
class Mocha:
    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        node = find_program("node", ground.tools)
        script, binds = node_package("mocha", "bin/mocha.js", ground.tools)
        files = _files(ground, ids) if ids is not None else []
        if ids is not None and not files:
            return []
        root = ground.seen(WORKSPACE)
        argv = (
            node.path,
            script,
            "--reporter",
            "json",
            "--reporter-option",
            "output={report}",
            *(f"./{f}" for f in files),
        )
        return [Start(Command(argv, binds={**node.binds, **binds}, folders=(node.folder,)), tuple(files), root)]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        said = _object(report)
        if said is None:
            return Said() if report is None and _nothing_found(result) else NO_REPORT
        rows = [row for key, outcome in _MOCHA for row in _mocha_rows(said.get(key), outcome, start.root)]
        pending = {row.id for row in rows if row.outcome == "skipped"}
        stats = said.get("stats")
        forged = counted(rows, stats.get("passes") if isinstance(stats, dict) else None)
        return Said(tuple(row for row in rows if row.outcome == "skipped" or row.id not in pending), forged=forged)


_MOCHA: tuple[tuple[str, Outcome], ...] = (("pending", "skipped"), ("failures", "failed"), ("passes", "passed"))


def _mocha_rows(found: object, outcome: Outcome, root: str) -> Iterator[Row]:
    for test in _objects(found):
        error = test.get("err")
        detail = f"{error.get('message', '')}\n{error.get('stack', '')}"[-DETAIL:] if isinstance(error, dict) else ""
        retry = test.get("currentRetry")
        name = f"{_relative(str(test.get('file', '')), root)} > {test.get('fullTitle', '')}"
        yield Row(name, outcome, detail if outcome == "failed" else "", isinstance(retry, int) and retry > 0)


def _relative(path: str, root: str) -> str:
    return path.removeprefix(root).lstrip("/")


def _object(report: bytes | None) -> Mapping[str, object] | None:
    try:
        said = json.loads(report or b"")
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))
