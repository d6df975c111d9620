"""Run named tests of one tree: choose the command for each, start it, give every name its row."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.workspace.sandbox.model import WORKSPACE, Result, Sandbox, Workspace
from app.workspace.tests import own, pytest
from app.workspace.tests.execute import PLUGINS, Command, as_json, execute, on_path, tool_folders
from app.workspace.tests.model import CellResult, TestJob, TestRow
from app.workspace.tests.toolchain import Toolchain, find_python

OUTPUT_BYTES = 64 * 1024


@dataclass
class _Cell:
    """What is known of one run so far."""

    sandbox: Sandbox
    job: TestJob
    rows: dict[str, TestRow] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    argv: tuple[str, ...] = ()
    reason: str = ""
    reported: bool = True

    def nothing_ran(self, tests: Sequence[str], reason: str) -> None:
        self.reason = self.reason or reason
        self.rows |= {test: TestRow("not_run", reason) for test in tests}

    async def start(self, command: Command) -> tuple[Result, bytes | None]:
        self.argv = command.argv
        result, report = await execute(self.sandbox, self.job, command)
        self.results.append(result)
        return result, report


async def run_tests(sandbox: Sandbox, job: TestJob) -> CellResult:
    """What happened to each named test. A verdict comes from a report file, never from an exit code (PX-1).

    Nothing to run them with is an answer: `not_run`, with the reason (PX-33). Raises SandboxUnavailable.
    """
    cell = _Cell(sandbox, job)
    shares, rest = own.shares(job.own, job.framework, job.test_ids)
    for share in shares:
        await _own(cell, share)
    if rest and job.framework == "pytest":
        await _pytest(cell, rest)
    elif rest:
        cell.nothing_ran(rest, f"no command for {job.framework}; set `tests` in .github/remedy.yml")
    return _result(cell)


async def run_own(
    sandbox: Sandbox, job: TestJob, shares: Sequence[own.Share]
) -> tuple[list[Result], list[bytes | None]]:
    """The whole suite by the repository's own commands: the end of each and its report (PX-9)."""
    cell = _Cell(sandbox, job)
    reports = []
    for share in shares:
        reports += await _own_reports(cell, [share.command.run])
    return cell.results, reports


async def _own(cell: _Cell, share: own.Share) -> None:
    reports = await _own_reports(cell, own.starts(share))
    rows = own.read_rows(reports, share.tests)
    cell.reported &= any(row.detail != own.NO_REPORT for row in rows.values())
    cell.rows |= rows


async def _own_reports(cell: _Cell, starts: Sequence[tuple[str, ...]]) -> list[bytes | None]:
    """The repository's command with the operator's tools; its programs are not looked for by us."""
    module = "pytest" if cell.job.framework == "pytest" else "sys"
    toolchain = await _python(cell, module)
    folders = tool_folders(cell.job.tools)
    binds = {**folders, **(toolchain.binds if toolchain else {})}
    first = (*([toolchain.folder] if toolchain else []), *map(on_path, folders))
    return [(await cell.start(Command(argv, binds=binds, folders=first)))[1] for argv in starts]


async def _pytest(cell: _Cell, tests: Sequence[str]) -> None:
    """One start for each folder that ids are relative to; usually one."""
    toolchain = await _python(cell, "pytest")
    if toolchain is None:
        cell.nothing_ran(tests, "no python3 of REMEDY_PROOF_TOOLS or PATH can import pytest inside the sandbox")
        return
    for group in pytest.groups_of(cell.job.files, tests):
        command = _command(cell, toolchain, group)
        result, report = await cell.start(command)
        if result.rc == pytest.USAGE_ERROR:
            # Options of the project may belong to plugins that are not installed here, such as `--cov`.
            result, report = await cell.start(_command(cell, toolchain, group, without_addopts=True))
        rows = pytest.read_report(report, group.tests)
        cell.reported &= any(row.detail != pytest.NO_REPORT for row in rows.values())
        cell.rows |= rows
    cell.rows |= {test: TestRow("not_run", "its file is not in this tree") for test in tests if test not in cell.rows}


async def _python(cell: _Cell, module: str) -> Toolchain | None:
    return await find_python(cell.sandbox, Workspace(cell.job.files, cell.job.uid), cell.job.tools, module)


def _command(cell: _Cell, toolchain: Toolchain, group: pytest.Group, without_addopts: bool = False) -> Command:
    """`src` is importable, because CI has the project installed and without a network we cannot do that."""
    place = Workspace(cell.job.files, cell.job.uid)
    seen = cell.sandbox.seen
    paths = [seen(place, PLUGINS)]
    if (cell.job.files / group.cwd / "src").is_dir():
        paths.append(seen(place, "/".join(part for part in (WORKSPACE, group.cwd, "src") if part)))
    files = {f"{PLUGINS}/{pytest.PLUGIN}.py": pytest.plugin_source(), f"{PLUGINS}/tests.json": as_json(group.tests)}
    env = {"PYTHONPATH": ":".join(paths), "REMEDY_TESTS": seen(place, f"{PLUGINS}/tests.json")}
    env["REMEDY_REPORT"] = "{report}"
    argv = pytest.argv(toolchain.python, group, without_addopts)
    return Command(argv, group.cwd, env, toolchain.binds, files, (toolchain.folder,))


def _result(cell: _Cell) -> CellResult:
    output = b"".join(part for result in cell.results for part in (result.stdout_tail, result.stderr_tail))
    last = cell.results[-1] if cell.results else None
    return CellResult(
        rows={test: cell.rows[test] for test in cell.job.test_ids},
        tier=cell.sandbox.tier,
        backend=cell.sandbox.name,
        reason=cell.reason,
        argv=cell.argv,
        rc=last.rc if last else None,
        ended=last.reason if last else "",
        wall_s=round(sum(result.wall_s for result in cell.results), 3),
        output_tail=output[-OUTPUT_BYTES:],
        reported=cell.reported,
    )
