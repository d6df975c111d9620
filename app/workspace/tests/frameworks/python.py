"""pytest and unittest (proof.md, 5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspace.sandbox.model import WORKSPACE, Result
from app.workspace.tests import pytest
from app.workspace.tests.execute import PLUGINS, Command, as_json
from app.workspace.tests.frameworks.model import NO_REPORT, Ground, Row, Said, Start, from_lines
from app.workspace.tests.toolchain import Toolchain

_REPORTER = Path(__file__).parents[1] / "reporters" / "remedy_unittest.py"


@dataclass(frozen=True)
class Pytest:
    """`plain` leaves out options of the project that need plugins which are not installed."""

    python: Toolchain
    plain: bool = False

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        if ids is None:
            return [self._start(ground, pytest.Group("", (), ()), None)]
        return [self._start(ground, group, group.tests) for group in pytest.groups_of(ground.files, ids)]

    def _start(self, ground: Ground, group: pytest.Group, tests: Sequence[str] | None) -> Start:
        paths = [ground.seen(PLUGINS)]
        if _is_installed(ground, group.cwd):
            paths.append(ground.seen("/".join(part for part in (WORKSPACE, group.cwd, "src") if part)))
        files = {f"{PLUGINS}/{pytest.PLUGIN}.py": pytest.plugin_source()}
        env = {"PYTHONPATH": ":".join(paths), "REMEDY_REPORT": "{report}"}
        if tests is not None:
            files[f"{PLUGINS}/tests.json"] = as_json(list(tests))
            env["REMEDY_TESTS"] = ground.seen(f"{PLUGINS}/tests.json")
        argv = pytest.argv(self.python.python, group, self.plain)
        command = Command(argv, group.cwd, env, self.python.binds, files, (self.python.folder,))
        return Start(command, group.files, group.cwd)

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        said = pytest.all_rows(report)
        if said is None:
            return NO_REPORT
        rows = tuple(Row(name, row.outcome, row.detail, row.retried) for name, row in said.rows.items())
        return Said(rows, said.broken, forged=said.forged)


def _is_installed(ground: Ground, cwd: str) -> bool:
    """CI installs a project that can be installed; without a network its `src` is put on the path instead."""
    top = f"{cwd}/" if cwd else ""
    packaged = any(f"{top}{name}" in ground.paths for name in ("pyproject.toml", "setup.py", "setup.cfg"))
    return packaged and any(path.startswith(f"{top}src/") for path in ground.paths)


@dataclass(frozen=True)
class Unittest:
    python: Toolchain

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        inside = f"{PLUGINS}/remedy_unittest.py"
        argv = (self.python.python, ground.seen(inside), "{report}", *(ids or ()))
        paths = [ground.seen(f"{WORKSPACE}/src")] if _is_installed(ground, "") else []
        env = {"PYTHONPATH": ":".join(paths)} if paths else {}
        files = {inside: _REPORTER.read_bytes()}
        return [Start(Command(argv, env=env, binds=self.python.binds, files=files, folders=(self.python.folder,)))]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        return from_lines(report) if report is not None else NO_REPORT
