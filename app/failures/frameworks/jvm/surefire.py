"""Maven surefire and failsafe, 2.6 to 3.x, TestNG below them: blocks with `<<< FAILURE!`, and the summary."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.jvm.stack import put_place
from app.failures.model import FailureKind

_MARK = re.compile(r"\[(?:ERROR|INFO|WARNING|WARN|FATAL)\] ?")
_RUN = re.compile(r"Tests run: *(\d+), *Failures: *(\d+), *Errors: *(\d+)(?:, *Skipped: *\d+)?(?:, *Flakes: *(\d+))?")
_IN = re.compile(r".* (?:--?) in (\S.*)$")
_HEAD = re.compile(r"(\S.*)Time elapsed: [\d.,]+ *s(?:ec)? *(?:<<<|&lt;&lt;&lt;) (FAILURE|ERROR)!")
_METHOD_IN = re.compile(r"(.*)\(([\w.$\[\]*]+)\)(?:\([\w.$]+\))?$")
_INSTANCE = re.compile(r"(\S.*?) on instance .*?\(([\w.$]+)\)\([\w.$]+\)$")
_SECTIONS = {
    "Failed tests:": "fail",
    "Tests in error:": "error",
    "Failures:": "fail",
    "Errors:": "error",
    "Flakes:": "flaky",
    "Flaked tests:": "flaky",
}
_ROW = re.compile(r"  (\S.*)$")
_OLD_ROW = re.compile(r"([^(]+)\(([\w.$]+)\)(?:: ?(.*))?$")
_NEW_ROW = re.compile(
    r"((?:[\w$]+(?:>|\.))*?[\w$]+(?:>[\w$]+)?\.[^:»]+?)(?:(?::(\d+))?(?:->.*?)?(?: (?:»"
    r"|Â»|\?|&raquo;) ?| )(.*)|:(\d+).*)$"
)
_RERUN = re.compile(r"  Run \d+: (.*)$")
_TAIL_LINES = 600


class Surefire:
    name: ClassVar[str] = "maven-surefire"
    wakes: ClassVar[tuple[str, ...]] = (
        "<<< FAILURE!",
        "<<< ERROR!",
        "Failed tests:",
        "Tests in error:",
        "Flakes:",
        "T E S T S",
    )
    shapes: ClassVar[tuple[str, ...]] = (
        r"(?:Failures|Errors|Flakes): *(?:\x1b\[[0-9;]*m)*[1-9]",
        r"(?m)(?:Failures|Errors):[ \r]*(?:\x1b\[[0-9;]*m)*[ \r]*$",
    )

    def __init__(self) -> None:
        self._class = ""
        self._found: Found | None = None
        self._text = Block()
        self._frames = False
        self._lines = 0
        self._section = ""
        self._blocks: list[Found] = []
        self._rows: list[Found] = []
        self._testng = False

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text.strip("\r") if line.level is None else "[ERROR] " + line.text
        mark = _MARK.match(text)
        body = text[mark.end() :] if mark else text
        run = _RUN.match(body.lstrip()) if "Tests run:" in body else None
        if run:
            return self._run(run, body, line, out)
        if "<<< " in body:
            head = _HEAD.match(body)
            if head:
                self._begin(head, line)
                return True
        section = _SECTIONS.get(body.strip())
        if section and (mark is not None or body.startswith(("Failed tests", "Tests in error", "Flaked tests"))):
            self._store()
            self._section = section
            return True
        if self._section:
            return self._in_section(body, mark is not None, line)
        if self._found is not None:
            return self._in_block(body, mark is not None)
        if "T E S T S" in body:
            out.started()
        return False

    def end(self, out: Sink) -> None:
        self._finish(None, out)

    def _run(self, run: re.Match[str], body: str, line: Line, out: Sink) -> bool:
        """A class's own line, or the total of the module."""
        self._store()
        self._section = ""
        if "Time elapsed" in body:
            name = _IN.match(body)
            self._class = name[1].strip() if name else self._class_above(out)
            self._testng = self._testng or self._class == "TestSuite"
            return False
        failed = int(run[2]) + int(run[3])
        if self._blocks or self._rows or "Flakes" in body or failed == 0 or body.startswith("Tests run"):
            self._finish((failed, int(run[1])), out)
        return False

    @staticmethod
    def _class_above(out: Sink) -> str:
        for above in out.above(60):
            if above.strip().startswith("Running "):
                return above.strip()[8:]
            if above.strip().startswith("[INFO] Running "):
                return above.strip()[15:]
        return ""

    def _begin(self, head: re.Match[str], line: Line) -> None:
        self._store()
        self._section = ""
        name = head[1].rstrip().removesuffix("--").rstrip()
        instance = _INSTANCE.match(name)
        if instance:
            name = f"{instance[1]}({instance[2]})"
        method = _METHOD_IN.match(name)
        test_class = method[2] if method else self._class
        if (
            not method
            and "." not in name.split("[", 1)[0].split("{", 1)[0].split("(", 1)[0]
            and self._class
            and self._class != "TestSuite"
        ):
            name = f"{self._class.rsplit('.', 1)[-1]}.{name}"
        elif not method and self._class == "TestSuite":
            test_class = name.rsplit(".", 1)[0]
        self._found = Found(name, "fail" if head[2] == "FAILURE" else "error", at=line, scope="")
        self._found.framework = "testng-surefire" if self._testng else ""
        self._block_class = test_class
        self._text, self._frames, self._lines = Block(), False, 0

    def _in_block(self, body: str, marked: bool) -> bool:
        self._lines += 1
        stripped = body.strip()
        over = (
            marked
            or self._lines > _TAIL_LINES
            or stripped.startswith(("Running ", "Results :", "Tests run:", "Results:"))
        )
        over = over or ("Time elapsed: " in body and "sec" in body)
        if (
            self._frames
            and stripped
            and not stripped.startswith(("at ", "...", "Caused by", "Suppressed", "\t", "["))
            and self._text.lines
            and not self._text.lines[-1].strip()
        ):
            over = True
        if over:
            self._store()
            return False
        self._frames = self._frames or stripped.startswith("at ")
        self._text.add(body)
        return True

    def _store(self) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail, found.message = lines, _message(lines)
        put_place(found, lines, self._block_class)
        self._blocks.append(found)

    def _in_section(self, body: str, marked: bool, line: Line) -> bool:
        rerun = _RERUN.match(body)
        if rerun:
            if self._rows and not self._rows[-1].message:
                self._rows[-1].message = rerun[1]
            return True
        row = _ROW.match(body)
        kind = self._section
        if row and any(row[1].startswith(name) for name in self._names()):
            return True  # the block above says it better
        if row and not row[1].startswith(("at ", "}")) and (old := _OLD_ROW.match(row[1])):
            self._row(f"{old[1].strip()}({old[2]})", None, old[3] or "", kind, line)
        elif row and (new := _NEW_ROW.match(row[1])):
            self._row(_sub_method(new[1]), int(new[2] or new[4] or 0) or None, new[3] or "", kind, line)
        elif row and re.fullmatch(r"[\w$.>]+\.[\w$]+|[\w.$]+", row[1]):
            self._row(_sub_method(row[1]), None, "", kind, line)
        elif body.startswith((" ", "\t")) or (not marked and body.strip()):
            pass  # a wrapped message
        elif marked and re.fullmatch(r"[\w.$]+\.\S.*", body.strip()):
            self._row(body.strip(), None, "", kind, line)
        elif not body.strip():
            return True
        elif marked:
            self._section = ""
            return False
        return True

    def _names(self) -> list[str]:
        """`Class.method` of the blocks of this module, the way the summary begins its rows."""
        if self._section == "flaky":
            return []
        return [".".join(_key(block.id)) for block in self._blocks if _key(block.id)[1]]

    def _row(self, name: str, at: int | None, message: str, kind: str, line: Line) -> None:
        failure: FailureKind = "error" if kind == "error" else "fail"
        self._rows.append(Found(name, failure, rank=0, line=at, message=message, at=line, flaky=kind == "flaky"))

    def _finish(self, total: tuple[int, int] | None, out: Sink) -> None:
        """Join the summary's rows with the blocks; a row without a block stands for itself."""
        self._store()
        flaky = {_key(row.id) for row in self._rows if row.flaky}
        known = {_key(block.id) for block in self._blocks}
        classes = {name[0] for name in known}
        if total or self._blocks or self._rows:
            out.started("testng-surefire" if self._testng else "")
        for block in self._blocks:
            block.flaky = _key(block.id) in flaky
            out.failure(block)
        for row in self._rows:
            key = _key(row.id)
            if key in known or (key[0], "") in known or any(key[1] == name and not cls for cls, name in known):
                continue
            row.rank = 0 if key[0] in classes else 2
            row.file = None
            if row.line:
                row.file = key[0] + ".java"
            out.failure(row)
        if total:
            out.total(total[0], total[1])
        self._blocks, self._rows, self._section = [], [], ""


