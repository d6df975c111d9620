"""XCTest under SwiftPM and xcodebuild, xcpretty, xcbeautify, and swift-testing."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_ERROR = re.compile(r"(\S.*?):(\d+): error: (-\[[\w.]+ [\w:]+\]|[\w.]+\.\w+) : (.*)$")
_CASE = re.compile(r"(?:\s*)Test Case '(-\[[\w.]+ [\w:]+\]|[\w.]+\.\w+)' (failed|passed) \(([\d.]+) seconds\)")
_CASE_CLONE = re.compile(r"Test [Cc]ase '(.+?)' failed on '.*' \([\d.]+ seconds\)")
_FAILING = re.compile(r"Failing tests:\s*$")
_LISTED = re.compile(r"\t(\S.*)$|    (\S.*)$")
_PRETTY_HEAD = re.compile(r"([A-Za-z_][\w.]*)$")
_PRETTY = re.compile(r"  (\S.*?), (.*)$")
_PRETTY_PLACE = re.compile(r"  (\S+?):(\d+)$|\s*\x1b?(\S+\.(?:swift|mm?)):(\d+)$")
_ROW = re.compile(r"\s{4}✗ (\w+\S*?), (.*)$|\s*✖ (.+?) (?:on '.*' )?\([\d.]+ seconds\)$")
_SUITE = re.compile(r"(?:Test Suite )?'?([\w.]+)'? (?:started|$)")
_SWIFT = re.compile(r"[✘􀢄❌] Test (?:case passing .*? to )?(\"(?:[^\"\\]|\\.)*\"|[\w`]+\(.*?\)) (?:recorded an issue(?: with .*?)? at (\S+?):(\d+):\d+: (.*)|failed after .*)$")
_EXECUTED = re.compile(r"\s*Executed (\d+) tests?, with (?:\d+ tests? skipped and )?(\d+) failures? \((\d+) unexpected\)")
_SWIFT_TOTAL = re.compile(r"[✘􀢄] Test run with (\d+) tests?.* failed after .* with (\d+) issues?")
_BUNDLE_END = ("** TEST", "** BUILD", "The following build commands", "Testing failed", "Test session results")


class Apple:
    name: ClassVar[str] = "swift-test"
    wakes: ClassVar[tuple[str, ...]] = (
        ": error: -[", " : XCTAssert", "' failed (", "' failed on '", "Failing tests:", "✗ ", "✖ ", " recorded an issue", "failed after", " tests, with ", " test, with ", ": error: ", "Executed ",
    )  # fmt: skip

    def __init__(self) -> None:
        self._list = False
        self._head = ""
        self._found: dict[str, Found] = {}
        self._listed: list[Found] = []
        self._pretty: Found | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._list:
            return self._in_list(line, out)
        if _FAILING.match(text):
            self._list, self._head = True, ""
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
        swift = _SWIFT.match(text)
        if swift:
            name = swift[1].strip('"')
            self._add(Found(name, file=swift[2], line=int(swift[3]) if swift[3] else None, message=swift[4] or "", detail=[text], at=line))
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
        suite = ""
        for above in reversed(out.above(300)):
            if above and not above[0].isspace() and re.fullmatch(r"[A-Za-z_][\w.]*", above.strip()):
                suite = above.strip()
                break
        self._add(Found(f"{suite}.{name}" if suite and "." not in name else name, message=message, detail=[line.text], at=line))

    def _in_list(self, line: Line, out: Sink) -> bool:
        """xcodebuild lists names after a tab; xcpretty prints suites, then `  test, message`, then the place."""
        text = line.text
        if text.startswith(_BUNDLE_END) or line.level is not None:
            self._list = False
            return False
        if not text.strip():
            return True
        listed = _LISTED.match(text)
        if listed:
            name = listed[1] or listed[2]
            if re.match(r"-\[|[\w.]+\.\w+(?:\(\))?$|[\w.]+/", name.strip()):
                self._listed.append(Found(name.strip(), rank=2, at=line))
                return True
        head = _PRETTY_HEAD.match(text)
        if head:
            self._head = head[1]
            return True
        pretty = _PRETTY.match(text)
        if pretty and self._head:
            self._listed.append(Found(f"{self._head}.{pretty[1]}", message=pretty[2], rank=2, at=line))
            return True
        place = _PRETTY_PLACE.match(text)
        if place and self._listed:
            self._listed[-1].file = place[1] or place[3]
            self._listed[-1].line = int(place[2] or place[4])
            return True
        if not text[0].isspace():
            self._list = False
            return False
        return True

    def _pretty_place(self, text: str) -> bool:
        self._pretty = None
        return False
