"""Rows of compilers and linters: single lines by a table of shapes, and rows below a header that names the file."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Line, Sink
from app.failures.frameworks.rows.headers import Headers
from app.failures.frameworks.rows.shape import Shape
from app.failures.frameworks.rows.shapes import SHAPES
from app.failures.frameworks.rows.tools import COMPILERS, compiler_of, severity_of, tool_of
from app.failures.model import Diagnostic

_NO_ROW = re.compile(
    r"\s*(?:at |File \"|E  |>  |in <|from |#\d+ |\d{4}-\d\d-\d\d"
    r"|\d\d:\d\d|https?:|Traceback|\$ |\+ |\.\.\.|thread '"
    r"|WARNING: |goroutine )"
    r"|.*(?:\b(?:in|from) [`'<]|: in (?:<module>|test|\w+$))"
)
_NO_MESSAGE = re.compile(
    r"(?:in [\w.<>]+|from |\w*(?:Error|Exception|Warning"
    r"|Failed|Interrupt|Exit)\b(?!:? )|\d+\)?$|\d+:|\d+ )"
    r"|(?:Deprecation|Future|User|Runtime|Pending\w*|Resource"
    r"|Syntax|Import|Bytes|Unicode)Warning:"
)
# Most shapes begin with a file and a number; a line that does not is tried with the few others only.
_STARTS_WITH_PLACE = re.compile(
    r"[\s=]{0,80}(?:\d+>)?(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"<>|*?,;=&$]+(?:: ?(?:\d|line )|\(\d| \[)"
)
_OTHER_SHAPES = tuple(shape for shape in SHAPES if not shape.file_first)
_PYTHON_FRAME = re.compile(
    r"\S+\.pyx?:\d+: (?:in [\w<]|[A-Z]\w*(?:Error"
    r"|Exception|Failed|Warning|Exit|Interrupt)\b)"
    r"|\S+\.pyx?:\d+: *$"
)
_FRAMES = ("at ", 'File "', "Traceback", "goroutine ")
_LOGS = re.compile(r".*\.(?:log|jar|zip|gz|pom|xml\.gz|lock):")


class Rows:
    name: ClassVar[str] = "rows"
    wakes: ClassVar[tuple[str, ...]] = (
        "error:",
        "error TS",
        "error CS",
        "warning TS",
        "warning CS",
        "error MSB",
        "error NU",
        "[bandit]",
        ": line ",
        " file=",
        "vet: ",
        "undefined reference to",
        "multiple definition of",
        "would reformat ",
        "Would reformat: ",
        "[warn] ",
        "[\x1b[33mwarn",
        "Diff in ",
        "incorrectly sorted",
        "-->",
        "└─ ",
        "e: /",
        "e: file:",
        "❌ ",
        "CompileError) ",
        "SyntaxError) ",
        "TokenMissingError) ",
        "] - G",
        "misspelling of",
        " on line ",
        "MD0",
        "had format violations",
        "files are not formatted",
        "error  ",
        "warning  ",
        "  error ",
        "  warning ",
        " problems (",
        " problem (",
        "[error]",
        "ERROR] /",
        "ERROR] High: ",
        "ERROR] Medium: ",
        "ERROR] Low: ",
        "error\x1b",
        ".rl:",
        "  ✖ ",
        "Line   ",
        "FILE: ",
        "CMake Error",
        "CMake Warning",
        "\t✖",
        " ✖ ",
        " • ",
        " LNK",
        "` -> `",
        " at module level",
        "would be reformatted",
        "in public ",
        "in private ",
    )
    shapes: ClassVar[tuple[str, ...]] = (
        r"[A-Za-z0-9_/)]\.[A-Za-z]{1,6}(?:\x1b\[[0-9;]*m)*:(?:\x1b\[[0-9;]*m)* ?\d+(?:\x1b\[[0-9;]"
        r"*m)*[: ]",
        r"\.[A-Za-z]{1,5}\(\d+(?:,\d+)?\) ?:",
        r":\[\d+,\d+\]",
        r" line \d+:",
        r" -- \d+ warning",
        r", characters \d",
        r"\.(?:rb|erb|haml|slim)\t\d+\t",
        r":\d+\] - ",
        r"\.proto:\d+:\d+\]",
        r":\d+\]: \(",
        r"\[\d+, \d+\]: ",
        r"file:\d+ (?:DL|SC)\d",
        r"(?m)^File: ",
        "Z File: ",
    )

    def __init__(self) -> None:
        self._headers = Headers()

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if (text.lstrip().startswith(_FRAMES) and ", characters " not in text) or _PYTHON_FRAME.match(text):
            return False
        awake, rows = self._headers.feed(text, out)
        for row in rows:
            out.row(row)
        if rows or not text or text.startswith("{"):
            return awake
        if line.level in ("error", "warning") and text.startswith("Process completed"):
            return awake
        for shape in SHAPES if _STARTS_WITH_PLACE.match(text) else _OTHER_SHAPES:
            found = shape.pattern.match(text) if shape.needs in text else None
            if found:
                self._row(shape, found, text, out)
                break
        return awake

    def end(self, out: Sink) -> None:
        self._headers.end(out)

    @staticmethod
    def _row(shape: Shape, found: re.Match[str], text: str, out: Sink) -> None:
        parts = found.groupdict()
        file, message = parts.get("file") or "", (parts.get("message") or "").strip()
        if not file or _LOGS.match(file + ":") or file.startswith(("http", "//", "@")) or "://" in file:
            return
        code = (parts.get("code") or parts.get("code2") or "").strip("()") or None
        if not shape.sure and (
            _NO_ROW.match(text)
            or _NO_MESSAGE.match(message)
            or ("/" not in file and file[0].isupper() and not file.endswith((".cs", ".java", ".swift")))
        ):
            return
        bracket = re.search(r" \[([\w-]+)(?:,.*)?\]$", message)
        code = code or (bracket[1] if bracket and shape.name == "gcc" else None)
        tool = shape.tool or tool_of(code, file, message, out.command)
        sure = shape.sure
        if not sure and file.endswith(".go") and any(above.startswith("# ") for above in out.above(8)):
            tool, sure = "go-build", True  # go prints the package above the rows of its compiler and of vet
        severity = severity_of(parts.get("severity"), shape.severity)
        if file.endswith((".hs", ".lhs")) and (parts.get("severity") or "")[:1].isupper():
            tool = tool or "hlint"
        if file.endswith(".rs") and message.startswith(("unused", "unreachable", "never used")) and not out.command:
            tool = tool or "rustc"
        if message.startswith(("-[", 'in "')) or re.match(r"[\w.]+\.\w+ : ", message):
            return  # XCTest and Boost.Test, which are failing tests
        if (
            not tool
            and parts.get("severity")
            and (severity == "error" or file.endswith((".c", ".cc", ".cpp", ".h", ".hpp", ".swift", ".java")))
        ):
            tool = compiler_of(file)
        number = parts.get("line")
        out.row(
            Diagnostic(
                message=message or text.strip(),
                file=file,
                line=int(number[:9]) if number else None,
                column=int(parts["column"][:9]) if parts.get("column") else None,
                code=code,
                tool=tool or None,
                severity=severity,
            ),
            sure=sure,
        )


def is_compiler(tool: str | None) -> bool:
    return tool in COMPILERS
