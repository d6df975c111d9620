"""Rows below a header with the file, or below their message: eslint, rustc, pydocstyle, phpstan, formatters."""

import re
from itertools import pairwise

from app.failures.frameworks.detector import Sink
from app.failures.frameworks.rows.tools import severity_of, tool_of
from app.failures.model import Diagnostic

_STYLISH = re.compile(
    r"\s+(\d+):(\d+)  *(?:(error|warning|info|notice|✖|×|⚠|ℹ)) +(\S.*?)(?: {2,}(\S+)(?: +remark-lint)?)?\s*$"
)
_REMARK = re.compile(r"\s+(\d+):(\d+)(?:-\d+:\d+)?\s+(error|warning)\s+(\S.*?)\s+([\w-]+)\s+remark-lint\s*$")
_FILE = re.compile(r"\s{0,2}((?:[A-Za-z]:)?[\w@./\\+~()\[\] -]*[\w)\]]\.?[\w-]*)\s*$")
_ARROW = re.compile(r"\s*(?:-+>|└─) (.+?):(\d+)(?::(\d+))?(?:: .*)?\s*$")
_RUST = re.compile(r"\s*(error|warning)(?:\[(\w+)\])?: (.*)$")
_RUFF = re.compile(r"([A-Z]{1,4}\d{3,4})(?: \[\*\])? (\S.*)$")
_CROSSED = re.compile(r"\s+(✖|⚠|×) +(\d+):(\d+)  *(\S.*?)(?: {2,}(\S+))?\s*$")
_SHELLCHECK = re.compile(r"In (\S+) line (\d+):$")
_SHELLCHECK_ROW = re.compile(r"\s*\^-+\^? (SC\d+)(?: \((\w+)\))?: (.*)$")
_REEK = re.compile(r"(\S+\.rb) -- \d+ warnings?:$")
_REEK_ROW = re.compile(r"\s+\[(\d+)(?:, \d+)*\]:(\w+): (.*?)(?: \[https?:.*\])?$")
_BRAKEMAN = re.compile(r"File: (\S+)$")
_BRAKEMAN_ROW = re.compile(r"Line: (\d+)$")
_PYDOC = re.compile(r"(\S+\.pyi?):(\d+) (?:at|in) (?:module|public|private|nested).*:$")
_PYDOC_ROW = re.compile(r"\s+(D\d{3}): (.*)$")
_PHPSTAN_HEAD = re.compile(r"\s+Line\s{2,}(\S.*?)(?: \(in context of .*\))?\s*$")
_PHPSTAN_ROW = re.compile(r"\s{1,4}(:?\d+)\s{2,}(\S.*)$")
_PHPCS_HEAD = re.compile(r"FILE: (\S.*)$")
_PHPCS_ROW = re.compile(r"\s*(\d+) \| (ERROR|WARNING)\s*\| (?:\[.\] )?(.*)$")
_UNFORMATTED = re.compile(
    r"(?:> )?(The following files had format violations:|.*[Tt]he following files are not formatted.*:)"
)
_NAME = re.compile(r"\s+(?:[*•-] )?\"?([\w@./\\+~-]*\.[\w-]+)\"?\s*$")
_DIFF = re.compile(r"--- (\S+)(?:\t.*)?$")
_FORMAT_TOTAL = re.compile(r"\d+ files? would be reformatted")
_HEADS = (
    ("pydoc", ".py", _PYDOC),
    ("phpstan", "Line ", _PHPSTAN_HEAD),
    ("phpcs", "FILE: ", _PHPCS_HEAD),
    ("shellcheck", " line ", _SHELLCHECK),
    ("reek", " -- ", _REEK),
    ("brakeman", "File: ", _BRAKEMAN),
    ("format", "following files", _UNFORMATTED),
)
_LIMIT = 400


