"""A job's log for reading: stamps off, colours as classes, groups as headings."""

import re
from dataclasses import dataclass

_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z ")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KIND = re.compile(r"^##\[(group|endgroup|error|warning|notice|debug|command)\]")


@dataclass(frozen=True)
class Line:
    """`kind` is what Actions marks a line with (`group`, `error`, ...), or empty."""

    kind: str
    text: str


def log_lines(log: str) -> list[Line]:
    found = []
    for raw in log.splitlines():
        text = _COLOUR.sub("", _STAMP.sub("", raw))
        match = _KIND.match(text)
        found.append(Line(match[1] if match else "", text[match.end() :] if match else text))
    return [line for line in found if line.kind != "endgroup"]
