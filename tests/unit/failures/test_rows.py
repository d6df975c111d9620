"""Rows of compilers and linters, their tools, and the kind they give a job (section 5, K-6, K-9)."""

import pytest

from tests.unit.failures.cases_rows import CASES, Rows
from tests.unit.failures.reading import FRAMINGS, STAMP, read

FAILED = "##[error]Process completed with exit code 1.\n"


def rows_of(text: str) -> list[tuple[str | None, int | None, str | None]]:
    return [(row.file, row.line, row.code) for row in read(text).diagnostics if row.file]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_are_read(case: Rows) -> None:
    reading = read(case.text + FAILED)
    assert not reading.notes
    assert rows_of(case.text + FAILED) == list(case.rows)
    assert reading.job_kind == case.kind
    assert not reading.failures
    first = next((row for row in reading.diagnostics if row.file), None)
    if first is not None:
        assert case.message in first.message
        assert case.tool is None or first.tool == case.tool


@pytest.mark.parametrize("framing", [name for name in FRAMINGS if name != "coloured"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_frame_changes_no_row(case: Rows, framing: str) -> None:
    assert rows_of(FRAMINGS[framing](case.text) + FAILED) == list(case.rows)


@pytest.mark.parametrize("case", [case for case in CASES if case.rows], ids=lambda case: case.name)
def test_rows_of_a_passing_job_give_no_failure(case: Rows) -> None:
    """K-3: however many error rows there are."""
    text = "".join(
        f"{STAMP}{line}\n" for line in (*case.text.splitlines(), "Post job cleanup.", "Cleaning up orphan processes")
    )
    assert read(text).job_kind == "no_failure"