class Headers:
    """Remembers the header that the next rows belong to."""

    def __init__(self) -> None:
        self._file = ""
        self._mode = ""
        self._lines = 0
        self._readers = {
            "pydoc": self._pydoc,
            "phpstan": self._phpstan,
            "phpcs": self._phpcs,
            "format": self._format,
            "shellcheck": self._shellcheck,
            "reek": self._reek,
            "brakeman": self._brakeman,
        }

    def feed(self, text: str, out: Sink) -> tuple[bool, list[Diagnostic]]:
        """Whether the next line is wanted, and the rows of this line."""
        self._lines += 1
        if self._mode and self._lines > _LIMIT:
            self._mode = ""
        arrow = _ARROW.match(text) if "-> " in text or "└─ " in text else None
        if arrow:
            return self._arrow(arrow, out)
        crossed = _CROSSED.match(text) if "✖" in text or "⚠" in text or "×" in text else None
        if crossed:
            return self._crossed(crossed, out)
        stylish = (_REMARK.match(text) or _STYLISH.match(text)) if text[:1].isspace() and ":" in text else None
        if stylish:
            return self._stylish(stylish, out)
        read = self._readers.get(self._mode)
        rows = read(text) if read else None
        if rows is not None:
            return True, rows
        if "would be reformatted" in text and _FORMAT_TOTAL.match(text):
            above = [*out.above(400)][::-1]
            diffs = [_DIFF.match(line) for line, below in pairwise(above) if below.startswith("+++ ")]
            return False, [Diagnostic(text.strip(), diff[1], None, None, None, "ruff") for diff in diffs if diff]
        return self._head(text)

    def end(self, out: Sink) -> None:
        self._mode = ""

    def _head(self, text: str) -> tuple[bool, list[Diagnostic]]:
        for mode, needs, pattern in _HEADS:
            found = pattern.match(text) if needs in text else None
            if found:
                self._mode, self._lines = mode, 0
                self._file = text.strip() if mode in ("pydoc", "format", "shellcheck") else found[1]
                return True, []
        return self._mode != "", []

    def _arrow(self, arrow: re.Match[str], out: Sink) -> tuple[bool, list[Diagnostic]]:
        """`--> file:line:col` below its message (rustc, clippy, ruff, typos)."""
        above = self._message_above(out)
        if above is None:
            return False, []
        message, code, word = above
        tool = tool_of(code, arrow[1], message, out.command) or (
            "elixirc"
            if "└─" in arrow[0]
            else "rustc"
            if arrow[1].endswith(".rs")
            else "typos"
            if "should be" in message
            else ""
        )
        if tool == "clippy" and code and re.match(r"E\d{4}$", code):
            tool = "rustc"
        row = Diagnostic(
            message,
            arrow[1],
            int(arrow[2]),
            int(arrow[3]) if arrow[3] else None,
            code,
            tool or None,
            severity_of(word, "error"),
        )
        return False, [row]

    @staticmethod
    def _message_above(out: Sink) -> tuple[str, str | None, str] | None:
        for text in out.above(12):
            rust, ruff = _RUST.match(text), _RUFF.match(text)
            if rust:
                return rust[3], rust[2], rust[1]
            if ruff:
                return ruff[2], ruff[1], "error"
        return None

    def _stylish(self, row: re.Match[str], out: Sink) -> tuple[bool, list[Diagnostic]]:
        """`  2:10  error  text  rule` below the line that names the file."""
        file = ""
        for above in out.above(300):
            if _STYLISH.match(above) or _REMARK.match(above):
                continue
            head = _FILE.match(above) if above.strip() else None
            file = head[1].strip() if head and ("/" in above or "." in above or "\\" in above) else ""
            break
        if not file:
            return False, []
        word = "error" if row[3] in ("✖", "×") else "warning" if row[3] == "⚠" else row[3]
        code = (row[5] or "").strip("()") or None
        tool = tool_of(None, file, "", out.command) or (
            "yamllint"
            if file.endswith((".yml", ".yaml"))
            else "remark-lint"
            if row.re is _REMARK
            else "stylelint"
            if file.endswith((".css", ".scss", ".less"))
            else "eslint"
        )
        return False, [
            Diagnostic(row[4].strip(), file, int(row[1]), int(row[2]), code, tool, severity_of(word, "error"))
        ]

    def _crossed(self, row: re.Match[str], out: Sink) -> tuple[bool, list[Diagnostic]]:
        """`  ✖  12:3  text  rule` of xo and tsd below the line that names the file."""
        file = ""
        for above in out.above(100):
            head = _FILE.match(above.split(":")[0]) if above.strip() and not _CROSSED.match(above) else None
            if head or not above.strip():
                file = head[1].strip() if head and "." in above else ""
                break
        if not file:
            return False, []
        tool = tool_of(None, file, "", out.command) or ("tsd" if file.endswith(".ts") else "eslint")
        word = "warning" if row[1] == "⚠" else "error"
        return False, [
            Diagnostic(row[4].strip(), file, int(row[2]), int(row[3]), row[5], tool, severity_of(word, "error"))
        ]

    def _shellcheck(self, text: str) -> list[Diagnostic] | None:
        row, head = _SHELLCHECK_ROW.match(text), _SHELLCHECK.match(self._file)
        if head is None:
            return None
        if row:
            return [Diagnostic(row[3], head[1], int(head[2]), None, row[1], "shellcheck", severity_of(row[2], "error"))]
        return [] if text.strip() else None

    def _reek(self, text: str) -> list[Diagnostic] | None:
        row = _REEK_ROW.match(text)
        return [Diagnostic(row[3], self._file, int(row[1]), None, row[2], "reek")] if row else None

    def _brakeman(self, text: str) -> list[Diagnostic] | None:
        row = _BRAKEMAN_ROW.match(text)
        return [Diagnostic("security warning", self._file, int(row[1]), None, None, "brakeman")] if row else None

    def _pydoc(self, text: str) -> list[Diagnostic] | None:
        row, head = _PYDOC_ROW.match(text), _PYDOC.match(self._file)
        if row is None or head is None:
            return None
        return [Diagnostic(row[2], head[1], int(head[2]), None, row[1], "pydocstyle")]

    def _phpstan(self, text: str) -> list[Diagnostic] | None:
        row = _PHPSTAN_ROW.match(text)
        if row:
            return [Diagnostic(row[2].strip(), self._file, int(row[1].lstrip(":")), None, None, "phpstan")]
        return [] if text.startswith((" --", "      ")) else None

    def _phpcs(self, text: str) -> list[Diagnostic] | None:
        row = _PHPCS_ROW.match(text)
        if row:
            return [
                Diagnostic(row[3].strip(), self._file, int(row[1]), None, None, "phpcs", severity_of(row[2], "error"))
            ]
        return [] if text.startswith(("-----", "FOUND ", "   ")) or not text.strip() else None

    def _format(self, text: str) -> list[Diagnostic] | None:
        """Names of files that a formatter would change, indented below its sentence."""
        name = _NAME.match(text)
        if name:
            tool = "gradle-spotless" if "violations" in self._file else "mix-format"
            return [Diagnostic(self._file.removeprefix("> "), name[1], None, None, None, tool)]
        return [] if text[:1].isspace() or not text.strip() else None
