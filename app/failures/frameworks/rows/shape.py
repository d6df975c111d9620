"""One spelling of a row: what must stand in the line, and the pattern with file, line, code and message."""

import re
from dataclasses import dataclass

_PATH = r"(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"<>|*?,;=&$]{1,300}?"
_NAMES = r"(?:\S{1,200}/)?(?:Dockerfile|Makefile|Rakefile|Gemfile|Jenkinsfile|Vagrantfile)"
_WORDS = (
    r"(?:fatal |internal compiler )?[Ee]rror|ERROR|[Ww]arning|WARNING|WARN|[Nn]ote|[Ii]nfo|INFO|[Ss]tyle|[Hh]int"
    r"|[Ss]uggestion|[Cc]onvention|[Rr]efactor|performance|portability|information"
)
# What the shapes below write in short.
_PARTS = {
    "{path}": rf"(?P<file>{_PATH}\.[A-Za-z+]{{1,10}}|{_NAMES})",
    "{any}": rf"(?P<file>{_PATH})",
    "{severity}": rf"(?P<severity>{_WORDS})",
    "{line}": r"(?P<line>\d+)",
    "{column}": r"(?P<column>\d+)",
    "{message}": r"(?P<message>.*)",
    "{text}": r"(?P<message>.*?)",
}


@dataclass(frozen=True)
class Shape:
    """`needs` is a literal that must stand in the line; `tool` names the tool when the shape is one tool's own.

    `sure` shapes carry a sign of their tool or a severity; the others count only when nothing else explains the job.
    """

    name: str
    needs: str
    pattern: re.Pattern[str]
    tool: str = ""
    sure: bool = True
    severity: str = "error"

    @property
    def file_first(self) -> bool:
        """Does the row begin with the file and a number?"""
        if self.name in ("msvc link", "brakeman"):
            return False
        return self.pattern.pattern.lstrip("\\s0123456789,{}").startswith(
            ("(?P<file>", "(?:\\s*|=+)")
        ) or self.name in ("msbuild", "coded")


def shape(name: str, needs: str, pattern: str, *, tool: str = "", sure: bool = True, severity: str = "error") -> Shape:
    for short, long in _PARTS.items():
        pattern = pattern.replace(short, long)
    return Shape(name, needs, re.compile(pattern), tool, sure, severity)
