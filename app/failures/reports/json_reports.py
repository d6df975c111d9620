"""JSON reports: CTRF, jest `--json`, mocha's json reporter, `go test -json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found
from app.failures.frameworks.go.text import fill
from app.failures.places import choose, places_in

if TYPE_CHECKING:
    from app.failures.reports import Report

MAX_CASES = 100_000
Json = Mapping[str, object]


def read_json(data: bytes, report: Report) -> str:
    """Put the failing tests into the report; the problem as words, empty when all went well."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return _go_rows(text, report)
    if not isinstance(root, dict):
        return "not a test report"
    for reads in (_ctrf, _jest, _mocha):
        if reads(root, report):
            return ""
    return _go_rows(text, report)


def _ctrf(root: Json, report: Report) -> bool:
    """`results.tests[]` of CTRF; from its schema, not seen in a real job."""
    results = root.get("results")
    tests = results.get("tests") if isinstance(results, dict) else None
    if not isinstance(tests, list):
        return False
    for test in _objects(tests):
        name, suite = _text(test.get("name")), test.get("suite")
        test_id = " ".join([*(suite if isinstance(suite, list) else [_text(suite)]), name]).strip() if suite else name
        status = test.get("status")
        report.executed += status in ("passed", "failed")
        flaky = test.get("flaky") is True
        if status == "passed" and not flaky:
            report.passed.add(test_id)
        if status != "failed" and not flaky:
            continue
        lines = _text(test.get("trace")).splitlines()
        found = Found(
            test_id, rank=2, message=_text(test.get("message")), detail=lines, flaky=flaky and status != "failed"
        )
        line = test.get("line")
        found.file, found.line = _text(test.get("filePath")) or None, line if isinstance(line, int) else None
        _add(found, lines, report)
    return True


def _jest(root: Json, report: Report) -> bool:
    """jest's and vitest's `testResults[].assertionResults[]`; a suite without tests that failed is one failure."""
    suites = root.get("testResults")
    if not isinstance(suites, list) or "numTotalTests" not in root:
        return False
    for suite in _objects(suites):
        file, tests = _text(suite.get("name")), suite.get("assertionResults")
        rows = list(_objects(tests)) if isinstance(tests, list) else []
        if not rows and suite.get("status") == "failed":
            _add(
                Found(file, "suite_error", file=file, rank=2, message=_first(_text(suite.get("message")))),
                _text(suite.get("message")).splitlines(),
                report,
            )
        for row in rows:
            titles = row.get("ancestorTitles")
            test_id = " › ".join([*(map(str, titles) if isinstance(titles, list) else []), _text(row.get("title"))])
            status = row.get("status")
            report.executed += status in ("passed", "failed")
            if status == "passed":
                report.passed.add(test_id)
            elif status == "failed":
                messages = row.get("failureMessages")
                lines = "\n".join(map(str, messages)).splitlines() if isinstance(messages, list) else []
                _add(Found(test_id, file=file, scope=file, rank=2, message=_first("\n".join(lines))), lines, report)
    return True


def _mocha(root: Json, report: Report) -> bool:
    """mocha's `failures[]` with `fullTitle` and `err`."""
    failures, stats = root.get("failures"), root.get("stats")
    if not isinstance(failures, list) or not isinstance(stats, dict):
        return False
    passes = root.get("passes")
    for test in _objects(passes if isinstance(passes, list) else []):
        report.passed.add(_text(test.get("fullTitle")))
        report.executed += 1
    for test in _objects(failures):
        report.executed += 1
        error = test.get("err")
        stack = _text(error.get("stack")) if isinstance(error, dict) else ""
        message = _text(error.get("message")) if isinstance(error, dict) else ""
        _add(
            Found(
                _text(test.get("fullTitle")),
                file=_text(test.get("file")) or None,
                rank=2,
                message=_first(stack) or message,
            ),
            stack.splitlines(),
            report,
        )
    return True


def _go_rows(text: str, report: Report) -> str:
    """`go test -json`: one object a line; the last result of a test counts."""
    output: dict[tuple[str, str], Block] = {}
    results: dict[tuple[str, str], str] = {}
    seen = False
    for line in text.splitlines():
        row = _row(line)
        if row is None:
            continue
        seen = True
        key = (_text(row.get("Package")), _text(row.get("Test")))
        if row["Action"] == "output":
            output.setdefault(key, Block()).add(_text(row.get("Output")).rstrip("\n"))
        elif row["Action"] in ("pass", "fail") and key[1] and len(results) < MAX_CASES:
            report.executed += 1
            results[key] = str(row["Action"])
    failing = {key for key, result in results.items() if result == "fail"}
    for scope, test in results:
        if (scope, test) not in failing:
            report.passed.add(test)
        elif not any(other[0] == scope and other[1].startswith(test + "/") for other in failing):
            lines = [
                line for line in output.get((scope, test), Block()) if not line.lstrip().startswith(("=== ", "--- "))
            ]
            found = Found(test, scope=scope, rank=2, detail=lines)
            fill(found)
            _add(found, lines, report)
    return "" if seen else "not a test report"


def _row(line: str) -> Json | None:
    if not line.startswith("{"):
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("Action"), str) else None


def _add(found: Found, lines: list[str], report: Report) -> None:
    if not found.id:
        return
    found.detail = lines
    if found.line is None:
        place = choose(places_in(lines), test_file=found.file or "")
        if place:
            found.file, found.line = place.file, place.line
    report.add(found)


def _objects(items: list[object]) -> Iterator[Json]:
    yield from (item for item in items[:MAX_CASES] if isinstance(item, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
