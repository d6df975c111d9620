"""The JSON rows of `go test -json` (test2json), in a log and as a report file."""

import json

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.frameworks.go.text import fill, test_of_stack

_MAX_OPEN = 5000


class Events:
    """Keeps the output of each running test; a `fail` row with a test makes a finding."""

    def __init__(self) -> None:
        self._output: dict[tuple[str, str], Block] = {}
        self._ran: set[tuple[str, str]] = set()
        self._failed: list[Found] = []

    def feed(self, text: str, line: Line, out: Sink) -> bool:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            return False
        if not isinstance(row, dict) or not isinstance(row.get("Action"), str):
            return False
        action, scope, test = row["Action"], str(row.get("Package") or ""), str(row.get("Test") or "")
        key = (scope, test)
        if action == "output":
            block = self._output.setdefault(key, Block()) if len(self._output) < _MAX_OPEN else self._output.get(key)
            if block is not None:
                block.add(str(row.get("Output") or "").rstrip("\n"))
        elif action == "run":
            self._ran.add(key)
        elif action == "fail":
            self._fail(key, line)
        elif action == "pass" and test:
            self._output.pop(key, None)
            if any((found.scope, found.id) == key for found in self._failed):
                out.passed(test, scope)
        elif action == "build-fail":
            out.cause("compile_error", f"build failed: {row.get('ImportPath') or ''}")
        return False

    def _fail(self, key: tuple[str, str], line: Line) -> None:
        scope, test = key
        if not test:
            self._package_fails(scope, line)
            return
        lines = self._output.pop(key, Block()).lines
        own = [text for text in lines if not text.lstrip().startswith(("=== ", "--- "))]
        found = Found(test, scope=scope, detail=own or lines, at=line)
        panic = next((text for text in own if text.startswith(("panic: ", "fatal error: "))), "")
        if panic:
            found.kind, found.message = ("timeout" if "test timed out" in panic else "crash"), panic
        if self._ran and key not in self._ran:
            found.rank = -1
        fill(found)
        self._failed.append(found)

    def _package_fails(self, scope: str, line: Line) -> None:
        """A package that fails without a failing test: its stack may name one."""
        lines = self._output.pop((scope, ""), Block()).lines
        panic = next((text for text in lines if text.startswith(("panic: ", "fatal error: "))), "")
        if panic and not any(found.scope == scope for found in self._failed):
            kind = "timeout" if "test timed out" in panic else "crash"
            for name in test_of_stack(lines):
                found = Found(
                    name, "timeout" if kind == "timeout" else "crash", scope=scope, message=panic, detail=lines, at=line
                )
                fill(found)
                self._failed.append(found)

    def end(self, out: Sink) -> None:
        names = {(found.scope, found.id) for found in self._failed}
        for found in self._failed:
            found.optional = any(scope == found.scope and name.startswith(found.id + "/") for scope, name in names)
            out.failure(found)
        self._failed = []
