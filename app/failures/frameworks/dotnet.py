"""xUnit console, NUnit console, `dotnet test` (vstest console) and MSTest."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import Place

_XUNIT = re.compile(r"\s*(?:\[xUnit\.net [\d:.]+\]\s*)?(\S.*?) \[FAIL\]\s*$")
_VSTEST = re.compile(r"\s*(?:Failed|\[FAIL\]|X) +(\S.*?)(?: \[[<\d][^\]]*\])\s*$")
_VSTEST_OLD = re.compile(r"Failed   (\S.*)$")
_NUNIT = re.compile(r"(\d+)\) (Failed|Error|Invalid|Failure|Test Failure|Test Error) : (\S.*)$")
_STACK = re.compile(
    r"\s*(?:\[xUnit\.net [\d:.]+\]\s*)?at (.+?) (?:in|\[0x[0-9a-f]+\] in) <?(.+?)>?:(?:line )?(\d+)\s*$"
)
_MONO = re.compile(r"\s*at (.+?) \[0x[0-9a-f]+\] in (.+?):(\d+)\s*$")
_PLACE = re.compile(r"\s*(?:\[xUnit\.net [\d:.]+\]\s*)?([^\s(]+\.(?:cs|fs|vb))\((\d+),\d+\): at ")
_TOTAL = re.compile(r"\s*Total:? +(\d+)(?:, Errors: (\d+))?, Failed: (\d+)")
_VS_TOTAL = re.compile(r"(?:Failed!|Passed!) +- Failed: +(\d+), Passed: +(\d+), Skipped: +\d+, Total: +(\d+)")
_LABELS = ("Error Message:", "Stack Trace:", "Stack Trace", "Output:", "Standard Output Messages:")
_XUNIT_MARK = re.compile(r"\[xUnit\.net [\d:.]+\]\s*")
_LINES = 300


class DotNet:
    name: ClassVar[str] = "dotnet-test"
    wakes: ClassVar[tuple[str, ...]] = (
        "[FAIL]",
        "  Failed ",
        "Failed   ",
        ") Failed : ",
        ") Error : ",
        ") Invalid : ",
        "Test Failure : ",
        "Test Error : ",
        "Failed!  - ",
        "Passed!  - ",
        ", Failed: ",
        "  X ",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._text = Block()
        self._lines = 0
        self._indent = 0
        self._printers: dict[str, str] = {}

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        opened = self._open(text)
        if opened is not None:
            self._store(out)
            opened.at = line
            self._found, self._text, self._lines = opened, Block(), 0
            self._indent = len(text) - len(text.lstrip())
            return True
        if self._found is not None and self._belongs(line):
            self._text.add(_XUNIT_MARK.sub("", text))
            return True
        self._store(out)
        total = _VS_TOTAL.match(text) or _TOTAL.match(text)
        if total:
            out.started()
        return False

    def end(self, out: Sink) -> None:
        self._store(out)

    @staticmethod
    def _open(text: str) -> Found | None:
        xunit = _XUNIT.match(text) if "[FAIL]" in text else None
        if xunit:
            return Found(xunit[1], framework="xunit")
        vstest = _VSTEST.match(text) if "Failed " in text or text.startswith("  X ") else None
        if vstest and not vstest[1].startswith(("to ", "- ")):
            return Found(vstest[1])
        old = _VSTEST_OLD.match(text)
        if old and "." in old[1] + "." and not old[1].endswith("."):
            return Found(old[1].strip(), rank=0)
        nunit = _NUNIT.match(text)
        if nunit:
            return Found(nunit[3].strip(), "error" if "Error" in nunit[2] else "fail", framework="nunit")
        return None

    def _belongs(self, line: Line) -> bool:
        self._lines += 1
        text = line.text
        if self._lines > _LINES or line.level is not None:
            return False
        if text.strip() in _LABELS or not text.strip():
            return True
        if text.lstrip().startswith(("Passed ", "Skipped ", "√ ", "! ", "Failed!")) or _TOTAL.match(text):
            return False
        if self._found and self._found.framework == "nunit":
            return True
        return text[0].isspace() or text.startswith(("[xUnit", "at ", "Expected", "Actual", "---", "==="))

    def _store(self, out: Sink) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        found.framework = self._printers.setdefault(found.id, found.framework)
        body = [text.strip() for text in lines if text.strip() and text.strip() not in _LABELS]
        found.message = body[0] if body else ""
        places = []
        for text in lines:
            row = _PLACE.match(text)
            stack = _MONO.match(text) or _STACK.match(text)
            if row:
                places.append(Place(row[1], int(row[2])))
            elif stack:
                places.append(Place(stack[2], int(stack[3])))
        test_class = found.id.split("(")[0].rsplit(".", 2)[-2:-1]
        own = [
            place
            for place in places
            if test_class and re.split(r"[\\/]", place.file)[-1].split(".")[0] == test_class[0]
        ]
        if own or places:
            place = (own or places)[0]
            found.file, found.line = place.file, place.line or None
        out.failure(found)