def _message(lines: list[str]) -> str:
    """The first line of the trace; an exception without text takes the next line along."""
    texts = [text.strip() for text in lines if text.strip()]
    if not texts:
        return ""
    if texts[0].endswith(":") and len(texts) > 1 and not texts[1].startswith("at "):
        return f"{texts[0]} {texts[1]}"
    return texts[0]


def _sub_method(name: str) -> str:
    """`Sub>Base.method` is `Sub.method`."""
    sub, arrow, rest = name.partition(">")
    return f"{sub}.{rest.rsplit('.', 1)[-1]}" if arrow else name


def _key(name: str) -> tuple[str, str]:
    """Simple class and method of any spelling."""
    method = _METHOD_IN.match(name)
    if method and method[2]:
        return re.split(r"[.$]", method[2])[-1], _without_index(method[1].strip())
    name = _without_index(name)
    cls, dot, rest = name.rpartition(".") if " " not in name else _split_words(name)
    if rest[:1].isupper() and "_" not in rest and "[" not in rest:
        return rest, ""
    return re.split(r"[.$]", cls)[-1] if dot else "", rest


def _split_words(name: str) -> tuple[str, str, str]:
    """Class and method of a name with blanks: the class ends before the first lower-case part with a blank."""
    head, _, _ = name.partition(" ")
    cls, dot, _ = head.rpartition(".")
    return cls, dot, name[len(cls) + 1 :] if dot else name


def _without_index(name: str) -> str:
    """The method without `()`, `[1: a]` or `{int}[1]`."""
    if name.endswith(("]", "}")):
        cuts = [at for at in (name.find("["), name.find("{")) if at > 0]
        name = name[: min(cuts)] if cuts else name
    return name.removesuffix("()")
