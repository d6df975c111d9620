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
