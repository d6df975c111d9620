"""Cut go's output into pieces: which lines belong to which test, the message, the place, the test of a stack."""

import re
from collections.abc import Iterable

from app.failures.frameworks.detector import Found

_MARK = re.compile(r"\s*(?:===|---) +(RUN|CONT|NAME|PAUSE|PASS|FAIL|SKIP):? +(\S+)")
_PLACE = re.compile(r"\s*(?:\S+: )?([^\s:]+\.go):(\d+): ?(.*)")
_FIELD = re.compile(r"\s+(Error Trace|Error|Messages|Test):\s*(.*)")
_TRACE = re.compile(r"\s*([^\s:]+\.go):(\d+)")
_STACK_PLACE = re.compile(r"\t([^\s:]+_test\.go):(\d+)")
_RUNNING = re.compile(r"\s+((?:Test|Example|Fuzz|Benchmark)\S*) \([^)]*\)$")
_STACK_TEST = re.compile(r"\S*?\.((?:Test|Fuzz|Example|Benchmark)(?:[A-Z_]\w*)?)(?:\.func[\d.]+)*\(")


def segments(lines: Iterable[str]) -> dict[str, list[str]]:
    """Output lines of -v by the test that printed them, as the RUN, CONT and NAME markers say."""
    found: dict[str, list[str]] = {}
    name = ""
    for text in lines:
        mark = _MARK.match(text)
        if mark:
            name = mark[2] if mark[1] in ("RUN", "CONT", "NAME") else ""
        elif name:
            found.setdefault(name, []).append(text)
    return found


def fill(found: Found) -> None:
    """Message and place: testify's fields, else the first `file.go:12: text`, else the panic."""
    lines = list(found.detail)
    fields = {}
    for at, text in enumerate(lines):
        field = _FIELD.match(text)
        if field and field[1] not in fields:
            value = field[2] or (lines[at + 1].strip() if at + 1 < len(lines) else "")
            fields[field[1]] = value
    first = next(filter(None, map(_PLACE.match, lines)), None)
    if found.line is None:
        trace = _TRACE.match(fields.get("Error Trace", ""))
        stack = next(filter(None, map(_STACK_PLACE.match, lines)), None)
        place = trace or (first if first and not (found.kind == "crash" and stack) else None) or stack
        if place:
            found.file, found.line = place[1], int(place[2])
    if not found.message:
        text = fields.get("Error", "") or (first[3] if first else "")
        found.message = text or next((line.strip() for line in lines if line.strip()), "")


def test_of_stack(lines: list[str]) -> list[str]:
    """Tests that a panic names: the list below "running tests:", else the first test function in the stack."""
    running = []
    for at, text in enumerate(lines):
        if text.strip() == "running tests:":
            for below in lines[at + 1 :]:
                row = _RUNNING.match(below)
                if row is None:
                    break
                running.append(row[1])
            break
    if running:
        return running
    found = next(filter(None, map(_STACK_TEST.match, lines)), None)
    return [found[1]] if found else []
