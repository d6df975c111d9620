"""Run named tests or the whole suite of one tree once, and give back every row of the report."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.workspace.sandbox.model import Result, Sandbox, Workspace
from app.workspace.tests import own, pytest
from app.workspace.tests.execute import execute
from app.workspace.tests.frameworks.compiled import Cargo, Go, Junit
from app.workspace.tests.frameworks.javascript import Jest, Mocha, NodeTest, Vitest
from app.workspace.tests.frameworks.model import Framework, Ground, Row, Said, Start, Unavailable
from app.workspace.tests.frameworks.python import Pytest, Unittest
from app.workspace.tests.frameworks.ruby import Minitest, Rspec
from app.workspace.tests.model import CellResult, TestJob
from app.workspace.tests.run import run_own, run_tests
from app.workspace.tests.toolchain import find_python

OUTPUT_BYTES = 64 * 1024

# Other spellings of the canonical names (proof.md, 5.1).
ALIASES: Mapping[str, str] = {
    "node:test": "node-test",
    "nodetest": "node-test",
    "go test": "go-test",
    "gotestsum": "go-test",
    "go": "go-test",
    "cargo test": "cargo-test",
    "nextest": "cargo-test",
    "cargo": "cargo-test",
    "junit4": "junit",
    "ant-junit": "junit",
}
_MAKE: Mapping[str, Callable[[], Framework]] = {
    "node-test": NodeTest,
    "jest": Jest,
    "vitest": Vitest,
    "mocha": Mocha,
    "go-test": Go,
    "cargo-test": Cargo,
    "junit": Junit,
    "minitest": Minitest,
    "rspec": Rspec,
}
_BUILD_FILES = ("pom.xml", "build.gradle", "build.gradle.kts")


@dataclass(frozen=True)
class SuiteRun:
    """All that one run said. `reason` is why nothing could be run, empty when it could; `forged` as of `Said`."""

    rows: tuple[Row, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    reason: str = ""
    argv: tuple[str, ...] = ()
    rc: int | None = None
    ended: str = ""
    wall_s: float = 0.0
    output: bytes = b""
    forged: frozenset[str] = frozenset()


async def run_suite(sandbox: Sandbox, job: TestJob, whole: bool = False) -> SuiteRun:
    """Named tests, or with `whole` all of them. Nothing to run them with is an answer (PX-33).

    `job.files` is a fresh copy that nobody uses afterwards; raises SandboxUnavailable.
    """
    if shares := own.shares(job.own, job.framework, job.test_ids)[0]:
        return await _own_suite(sandbox, job, shares) if whole else _of_cell(await run_tests(sandbox, job))
    place = Workspace(job.files, job.uid)
    ground = Ground(job.files, place, sandbox, job.tools, tuple(_paths(job)))
    try:
        framework = await _framework(ground, job)
        starts = framework.starts(ground, None if whole else job.test_ids)
    except Unavailable as error:
        return SuiteRun(complete=False, reason=str(error))
    results: list[tuple[Start, Said, Result]] = []
    for start in starts:
        result, report = await execute(sandbox, job, start.command)
        if isinstance(framework, Pytest) and result.rc == pytest.USAGE_ERROR:
            plain = Pytest(framework.python, plain=True)
            again = next(one for one in plain.starts(ground, None if whole else job.test_ids) if one.root == start.root)
            result, report = await execute(sandbox, job, again.command)
        results.append((start, framework.read(start, report, result), result))
    return _joined(results)


def _paths(job: TestJob) -> list[str]:
    found = []
    for folder, folders, names in os.walk(job.files):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules"))
        found += [os.path.relpath(os.path.join(folder, name), job.files) for name in sorted(names)]
    return found


async def _framework(ground: Ground, job: TestJob) -> Framework:
    name = ALIASES.get(job.framework, job.framework)
    if name in ("pytest", "unittest"):
        module = "pytest" if name == "pytest" else "unittest"
        python = await find_python(ground.sandbox, ground.place, job.tools, module)
        if python is None:
            raise Unavailable(f"no python3 of REMEDY_PROOF_TOOLS or PATH can import {module} inside the sandbox")
        return Pytest(python) if name == "pytest" else Unittest(python)
    if name == "junit" and any(path in _BUILD_FILES for path in ground.paths):
        raise Unavailable("no command for a Java build tool; set `tests` in .github/remedy.yml")
    if name not in _MAKE:
        raise Unavailable(f"no command for {job.framework}; set `tests` in .github/remedy.yml")
    return _MAKE[name]()


def _joined(results: Sequence[tuple[Start, Said, Result]]) -> SuiteRun:
    if not results:
        return SuiteRun()
    last_start, _, last = results[-1]
    output = b"".join(part for _, _, result in results for part in (result.stdout_tail, result.stderr_tail))
    return SuiteRun(
        rows=tuple(row for _, said, _ in results for row in said.rows),
        broken={place: why for _, said, _ in results for place, why in said.broken.items()},
        complete=all(said.complete for _, said, _ in results),
        argv=last_start.command.argv,
        rc=last.rc,
        ended=last.reason,
        wall_s=round(sum(result.wall_s for _, _, result in results), 3),
        output=output[-OUTPUT_BYTES:],
        forged=frozenset(name for _, said, _ in results for name in said.forged),
    )


async def _own_suite(sandbox: Sandbox, job: TestJob, shares: Sequence[own.Share]) -> SuiteRun:
    results, reports = await run_own(sandbox, job, shares)
    rows = own.all_rows(reports)
    last = results[-1]
    return SuiteRun(
        rows=tuple(
            Row(name, row.outcome, row.detail, row.retried) for name, all_ in (rows or {}).items() for row in all_
        ),
        complete=rows is not None,
        rc=last.rc,
        ended=last.reason,
        wall_s=round(sum(result.wall_s for result in results), 3),
        output=b"".join(part for one in results for part in (one.stdout_tail, one.stderr_tail))[-OUTPUT_BYTES:],
    )


def _of_cell(cell: CellResult) -> SuiteRun:
    rows = tuple(
        Row(name, row.outcome, row.detail, row.retried) for name, row in cell.rows.items() if row.outcome != "not_run"
    )
    return SuiteRun(rows, {}, cell.reported, cell.reason, cell.argv, cell.rc, cell.ended, cell.wall_s, cell.output_tail)
