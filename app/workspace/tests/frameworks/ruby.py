"""minitest and rspec (proof.md, 5.1)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspace.sandbox.model import Result
from app.workspace.tests.execute import PLUGINS, Command
from app.workspace.tests.frameworks.model import (
    DETAIL,
    NO_REPORT,
    Ground,
    Row,
    Said,
    Start,
    counted,
    file_of,
    from_lines,
)
from app.workspace.tests.frameworks.programs import find_program
from app.workspace.tests.model import Outcome

_PLUGIN = Path(__file__).parents[1] / "reporters" / "minitest" / "remedy_plugin.rb"
MAX_BYTES = 2 * 1024 * 1024
_LOAD = "ARGV.dup.each { |file| require File.expand_path(file) }"
_TESTS = re.compile(r"(?:test|tests|spec)/(?:.*/)?(?:test_[^/]*|[^/]*_(?:test|spec))\.rb")


@dataclass(frozen=True)
class Minitest:
    """Our plugin is found by minitest itself, because its folder stands on the load path."""

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        ruby = find_program("ruby", ground.tools)
        every = [path for path in ground.paths if _TESTS.fullmatch(path)]
        files = every if ids is None else [path for path in every if self._holds(ground, path, ids)]
        if not files:
            return []
        plugin = f"{PLUGINS}/minitest/remedy_plugin.rb"
        argv = (
            ruby.path,
            "-I",
            ground.seen(PLUGINS),
            "-I",
            "lib",
            "-I",
            "test",
            "-e",
            _LOAD,
            *(f"./{f}" for f in files),
        )
        env, put = {"REMEDY_REPORT": "{report}"}, {plugin: _PLUGIN.read_bytes()}
        return [Start(Command(argv, env=env, binds=ruby.binds, files=put, folders=(ruby.folder,)))]

    @staticmethod
    def _holds(ground: Ground, path: str, ids: Sequence[str]) -> bool:
        """The id has no file; its class is looked for in the text. A link may lead out of the tree: never read."""
        file = ground.files / path
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_BYTES:
            return False
        text = file.read_bytes()
        return any(re.split(r"#|::", test)[0].encode() in text for test in ids)

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        return from_lines(report) if report is not None else NO_REPORT


_STATUS: Mapping[object, Outcome] = {"passed": "passed", "failed": "failed", "pending": "skipped"}


@dataclass(frozen=True)
class Rspec:
    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        rspec = find_program("rspec", ground.tools)
        files = [file for file in dict.fromkeys(file_of(test) for test in ids or ()) if file in set(ground.paths)]
        if ids is not None and not files:
            return []
        argv = (rspec.path, "--format", "json", "--out", "{report}", *(f"./{file}" for file in files))
        return [Start(Command(argv, binds=rspec.binds, folders=(rspec.folder,)), tuple(files))]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        try:
            said = json.loads(report or b"")
        except (ValueError, RecursionError):
            return NO_REPORT
        examples = said.get("examples") if isinstance(said, dict) else None
        if not isinstance(examples, list):
            return NO_REPORT
        rows = [_row(one) for one in examples if isinstance(one, dict)]
        summary = said.get("summary")
        outside = summary.get("errors_outside_of_examples_count") if isinstance(summary, dict) else 0
        broken = {"": "\n".join(str(m) for m in said.get("messages", []))[-DETAIL:]} if outside else {}
        return Said(tuple(rows), broken, forged=counted(rows, _passed(summary)))


def _passed(summary: object) -> int | None:
    """How many examples passed, by the count of rspec itself."""
    said = summary if isinstance(summary, dict) else {}
    counts = [said.get(name) for name in ("example_count", "failure_count", "pending_count")]
    known = [count for count in counts if isinstance(count, int)]
    return known[0] - known[1] - known[2] if len(known) == len(counts) else None


def _row(one: Mapping[str, object]) -> Row:
    error = one.get("exception")
    detail = str(error.get("message", ""))[-DETAIL:] if isinstance(error, dict) else ""
    file = str(one.get("file_path", "")).removeprefix("./")
    return Row(f"{file} > {one.get('full_description', '')}", _STATUS.get(one.get("status"), "error"), detail)
