"""Read a report of one JSON object a line."""

import json
from collections.abc import Iterator, Mapping


def json_lines(report: bytes) -> Iterator[Mapping[str, object]]:
    """Its objects in order; lines that are none are skipped."""
    for line in report.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict):
            yield said


def is_foreign(report: bytes) -> bool:
    """Another hand wrote in it: our reporters end with one line that says how many they wrote before it (PG109)."""
    lines = report.splitlines()
    ends = [(n, said) for n, line in enumerate(lines) if b'"complete"' in line for said in json_lines(line)]
    ends = [(n, said) for n, said in ends if "complete" in said]
    return bool(ends) and [(n, said.get("lines")) for n, said in ends] != [(len(lines) - 1, len(lines) - 1)]
