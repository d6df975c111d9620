"""JUnit XML (any dialect) and TRX, read element by element with defusedxml; entities and DTDs are refused."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from app.failures.frameworks.detector import Found
from app.failures.model import FailureKind
from app.failures.places import choose, places_in

if TYPE_CHECKING:
    from app.failures.reports import Report

MAX_DEPTH = 64
MAX_CASES = 100_000
_KINDS: dict[str, FailureKind] = {"failure": "fail", "error": "error"}
_FLAKY = ("flakyFailure", "flakyError")
_RERUN = ("rerunFailure", "rerunError")


def read_xml(data: bytes, report: Report) -> str:
    """Put the failing cases into the report; the problem as words, empty when all went well."""
    path: list[str] = []
    suites: list[tuple[str, str]] = []
    cases = 0
    known = False
    try:
        for event, element in _events(data):
            tag = element.tag.rsplit("}", 1)[-1]
            if event == "start":
                path.append(tag)
                if len(path) > MAX_DEPTH:
                    return "nested too deep"
                if tag in ("testsuite", "testsuites"):
                    known = True
                    suites.append((element.get("name") or "", element.get("file") or ""))
                continue
            path.pop()
            if tag == "testcase":
                cases += 1
                known = True
                _case(element, suites, report)
                element.clear()
            elif tag == "UnitTestResult":
                cases += 1
                known = True
                _trx(element, report)
                element.clear()
            elif tag in ("testsuite", "testsuites"):
                _suite(element, suites.pop()[0], report)
                element.clear()
            elif tag not in _PARTS and "testcase" not in path and "UnitTestResult" not in path:
                element.clear()
            if cases > MAX_CASES:
                return f"more than {MAX_CASES} cases, the rest is not read"
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        return f"not well formed ({type(error).__name__})"
    return "" if known else "not a test report"


_PARTS = frozenset(("failure", "error", "system-out", "system-err", "skipped", "message", *_FLAKY, *_RERUN))


def _events(data: bytes) -> Iterator[tuple[str, Element]]:
    yield from iterparse(
        BytesIO(data), events=("start", "end"), forbid_dtd=True, forbid_entities=True, forbid_external=True
    )


def _case(case: Element, suites: list[tuple[str, str]], report: Report) -> None:
    """One `testcase`: `failure` before `error`; flaky elements alone mean that it passed in the end."""
    children = {child.tag.rsplit("}", 1)[-1]: child for child in case}
    name, cls = case.get("name") or "", case.get("classname") or case.get("class") or ""
    test_id = junit_id(name, cls, case.get("file") or (suites[-1][1] if suites else ""))
    if not any(word in children for word in (*_KINDS, *_FLAKY)):
        report.executed += "skipped" not in children and "disabled" not in children
        if "skipped" not in children:
            report.passed.add(test_id)
        return
    report.executed += 1
    word = next((word for word in _KINDS if word in children), "")
    problem = children[word] if word else next(children[word] for word in _FLAKY if word in children)
    text = [problem.text or "", *(children[out].text or "" for out in ("system-out", "system-err") if out in children)]
    found = Found(test_id, _KINDS.get(word, "fail"), rank=2, scope=suites[-1][0] if suites else "", flaky=not word)
    found.message = _message(problem)
    found.detail = "\n".join(reversed(text)).strip().splitlines()
    line = case.get("line") or ""
    found.file, found.line = case.get("file"), int(line) if line.isdigit() else None
    if found.line is None:
        place = choose(places_in((problem.text or "").splitlines()), test_file=found.file or "")
        if place:
            found.file, found.line = place.file, place.line
    report.add(found)


def junit_id(name: str, cls: str, file: str) -> str:
    """The id as the framework prints it: pytest's node id from its dotted class, else class and name."""
    if not cls or name.startswith(cls):
        return name
    if file.endswith(".py"):
        module = file.removesuffix(".py").replace("/", ".").replace("\\", ".")
        rest = cls.removeprefix(module).strip(".").replace(".", "::")
        return "::".join(part for part in (file.replace("\\", "/"), rest, name) if part)
    return f"{cls}.{name}"


def _message(problem: Element) -> str:
    message, kind = (problem.get("message") or "").strip(), (problem.get("type") or "").strip()
    first = next((line.strip() for line in (problem.text or "").splitlines() if line.strip()), "")
    if not message:
        return first or kind
    return f"{kind}: {message}" if kind and kind not in message and first.startswith(kind) else message


def _suite(suite: Element, name: str, report: Report) -> None:
    """A suite-level `error` is one failure whose id is the suite."""
    for child in suite:
        if child.tag.rsplit("}", 1)[-1] == "error":
            found = Found(
                name or "suite", "suite_error", rank=2, message=_message(child), detail=(child.text or "").splitlines()
            )
            report.add(found)


def _trx(result: Element, report: Report) -> None:
    """`UnitTestResult` of TRX (dotnet); from Microsoft's schema, not seen in a real job."""
    outcome, name = result.get("outcome") or "", result.get("testName") or ""
    if outcome in ("Passed", "Failed", "Error", "Timeout", "Aborted"):
        report.executed += 1
    if outcome == "Passed":
        report.passed.add(name)
    if outcome not in ("Failed", "Error", "Timeout", "Aborted") or not name:
        return
    texts = {part.tag.rsplit("}", 1)[-1]: part.text or "" for part in result.iter()}
    lines = texts.get("StackTrace", "").splitlines()
    kinds: dict[str, FailureKind] = {"Timeout": "timeout", "Aborted": "crash", "Error": "error"}
    found = Found(
        name,
        kinds.get(outcome, "fail"),
        rank=2,
        message=texts.get("Message", ""),
        detail=[texts.get("StdOut", ""), texts.get("Message", ""), *lines],
    )
    place = choose(places_in(lines))
    if place:
        found.file, found.line = place.file, place.line
    report.add(found)
