"""Run named tests of any known framework and answer as `run_tests` does for pytest and own commands."""

from app.workspace.sandbox.model import Sandbox
from app.workspace.tests.match import NO_MOVES, Moves, match
from app.workspace.tests.model import CellResult, TestJob, TestRow, worst
from app.workspace.tests.run import run_tests
from app.workspace.tests.suite import SuiteRun, run_suite

ABSENT = "the report has no row for it"


async def run_named(sandbox: Sandbox, job: TestJob, moves: Moves = NO_MOVES) -> CellResult:
    """A row for every named test. Own commands and pytest go their own way; raises SandboxUnavailable."""
    if job.own or job.framework == "pytest":
        return await run_tests(sandbox, job)
    found = await run_suite(sandbox, job)
    return CellResult(
        rows={test: row_of(test, found, moves) for test in job.test_ids},
        tier=sandbox.tier,
        backend=sandbox.name,
        reason=found.reason,
        argv=found.argv,
        rc=found.rc,
        ended=found.ended,
        wall_s=found.wall_s,
        output_tail=found.output,
        reported=found.complete or bool(found.reason),
    )


def row_of(test: str, run: SuiteRun, moves: Moves = NO_MOVES) -> TestRow:
    """The worst of the rows that a named test means (PX-4); an `error` where its file could not be loaded."""
    if run.reason:
        return TestRow("not_run", run.reason)
    found = match(test, run, moves)
    if found.rows:
        return worst([TestRow(row.outcome, row.detail, row.retried) for row in found.rows])
    if found.broken or not run.complete:
        return TestRow("error", found.broken or "the run did not come to its end")
    return TestRow("not_run", ABSENT)
