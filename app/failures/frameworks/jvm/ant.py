"""Ant's junit task (plain and brief formatters) and JUnit's ConsoleLauncher."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.jvm.stack import put_place

_TASK = re.compile(r"\s*\[(?:junit\w*|testng|exec|java|au:\w+)\] ?")
_LAUNCHED_SUITE = re.compile(r"Testcase: ([\w.$]+)$")
_LAUNCHER = re.compile(r"Test: (\S.*?) took [\d.,]+ (?:milli )?sec\(s\) (FAILED|ABORTED): ?(.*)$")
_RESULT = re.compile(r"\t?\s*(FAILED|Caused an ERROR)\s*$")
_CASE_FULL = re.compile(r"Testcase: (.+?)(?::\t|\t| took [\d.,]+ sec)\s*(FAILED|Caused an ERROR)?\s*$")
_LIST = re.compile(r"Failures \((\d+)\):\s*$")
_ENGINE = re.compile(r"(?:JUnit Jupiter|JUnit Vintage|JUnit Platform Suite|[\w ]+ \(.*\)):(.+)$")
_PLACE = re.compile(r"\s+(?:MethodSource|ClassSource) \[(.*)\]")
_LAUNCHED = re.compile(r"\[ +(\d+) tests (failed|successful) +\]")


class Ant:
    name: ClassVar[str] = "ant-junit"
    wakes: ClassVar[tuple[str, ...]] = (
        "Testcase: ",
        "sec(s) FAILED",
        "Failures (",
        " tests failed ",
        "Test run finished after",
        "[junit] Tests run:",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._suite = ""
        self._waiting = ""
        self._list = False
        self._lines = 0

    def feed(self, line: Line, out: Sink) -> bool:
        task = _TASK.match(line.text)
        text = line.text[task.end() :] if task else line.text
        case = _CASE_FULL.match(text) if text.startswith("Testcase: ") else None
        if case:
            self._store(out)
            self._suite = self._suite_above(out) or self._suite
            if case[2]:
                self._begin(case[1].strip(), case[2], line)
            else:
                self._waiting = case[1].strip()
            return True
        launcher = _LAUNCHER.match(text) if text.startswith("Test: ") else None
        if launcher and launcher[2] == "FAILED":
            self._store(out)
            suites = (found[1] for found in map(_LAUNCHED_SUITE.match, out.above(200)) if found)
            self._suite = next(suites, self._suite)
            self._begin(launcher[1], "FAILED", line)
            self._text.add(launcher[3])
            return True
        if self._waiting:
            result = _RESULT.match(text)
            if result:
                self._begin(self._waiting, result[1], line)
                self._waiting = ""
                return True
            self._waiting = ""
            return False
        listed = _LIST.match(text)
        if listed:
            self._list = True
            return True
        if self._list:
            return self._in_list(text, line, out)
        if self._found is not None:
            return self._in_block(text, out)
        launched = _LAUNCHED.match(text.strip())
        if launched and launched[2] == "failed":
            out.started()
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    @staticmethod
    def _suite_above(out: Sink) -> str:
        for above in out.above(400):
            at = above.find("Testsuite: ")
            if at >= 0:
                return above[at + 11 :].split()[0] if above[at + 11 :].split() else ""
        return ""

    def _begin(self, name: str, word: str, line: Line) -> None:
        self._found = Found(name, "fail" if word == "FAILED" else "error", at=line, scope=self._suite)
        self._text, self._lines = Block(), 0

    def _in_block(self, text: str, out: Sink) -> bool:
        self._lines += 1
        blank_after_frames = not text.strip() and any(line.lstrip().startswith("at ") for line in self._text.lines[-3:])
        if text.startswith(("Testcase: ", "Testsuite: ", "Tests run:")) or blank_after_frames or self._lines > 300:
            self._store(out)
            return False
        self._text.add(text)
        return True

    def _in_list(self, text: str, line: Line, out: Sink) -> bool:
        """`  JUnit Jupiter:Class:method()`, then source, exception and frames, each deeper."""
        if not text.strip():
            return True
        depth = len(text) - len(text.lstrip())
        if text.startswith("Test run finished") or (depth == 0 and not text.startswith("\t")):
            self._store(out)
            self._list = False
            return False
        if depth <= 2 and not text.startswith("\t"):
            self._store(out)
            engine = _ENGINE.match(text.strip())
            self._found, self._text = Found((engine[1] if engine else text.strip()), at=line), Block()
        elif self._found is not None:
            self._text.add(text)
        return True

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        errors = [text.strip() for text in lines if text.strip() and not _PLACE.match(text)]
        found.detail = lines
        found.message = errors[0].removeprefix("=> ") if errors else ""
        test_class = found.id.split("(")[-1].rstrip(")") if "(" in found.id and not found.id.endswith("()") else ""
        put_place(
            found, [text.replace("[...]", "") for text in lines], test_class or self._suite or found.id.split(":")[0]
        )
        out.failure(found)
