"""clojure.test under Leiningen and others: `FAIL in (test) (file:line)`."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink

_ROW = re.compile(r"(FAIL|ERROR) in (?:\((.*?)\)|(\S+)) \((.*?):(\d+)\)")
_TOTAL = re.compile(r"(\d+) failures, (\d+) errors\.")
_RAN = re.compile(r"Ran (\d+) tests containing ")
_NAMESPACE = re.compile(r"(?:lein test |Testing )(\S+)$")


class Clojure:
    name: ClassVar[str] = "clojure-test"
    wakes: ClassVar[tuple[str, ...]] = ("FAIL in ", "ERROR in ", " tests containing ")

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        row = _ROW.match(text)
        if row:
            self._store(out)
            spaces = (found[1] for found in map(_NAMESPACE.match, out.above(200)) if found)
            name = (row[2] or row[3]).split()[0] if row[2] or row[3] else ""
            self._found = Found(name, "fail" if row[1] == "FAIL" else "error", file=row[4], line=int(row[5]), at=line)
            self._found.scope, self._text = next(spaces, ""), Block()
            return True
        if _RAN.match(text):
            self._store(out)
            return True
        total = _TOTAL.match(text)
        if total:
            out.total(int(total[1]) + int(total[2]))
            return False
        if self._found is None or line.level is not None or not text.strip():
            self._store(out)
            return False
        self._text.add(text)
        return True

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is not None:
            lines = self._text.lines
            actual = next((text.strip() for text in lines if text.strip().startswith("actual:")), "")
            found.detail, found.message = lines, actual or self._text.first()
            out.failure(found)
