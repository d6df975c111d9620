"""vitest: `FAIL` lines of the sections Failed Tests and Failed Suites; rows of the tree for logs that end early."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import Place, choose, places_in

_SECTION = re.compile(
    r"\s*⎯+ ?(Failed Tests|Failed Suites|Unhandled Errors?|Unhandled Rejection"
    r"|Uncaught Exception|Startup Error|Unhandled Source Errors|Typecheck Error) ?(\d*) ?⎯*"
)
_FAIL = re.compile(r"\s?(?:FAIL|❌) +(\S.*?)\s*$")
_PROJECT = re.compile(r"\|[^|]{1,60}\| |(?![\w./@-]*\.[cm]?[jt]sx?\b)[\w@:()/-]{1,60} +(?=[\w./@-]+\.\w+)")
_SUITE = re.compile(r"(.+?) \[ (.+) \]$")
_RULE = re.compile(r"\s*⎯{5,}")
_TREE_FILE = re.compile(r"\s[❯×✗] (?:\|.{1,60}\| |[\w-]+ )?(\S+\.\w+) \(\d+ tests?(?: \|.*)?\)")
_TREE_ROW = re.compile(r"(\s+)[×✗] (\S.*?)(?: \d+ ?ms| \d+\.\d+s)?(?: \(retry x\d+\)| \(\d+ ?ms\))?\s*$")
_TOTAL = re.compile(r"\s+Tests  +(?:(\d+) failed)?.*\((\d+)\)")
_ENDS = re.compile(r"\s*(?:Test Files  |Snapshots  |Tests  |Start at  )")


class Vitest:
    name: ClassVar[str] = "vitest"
    wakes: ClassVar[tuple[str, ...]] = (
        "Failed Tests",
        "Failed Suites",
        "Unhandled ",
        " × ",
        "\x1b[31m×",
        "Test Files ",
        "      Tests ",
        "Tests \x1b",
    )

    def __init__(self) -> None:
        self._in: str = ""
        self._pending: list[Found] = []
        self._text = Block()
        self._rows: list[Found] = []
        self._sections = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        section = _SECTION.match(text) if "⎯" in text else None
        if section:
            self._close(out)
            self._in = section[1]
            if self._in.startswith("Failed"):
                self._sections = True
                out.started()
            elif self._in.startswith(("Unhandled", "Uncaught")):
                out.cause("test_error", text.strip(" ⎯"))
            return self._in.startswith("Failed")
        if self._in.startswith("Failed"):
            return self._in_section(line, out)
        total = _TOTAL.match(text)
        if total:
            out.total(int(total[1] or 0), int(total[2]))
        elif text.startswith(" Test Files ") and not self._sections:
            out.started()
        elif "×" in text:
            self._tree(text, line, out)
        return False

    def end(self, out: Sink) -> None:
        self._close(out)
        for found in [] if self._sections else self._rows:
            out.failure(found)

    def _in_section(self, line: Line, out: Sink) -> bool:
        text = line.text
        fail = _FAIL.match(text)
        if fail and text.lstrip().startswith("FAIL"):
            if self._text:
                self._close(out)
            title = fail[1]
            project = _PROJECT.match(title)
            title = title[project.end() :] if project else title
            suite = _SUITE.match(title)
            path = suite[1] if suite else title.split(" > ", 1)[0]
            found = Found(
                suite[1] if suite else title,
                "suite_error" if suite or self._in == "Failed Suites" else "fail",
                at=line,
                file=path,
            )
            self._pending.append(found)
            return True
        if _ENDS.match(text) or line.level == "error":
            self._close(out)
            self._in = ""
            return False
        if _RULE.match(text):
            self._close(out)
        elif self._pending and (text.strip() or self._text):
            self._text.add(text)
        return True

    def _tree(self, text: str, line: Line, out: Sink) -> None:
        """`  × name 5ms` below ` ❯ file (3 tests | 1 failed)`; counts only where the blocks are missing."""
        row = _TREE_ROW.match(text)
        if row is None or "⎯" in text:
            return
        file, names, indent = "", [row[2]], len(row[1])
        for above in out.above(200):
            head = _TREE_FILE.match(above)
            if head:
                file = head[1]
                break
            depth = len(above) - len(above.lstrip())
            if 1 < depth < indent and above.lstrip()[:2] in ("❯ ", "× ", "✓ ", "▼ "):
                names.insert(0, re.sub(r" \d+ ?ms$| \(\d+ tests?.*\)$", "", above.lstrip()[2:]).strip())
                indent = depth
        path_row = re.match(r"(\S+\.[cm]?[jt]sx?) > ", row[2])
        if file or path_row:
            title = row[2] if path_row else " > ".join([file, *names])
            self._rows.append(Found(title, rank=0, file=file or (path_row[1] if path_row else None), at=line))

    def _close(self, out: Sink) -> None:
        """All `FAIL` lines that stand together share the text below them."""
        lines = self._text.lines
        places = [
            Place(place.file, place.line) for place in places_in(line for line in lines if "❯" in line)
        ] or places_in(lines)
        for found in self._pending:
            found.detail, found.message = lines, self._text.first()
            place = choose(places, test_file=found.file or "")
            if place:
                found.file, found.line = place.file, place.line
            out.failure(found)
        self._pending, self._text = [], Block()
