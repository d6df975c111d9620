"""Robot Framework, behave and Cucumber: rows with FAIL and lists of failing scenarios."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_ROBOT = re.compile(r"(\S.*)\| FAIL \|\s*$")
_ROBOT_RULE = re.compile(r"[=-]{70,}\s*$")
_ROBOT_TOTAL = re.compile(r"(\d+) (?:critical )?tests?, (\d+) passed, (\d+) failed")
_LIST = re.compile(r"(?:Failing scenarios|Failed scenarios|Errored scenarios):\s*$")
_BEHAVE = re.compile(r"\s+(\S+\.feature):(\d+) {1,2}(\S.*)$")
_CUCUMBER = re.compile(
    r"(?:cucumber )?(?:-p \S+ )?(\S+\.feature):(\d+) # (?:Scenario(?: Outline)?: |Example: )?(\S.*)$"
)
_JVM = re.compile(
    r"(?:file:(?://)?|classpath:)?(\S+\.feature):(\d+) *# ?(?:Scenario(?: Outline)?: )?(\S.*)$"
    r"|(?:file:|classpath:)(\S+\.feature):(\d+)$"
)
_JS = re.compile(r"\d+\) Scenario: (\S.*?)(?: \(attempt \d+\))? # (\S+\.feature):(\d+)$")
_ERROR = re.compile(r"\s*(?:Assertion Failed: |Traceback|[\w.]*(?:Error|Exception)\b)")


class Robot:
    name: ClassVar[str] = "robotframework"
    wakes: ClassVar[tuple[str, ...]] = ("| FAIL |", "| \x1b[31mFAIL", " tests, ", " test, ")

    def __init__(self) -> None:
        self._found: list[Found] = []
        self._message = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        row = _ROBOT.match(text)
        if row:
            self._found.append(Found(row[1].split(" :: ")[0].rstrip(), at=line))
            self._message = True
            return True
        if self._message:
            if _ROBOT_RULE.match(text):
                self._message = False
                return False
            found = self._found[-1]
            if _ROBOT_TOTAL.match(text) or re.match(r"\d+ tests?, ", text):
                self._found.pop()  # the row of a suite, not of a test
                self._message = False
                return False
            found.message = found.message or text.strip()
            found.detail = [*found.detail, text][:100]
            return True
        return False

    def end(self, out: Sink) -> None:
        for found in self._found:
            out.started()
            out.failure(found)
        self._found = []


class Scenarios:
    """behave and Cucumber (Ruby, JVM, JS)."""

    name: ClassVar[str] = "behave"
    wakes: ClassVar[tuple[str, ...]] = (
        "ailing scenarios:",
        "ailed scenarios:",
        "rrored scenarios:",
        ") Scenario: ",
        "# Scenario: ",
    )

    def __init__(self) -> None:
        self._list = False
        self._js: Found | None = None

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        js = _JS.match(text)
        if js:
            self._store(out)
            self._js = Found(js[1], file=js[2], line=int(js[3]), at=line, framework="cucumber")
            return True
        if self._js is not None:
            if text.strip() and not text.startswith(" "):
                self._store(out)
                return False
            if not self._js.message and _ERROR.match(text):
                self._js.message = text.strip()
            self._js.detail = [*self._js.detail, text][:200]
            return True
        if _LIST.match(text):
            self._list = True
            return True
        row = _BEHAVE.match(text) if self._list else None
        cucumber = _CUCUMBER.match(text.strip()) if row is None else None
        jvm = _JVM.match(text.strip()) if self._list and row is None and cucumber is None else None
        if row:
            out.started()
            out.failure(Found(row[3].strip(), file=row[1], line=int(row[2]), rank=2))
        elif cucumber:
            out.started("cucumber")
            out.failure(
                Found(cucumber[3].strip(), file=cucumber[1], line=int(cucumber[2]), rank=2, framework="cucumber")
            )
        elif jvm and jvm[3]:
            out.failure(Found(jvm[3].strip(), file=jvm[1], line=int(jvm[2]), rank=2, framework="cucumber"))
        else:
            self._list = False
        return self._list

    def end(self, out: Sink) -> None:
        self._store(out)

    def _store(self, out: Sink) -> None:
        found, self._js = self._js, None
        if found is not None:
            out.failure(found)
