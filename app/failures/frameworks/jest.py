"""jest: `●` blocks below a `FAIL path` line, suites that fail to run, and the total."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in, same_file

_FILE = re.compile(
    r" ?(FAIL|PASS|RUNS) {1,3}(?:(\S.{0,60}?) {1,3})?((?:\./"
    r"|\.\./)*[\w@./\\+~\[\]() -]*?\.(?:[cm]?[jt]sx?|vue"
    r"|coffee|snap|json|svelte|feature|graphql|md|py))(?: \([\d.]+ ?m?s(?:, .*)?\))?\s*$"
)
_BLOCK = re.compile(r"  ● (\S.*)$")
_NOT_TESTS = (
    "Console",
    "Cannot log after tests are done",
    "Validation Warning",
    "Deprecation Warning",
    "process.exit called",
    "Invalid ",
)
_SUITE = "Test suite failed to run"
_TESTS = re.compile(r"Tests: {1,12}(?:(\d{1,9}) failed, )?(?:\d{1,9} \w+, ){0,6}(\d{1,9}) total")
_ENDS = (
    "Test Suites: ",
    "Summary of all failing tests",
    "Snapshot Summary",
    "Tests: ",
    "Ran all test suites",
    "----------|",
    "-----------------|",
    "Snapshots: ",
)
_RETRY = re.compile(r"  ?LOGGING RETRY ERRORS|  RETRY \d")


class Jest:
    name: ClassVar[str] = "jest"
    wakes: ClassVar[tuple[str, ...]] = (
        "● ",
        "FAIL",
        "Test Suites: ",
        "Tests:  ",
        "Tests:\x1b",
        "Summary of all failing tests",
    )

    def __init__(self) -> None:
        self._path = ""
        self._found: Found | None = None
        self._text = Block()
        self._failed_file = False
        self._orphans: list[Found] = []

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        file = _FILE.match(text) if text[:5].lstrip().startswith(("FAIL", "PASS", "RUNS")) else None
        if file:
            self._close(out)
            self._path, self._failed_file = (file[3], True) if file[1] == "FAIL" else ("", False)
            return self._failed_file
        if text.startswith(_ENDS):
            return self._ends(text, out)
        block = _BLOCK.match(text)
        if block:
            return self._begin(block[1].rstrip(), line, out)
        if self._found is not None:
            if _RETRY.match(text) or (line.level in ("error", "group") and "Process completed" in text):
                self._close(out)
                return False
            self._text.add(text)
        return self._found is not None or self._failed_file

    def end(self, out: Sink) -> None:
        self._close(out)

    def _begin(self, title: str, line: Line, out: Sink) -> bool:
        self._close(out)
        if title.startswith(_NOT_TESTS) or (not self._path and title == _SUITE):
            return self._failed_file
        if not self._failed_file and not self._path and " › " not in title:
            return False  # below no FAIL line only a joined title is surely a test's
        suite = title == _SUITE
        self._found = Found(
            self._path if suite else title, "suite_error" if suite else "fail", at=line, scope=self._path
        )
        self._text = Block()
        return True

    def _ends(self, text: str, out: Sink) -> bool:
        self._close(out)
        self._path, self._failed_file = "", False
        total = _TESTS.match(text)
        if total:
            out.total(None, int(total[2]))
        return False

    def _close(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        found.message = self._text.first()
        places = [place for place in places_in(lines) if "|" not in place.file]
        place = choose(places, test_file=self._path)
        if place and found.kind == "suite_error" and not same_file(place.file, self._path):
            place = None
        if place:
            found.file, found.line = place.file, place.line
        elif self._path:
            found.file = self._path
        out.failure(found)
