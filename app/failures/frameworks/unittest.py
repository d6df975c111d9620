"""unittest, Django's runner and nose: blocks between a rule of `=` and the line `Ran N tests`."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import choose, places_in

_HEADER = re.compile(r"(ERROR|FAIL|UNEXPECTED SUCCESS): (\S.*)$")
_METHOD = re.compile(r"\S.* \(([\w.<>]+)\)(?: .*)?$")
_RULE = re.compile(r"={60,}$")
_THIN = re.compile(r"-{60,}$")
_RAN = re.compile(r"Ran (\d+) tests? in ")
_END = re.compile(r"(?:OK|FAILED)(?: \((.*)\))?$")
_COUNT = re.compile(r"(failures|errors|unexpected successes)=(\d+)")
_PROGRESS = re.compile(r"(\w+ \([\w.]+\)|[\w.]+\.\w+(?:\(.*\))?) \.\.\. (ERROR|FAIL|unexpected success)$")
_ERROR = re.compile(r"[A-Za-z_][\w.]*(?:: |:?$)")
_CAPTURED = re.compile(r"-{10,}(?: >>|$)|Stdout:$|Stderr:$|<<<<")


class Unittest:
    """One detector for everything that prints unittest's result."""

    name: ClassVar[str] = "unittest"
    wakes: ClassVar[tuple[str, ...]] = (
        "ERROR: ",
        "FAIL: ",
        "UNEXPECTED SUCCESS: ",
        "Ran ",
        " ... ERROR",
        " ... FAIL",
        " ... unexpected success",
    )

    def __init__(self) -> None:
        self._word = self._title = ""
        self._at: Line | None = None
        self._text: Block | None = None
        self._body = False
        self._ended = False
        self._names: dict[str, None] = {}

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        header = _HEADER.match(text) if ": " in text else None
        if header and _RULE.match("".join(out.above(1))):
            self._close(out)
            self._open(header, line)
            return True
        if text.startswith("Ran ") and _RAN.match(text):
            return self._ran(text, out)
        if self._ended:
            return self._total(text, out)
        if self._text is not None:
            self._collect(text)
            return True
        row = _PROGRESS.match(text) if " ... " in text else None
        if row:
            out.failure(
                Found(row[1], "error" if row[2] == "ERROR" else "fail", rank=0, framework=self._framework(row[1]))
            )
        return False

    def end(self, out: Sink) -> None:
        self._close(out)

    def _open(self, header: re.Match[str], line: Line) -> None:
        self._word, self._title, self._at = header[1], header[2].strip(), line
        self._text, self._body = Block(), False

    def _collect(self, text: str) -> None:
        assert self._text is not None
        if not self._body and _THIN.match(text):
            self._body = True
        elif not self._body:
            return  # the docstring below the header
        elif not _RULE.match(text):
            self._text.add(text)

    def _ran(self, text: str, out: Sink) -> bool:
        self._close(out)
        self._ended = True
        self._names = {text.split()[1]: None}
        return True

    def _total(self, text: str, out: Sink) -> bool:
        """The line after `Ran N tests`: OK or FAILED with counts, one blank line between."""
        end = _END.match(text)
        if end is None:
            self._ended = not text.strip()
            return self._ended
        failed = sum(int(number) for _, number in _COUNT.findall(end[1] or ""))
        out.total(failed, int(next(iter(self._names))))
        self._ended = False
        return False

    def _framework(self, title: str) -> str:
        return "unittest" if _METHOD.match(title) else "nose"

    def _close(self, out: Sink) -> None:
        if self._text is None:
            return
        lines = self._text.lines
        module = _METHOD.match(self._title)
        own, message = _own_text(lines)
        test_file = (module[1].rsplit(".", 1)[0] if module else self._title.split("(")[0].rsplit(".", 1)[0]).replace(
            ".", "/"
        )
        places = [place for place in places_in(own) if place.line]
        in_test = [place for place in places if test_file and place.file.replace("\\", "/").endswith(_tail(test_file))]
        place = in_test[-1] if in_test else choose(places, deepest_last=True)
        found = Found(
            self._title,
            "error" if self._word == "ERROR" else "fail",
            message=message,
            detail=lines,
            at=self._at,
            framework=self._framework(self._title),
        )
        if self._word == "UNEXPECTED SUCCESS":
            found.kind = "unexpected_success"
        elif (
            self._title.startswith("Failure: ") or "_FailedTest" in self._title or "ModuleImportFailure" in self._title
        ):
            found.kind = "collection_error"
        if place:
            found.file, found.line = place.file, place.line
        out.failure(found)
        self._text = None


def _tail(module: str) -> str:
    return "/" + module.rsplit("/", 1)[-1] + ".py"


def _own_text(lines: list[str]) -> tuple[list[str], str]:
    """The traceback without captured text, and the error of its last part (the last one raised)."""
    starts = [at for at, text in enumerate(lines) if text.startswith("Traceback (most recent call last)")]
    if not starts:
        first = next((text.strip() for text in lines if text.strip()), "")
        return lines, first
    begin = starts[-1]
    end = len(lines)
    message = ""
    for at in range(begin + 1, len(lines)):
        text = lines[at]
        if message and _CAPTURED.match(text):
            end = at
            break
        if not message and text[:1] not in ("", " ", "\t") and _ERROR.match(text):
            message = text
    return lines[starts[0] : end], message
