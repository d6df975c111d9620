"""XCTest under SwiftPM and xcodebuild, xcpretty, xcbeautify, and swift-testing."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_ERROR = re.compile(r"(\S.*?):(\d+): error: (-\[[\w.]+ [\w:]+\]|[\w.]+\.\w+) : (.*)$")
_CASE = re.compile(r"(?:\s*)Test Case '(-\[[\w.]+ [\w:]+\]|[\w.]+\.\w+)' (failed|passed) \(([\d.]+) seconds\)")
_CASE_CLONE = re.compile(r"Test [Cc]ase '(.+?)' failed on '.*' \([\d.]+ seconds\)")
_FAILING = re.compile(r"Failing tests:\s*$")
_LISTED = re.compile(r"\s+(-\[[\w.]+ [^\]]+\]|[\w.]+(?:\.|/)\w+(?:\(\))?)(?: \(.*\))?\s*$")
_PRETTY_PLACE = re.compile(r"  (/?\S+?\.\w+):(\d+)$")
_ROW = re.compile(r"\s{2,4}[✗✖] (\w\S*?), (.*)$|\s*✖ (.+?) (?:on '.*' )?\([\d.]+ seconds\)$")
_SUMMARY_ROW = re.compile(r"  (\w+), (\S.*)$")
_SUITE = re.compile(r"(?:Test Suite )?'?((?:\w+\.)?[A-Z]\w*)'?(?: started.*)?$")
_SWIFT = re.compile(
    r"[✘􀢄❌] Test (?:case passing .*? to )?(\"(?:[^\"\\]|\\.)*\""
    r"|[\w`]+\(.*?\)) (?:recorded an issue(?: with .*?)? at (\S+?):(\d+):\d+: (.*)"
    r"|failed after .*)$"
)
_EXECUTED = re.compile(
    r"\s*Executed (\d+) tests?, with (?:\d+ tests? skipped and )?(\d+) failures? \((\d+) unexpected\)"
)
_BUNDLE_END = ("** TEST", "** BUILD", "The following build commands", "Testing failed", "Test session results")


class Apple:
    name: ClassVar[str] = "swift-test"
    wakes: ClassVar[tuple[str, ...]] = (
        ": error: -[",
        " : XCTAssert",
        "' failed (",
        "' failed on '",
        "Failing tests:",
        "✗ ",
        "✖ ",
        " recorded an issue",
        "failed after",
        " tests, with ",
        " test, with ",
        ": error: ",
        ", XCT",
        ", \x1b[31m",
    )

    def __init__(self) -> None:
        self._list = False
        self._found: dict[str, Found] = {}
        self._listed: list[Found] = []
        self._pretty: Found | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._list:
            return self._in_list(line, out)
        if _FAILING.match(text):
            self._list = True
            return True
        error = _ERROR.match(text) if ": error: " in text else None
        if error:
            self._add(Found(error[3], file=error[1], line=int(error[2]), message=error[4], detail=[text], at=line))
            return False
        case = _CASE.match(text) or _CASE_CLONE.match(text)
        if case:
            if " failed" in text:
                self._add(Found(case[1], rank=0, at=line))
            return False
        if self._pretty is not None:
            return self._pretty_place(text)
        row = _ROW.match(text) if text[:1].isspace() else None
        if row:
            self._row(row, line, out)
            return False
        pretty = _SUMMARY_ROW.match(text) if ", " in text else None
        if pretty:
            return self._summary(pretty, line, out)
        swift = _SWIFT.match(text)
        if swift:
            name = swift[1].strip('"')
            self._add(
                Found(
                    name,
                    file=swift[2],
                    line=int(swift[3]) if swift[3] else None,
                    message=swift[4] or "",
                    detail=[text],
                    at=line,
                )
            )
            return False
        total = _EXECUTED.match(text)
        if total:
            out.started()
        return False

    def end(self, out: Sink) -> None:
        """The list of failing tests gives the names; the rows above give message and place."""
        xcode = bool(self._listed)
        names = {self._key(found.id) for found in self._listed}
        for found in self._listed:
            row = self._found.get(self._key(found.id))
            if row:
                found.file, found.line = found.file or row.file, found.line or row.line
                found.message = row.message or found.message
                found.detail = row.detail or found.detail
        rest = [found for key, found in self._found.items() if key not in names and (not names or found.rank > 0)]
        for found in [*self._listed, *rest]:
            found.framework = "xctest-xcpretty" if xcode else ""
            out.failure(found)
        self._listed, self._found = [], {}

    def _add(self, found: Found) -> None:
        key = self._key(found.id)
        known = self._found.get(key)
        if known is None or (known.rank == 0 and found.rank > 0):
            self._found[key] = found
        elif found.rank > 0:
            known.detail = [*known.detail, *found.detail][:200]

    @staticmethod
    def _key(name: str) -> str:
        """`-[Module.Class test]`, `Class.test()` and `Module.Class.test` fold to `class.test`."""
        words = re.findall(r"[^\s\[\].()-]+", name)
        return ".".join(words[-2:]).lower()

    def _row(self, row: re.Match[str], line: Line, out: Sink) -> None:
        """`    ✗ test, message` below its suite."""
        name, message = (row[1], row[2]) if row[1] else (row[3], "")
        suite = self._suite(out)
        self._add(
            Found(
                f"{suite}.{name}" if suite and "." not in name else name, message=message, detail=[line.text], at=line
            )
        )

    def _summary(self, row: re.Match[str], line: Line, out: Sink) -> bool:
        """xcpretty's summary: the suite, then `  test, message`, then the place."""
        self._pretty = self._found.get(self._key(f"{self._suite(out)}.{row[1]}"))
        return self._pretty is not None

    @staticmethod
    def _suite(out: Sink) -> str:
        """The nearest suite above: a name alone on its line, or `Test Suite name started`."""
        found = (_SUITE.match(above.rstrip()) for above in out.above(300) if above)
        return next((suite[1] for suite in found if suite), "")

    def _in_list(self, line: Line, out: Sink) -> bool:
        """xcodebuild lists names below `Failing tests:`, each after a tab or blanks, below their bundle."""
        text = line.text
        if text.startswith(_BUNDLE_END) or line.level is not None:
            self._list = False
            return False
        listed = _LISTED.match(text)
        if listed:
            self._listed.append(Found(listed[1], rank=2, at=line))
        elif text.strip() and not text[0].isspace():
            self._list = False
        return self._list

    def _pretty_place(self, text: str) -> bool:
        """The place stands on one of the next lines of xcpretty's summary."""
        place = _PRETTY_PLACE.match(text)
        if place and self._pretty is not None:
            self._pretty.file, self._pretty.line = place[1], int(place[2])
        if place or (text.strip() and not text.startswith("  ")):
            self._pretty = None
        return self._pretty is not None
