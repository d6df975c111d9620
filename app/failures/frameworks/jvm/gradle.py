"""Gradle's test events (`Class > test FAILED`), TestNG, Spock and Kotlin names, and logger plugins."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.jvm.stack import put_place

_ROW = re.compile(r"(\S.* > .*\S|[\w.$]+(?: > \S.*)?) FAILED(?: \([\d.]+m? ?[\d.]*m?s\))?\s*$")
_TOTAL = re.compile(r"(\d+) tests? completed, (\d+) failed")
_ANSI_TEST = re.compile(r"\s{1,2}(?:Test )(\S.*?) (?:FAILED)(?: \([\d.]+m? ?[\d.]*m?s\))?\s*$")
_NOT = ("> Task ", ":", "BUILD ", "* ", "Execution ")
_LINES = 400


class Gradle:
    name: ClassVar[str] = "gradle"
    wakes: ClassVar[tuple[str, ...]] = (
        " FAILED",
        "\x1b[31mFAILED",
        "tests completed, ",
        "test completed, ",
        "  ✘ ",
        "BUILD SUCCESSFUL",
        "BUILD FAILED in",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._class = ""
        self._lines = 0
        self._own: set[str] = set()
        self._logged: list[Found] = []

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        row = _ROW.match(text) if " FAILED" in text and not text.startswith(_NOT) else None
        if row and self._is_test(row[1]):
            self._store(out)
            name = row[1].removeprefix("Gradle Test Run ").strip()
            parts = name.split(" > ")
            if parts[0].startswith(":"):
                parts = parts[1:]
            if len(parts) > 2 and parts[0].startswith(("Gradle Test Executor", "Gradle suite", "Gradle test")):
                parts = [part for part in parts if not part.startswith("Gradle ")]
            self._begin(Found(" > ".join(parts), at=line), parts[0])
            return True
        logger = _ANSI_TEST.match(text)
        if logger:
            self._store(out)
            test_class = self._class_above(out)
            self._begin(Found(f"{test_class} > {logger[1]}" if test_class else logger[1], rank=0, at=line), test_class)
            return True
        if self._found is not None:
            return self._in_block(line, out)
        total = _TOTAL.match(text)
        if total:
            out.total(int(total[2]), int(total[1]))
        elif text.startswith("BUILD "):
            out.started()
        return False

    def end(self, out: Sink) -> None:
        """Rows of a logger plugin count where Gradle's own row does not repeat them."""
        self._store(out)
        for found in self._logged:
            if not any(found.id.endswith(own) for own in self._own):
                found.rank = 1
                out.failure(found)

    @staticmethod
    def _is_test(name: str) -> bool:
        """Rows without ` > ` count only for a class: a task's name or an application's line is none."""
        return " > " in name and not name.startswith(("> ", "[", "FAILURE"))

    @staticmethod
    def _class_above(out: Sink) -> str:
        """Logger plugins print the class on a line of its own above its tests."""
        for above in out.above(120):
            if above and not above[0].isspace() and re.fullmatch(r"(?:[\w$]+\.)+[A-Z][\w$]*", above.strip()):
                return above.strip()
        return ""

    def _begin(self, found: Found, test_class: str) -> None:
        self._found, self._text, self._class, self._lines = found, Block(), test_class.strip(), 0

    def _in_block(self, line: Line, out: Sink) -> bool:
        """Indented text below the row; blank lines may stand in it."""
        text = line.text
        self._lines += 1
        if line.level is not None or (text.strip() and not text[0].isspace()) or self._lines > _LINES:
            self._store(out)
            return False
        self._text.add(text)
        return True

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail, found.message = lines, self._text.first()
        short = re.search(r" at ([\w$.-]+\.\w+):(\d+)$", found.message)
        put_place(found, lines, self._class.split("[", 1)[0].strip())
        if found.line is None and short:
            found.file, found.line = short[1], int(short[2])
        if found.rank == 0:
            self._logged.append(found)
            return
        self._own.add(found.id)
        out.failure(found)
