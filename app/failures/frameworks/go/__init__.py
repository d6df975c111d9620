"""go test and gotestsum as text (plain, -v, testname, github-actions) and as JSON rows."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.go.events import Events
from app.failures.frameworks.go.text import fill, segments, test_of_stack

_FAIL = re.compile(r"(?:=== )?(\s*)--- FAIL: (\S+)(?: \((?:[\d.]+s?|cached)\))?(?: \(re-run (\d+)\))?\s*$")
_SUM_FAIL = re.compile(r"=== FAIL: (\S+) (\S+)(?: \([\d.]+s\))?(?: \(re-run (\d+)\))?(?: \([\d.]+s\))?\s*$")
_NAMED = re.compile(
    r"\s*(?:::group::)?(PASS|FAIL) (\S+?)\.((?:Test|Example"
    r"|Fuzz)\S*)(?: \([\d.]+s\))?(?: \(re-run (\d+)\))?(?: \([\d.]+s\))?\s*$"
)
_MARK = re.compile(r"(FAIL)\s+(\S+)\s+(?:[\d.]+s|\(cached\)|\[.*\])\s*$")
_DONE = re.compile(r"DONE (?:(\d+) runs, )?(\d+) tests?(?:, \d+ skipped)?(?:, (\d+) failures?)?")
_PANIC = ("panic: ", "fatal error: ", "SIGSEGV: ", "SIGQUIT: ", "unexpected fault address ", "WARNING: DATA RACE")
_SPECS = re.compile(r"Ran \d+ of \d+ Specs in ")
_NAME = re.compile(r"(?:Test|Example|Fuzz|Benchmark)(?![a-z])")
_STACK_LINES = 3000
_RUN_NAMES = 200_000


class Go:
    """Text and JSON of `go test`, and gotestsum's formats."""

    name: ClassVar[str] = "go-test"
    wakes: ClassVar[tuple[str, ...]] = (
        "--- FAIL: ",
        "=== FAIL: ",
        "panic: ",
        "fatal error: ",
        "SIGQUIT: ",
        "SIGSEGV: ",
        '"Action":"',
        "FAIL\t",
        "FAIL ",
        "WARNING: DATA RACE",
        "=== RUN   ",
        "(re-run ",
        "ok  \t",
    )
    shapes: ClassVar[tuple[str, ...]] = (r"DONE \d+ (?:runs|tests?)",)

    def __init__(self) -> None:
        self._found: list[Found] = []
        self._text: Block | None = None
        self._indent = 0
        self._before: dict[str, list[str]] = {}
        self._panic: Block | None = None
        self._panic_lines = 0
        self._ran: set[str] = set()
        self._events = Events()
        self._rerun: dict[tuple[str, str], tuple[Found, int]] = {}
        self._sum = False
        self._ended = False
        self._last_run = 0

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if text.startswith("{"):
            return self._events.feed(text, line, out)
        if self._panic is not None and self._in_panic(text, line):
            return True
        stripped = text.lstrip()
        if stripped.startswith(("--- FAIL: ", "=== --- FAIL: ")):
            return self._fail(text, line, out)
        if text.startswith("=== "):
            return self._marker(text, line, out)
        if (
            self._panic is None
            and stripped.startswith(_PANIC)
            and stripped == text
            and (self._found or self._ran or text.startswith("panic: "))
        ):
            self._panic, self._panic_lines = Block(), 0
            self._panic.add(text)
            self._text = None
            return True
        named = _NAMED.match(text)
        if named:
            return self._named(named, line, out)
        if text.startswith("DONE "):
            self._done(text, out)
        elif text.startswith(("FAIL\t", "ok  \t", "FAIL ")):
            self._package(text, out)
        elif self._text is not None and (
            not text.strip() or len(text) - len(stripped) > self._indent or self._is_example()
        ):
            self._text.add(text)
            return True
        self._text = None
        return False

    def end(self, out: Sink) -> None:
        self._panic_ends(Line(0, 0, ""))
        self._flush("", out)
        self._flush_reruns(self._last_run, out)
        self._events.end(out)
        if self._ended:
            out.total(None, framework="gotestsum" if self._sum else "")

    def _fail(self, text: str, line: Line, out: Sink) -> bool:
        row = _FAIL.match(text)
        if row is None or (not _NAME.match(row[2]) and not self._sum):
            return self._text is not None
        if self._text is None:
            self._before = segments([*out.above(300)][::-1])
        name = row[2]
        fake = bool(self._ran) and name not in self._ran and len(self._ran) < _RUN_NAMES
        found = Found(name, rank=-1 if fake else 1, at=line)
        found.wraps = self._text is None and any(_SPECS.match(text) for text in out.above(8))
        self._text, self._indent = Block(), len(row[1])
        for before in self._before.pop(name, ()):
            self._text.add(before)
        found.detail = self._text  # type: ignore[assignment]
        self._found.append(found)
        return True

    def _is_example(self) -> bool:
        return bool(self._found) and self._found[-1].id.startswith("Example")

    def _marker(self, text: str, line: Line, out: Sink) -> bool:
        if text.startswith("=== RUN "):
            if len(self._ran) < _RUN_NAMES:
                self._ran.add(text[8:].strip())
            if not self._found and len(self._ran) == 1:
                out.started()
        row = _SUM_FAIL.match(text)
        if row is None:
            self._text = None
            return False
        self._sum = True
        found = Found(row[2], scope=row[1], rank=2, at=line, framework="gotestsum")
        self._text, self._indent = Block(), -1
        found.detail = self._text  # type: ignore[assignment]
        self._note_rerun(found, int(row[3] or 0))
        return True

    def _named(self, named: re.Match[str], line: Line, out: Sink) -> bool:
        """`PASS pkg.TestName (re-run 1)`: rows of gotestsum's testname formats."""
        self._text = None
        run = int(named[4] or 0)
        if named[1] == "PASS":
            return False
        self._sum = True
        found = Found(named[3], scope=named[2], rank=1, at=line, framework="gotestsum")
        self._note_rerun(found, run)
        if "::group::" in line.text or line.level == "group":
            self._text, self._indent = Block(), -1
            found.detail = self._text  # type: ignore[assignment]
            return True
        return False

    def _note_rerun(self, found: Found, run: int) -> None:
        key = (found.scope.rsplit("/", 1)[-1], found.id)
        known = self._rerun.get(key)
        if known is None:
            self._rerun[key] = (found, run)
        else:
            self._rerun[key] = (found if found.rank >= known[0].rank else known[0], max(run, known[1]))

    def _done(self, text: str, out: Sink) -> None:
        done = _DONE.match(text)
        if done is None or not (self._sum or self._found):
            return
        self._flush("", out)
        self._last_run = int(done[1] or 1) - 1
        self._ended = True

    def _package(self, text: str, out: Sink) -> None:
        row = _MARK.match(text)
        scope = row[2] if row else text.split()[1] if len(text.split()) > 1 else ""
        if (row and "[build failed]" in text) or (row and "[setup failed]" in text):
            out.started()
            out.cause("compile_error", text)
        elif row and not self._found and not self._sum and self._panic is None:
            out.started()
        self._ended = self._ended or row is not None or text.startswith("ok ")
        self._panic_ends(out.line)
        self._flush(scope, out)

    def _in_panic(self, text: str, line: Line) -> bool:
        assert self._panic is not None
        self._panic_lines += 1
        over = (
            text.startswith(("FAIL\t", "ok  \t", "FAIL ", "exit status", "=== ", "--- ", "PASS", "DONE "))
            or line.level is not None
        )
        if over or self._panic_lines > _STACK_LINES:
            self._panic_ends(line)
            return False
        self._panic.add(text)
        return True

    def _panic_ends(self, line: Line) -> None:
        if self._panic is None:
            return
        lines, self._panic = self._panic.lines, None
        self._text = None
        timed_out = lines[0].startswith("panic: test timed out")
        names = test_of_stack(lines)
        last = self._found[-1] if self._found and not timed_out else None
        if last is not None and (not names or last.id.split("/")[0] == names[0].split("/")[0] or last.at):
            race = lines[0].startswith("WARNING")
            last.kind = last.kind if race else "crash"
            last.message = lines[0]
            last.detail = [*last.detail, *lines]
            return
        for name in names:
            found = Found(name, "timeout" if timed_out else "crash", message=lines[0], detail=lines, at=line, rank=1)
            self._found.append(found)

    def _flush(self, scope: str, out: Sink) -> None:
        """The package is over: children first decide, parents are containers."""
        names = {found.id for found in self._found}
        for found in self._found:
            found.scope = found.scope or scope
            found.detail = list(found.detail)
            found.optional = any(name.startswith(found.id + "/") for name in names)
            fill(found)
            if self._sum:
                self._note_rerun(found, 0)
                found.framework = "gotestsum"
            else:
                out.failure(found)
        self._found, self._text, self._before = [], None, {}
        self._ran = set()

    def _flush_reruns(self, last: int, out: Sink) -> None:
        names = {name for _, name in self._rerun}
        for (_, name), (found, run) in self._rerun.items():
            found.detail = list(found.detail)
            found.flaky = run < last
            found.optional = found.optional or any(other.startswith(name + "/") for other in names)
            found.scope = ""
            fill(found)
            out.failure(found)
        self._rerun = {}
